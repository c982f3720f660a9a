"""kernels/decode.cu: one query after a cache, and the cache that grows in place."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, sanitize
from course_lib.devices import ops
from course_lib.devices.gpu import decoding
from course_lib.devices.gpu.launching import counting
from tests.kernels.checking import assert_close, assert_op_repeats, normal, reports_of

REFERENCE, SIMULATOR = ops("reference"), ops("simulator")


@pytest.mark.parametrize("D", [1, 10, 32, 64, 100, 128])
@pytest.mark.parametrize(
    ("B", "S", "H", "G"), [(1, 1, 1, 1), (2, 15, 4, 2), (1, 16, 3, 3), (3, 70, 4, 1), (1, 333, 2, 2)]
)
def test_one_query_agrees_with_float64(B, S, H, G, D):
    q, k, v = normal(B, 1, H, D), normal(B, S, G, D, seed=1), normal(B, S, G, D, seed=2)
    wanted = REFERENCE.attention_forward(*(array.astype(np.float64) for array in (q, k, v)))
    with counting() as counted:
        got = SIMULATOR.attention_forward(q, k, v)
    assert counted == {"decode.cu decode_attention": 1}
    for one, other in zip(got, wanted, strict=True):
        assert_close(one, other)


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_a_cache_that_grows_in_place_gives_what_concatenation_gives(kind):
    """The number of rows lies on the device, and each launch has the same arguments: a graph could be captured."""
    B, N, H, G, D = 2, 20, 4, 2, 24
    k_cache, v_cache = (asarray(np.full((B, N, G, D), np.nan, np.float32).astype(kind)) for _ in range(2))
    length, keys, values = asarray(np.zeros(1, np.int32)), [], []
    for step in range(N):
        q, k, v = (asarray(normal(B, 1, heads, D, seed=9 * step + i).astype(kind)) for i, heads in enumerate((H, G, G)))
        keys.append(k), values.append(v)
        length[0] = step
        decoding.cache_append(k, v, k_cache, v_cache, length)
        y, logsumexp = decoding.attend(q, k_cache, v_cache, length=length)
        whole = [np.concatenate(parts, 1).astype(np.float64) for parts in ([q], keys, values)]
        wanted = REFERENCE.attention_forward(*whole)
        assert_close(y.astype(np.float32), wanted[0], 1e-5 if kind is np.float32 else 2**-8, f"step {step}")
        assert_close(logsumexp, wanted[1], what=f"step {step}")
    np.testing.assert_array_equal(k_cache.astype(np.float32), np.concatenate(keys, 1).astype(np.float32))


def test_scores_that_would_overflow_do_not():
    q, k, v = normal(1, 1, 2, 64, deviation=60.0), normal(1, 90, 2, 64, seed=1), normal(1, 90, 2, 64, seed=2)
    wanted = REFERENCE.attention_forward(*(array.astype(np.float64) for array in (q, k, v)))
    for one, other in zip(SIMULATOR.attention_forward(q, k, v), wanted, strict=True):
        assert_close(one, other, 1e-4)


def test_decoding_is_clean_repeats_itself_and_reads_the_cache_once():
    q, k, v = normal(2, 1, 3, 64), normal(2, 64, 3, 64, seed=1), normal(2, 64, 3, 64, seed=2)
    (report,) = reports_of(lambda: SIMULATOR.attention_forward(q, k, v))
    loads = [line for line in report.lines if (line.space, line.op) == ("global", "read")]
    assert all(line.sectors_per_request <= 4 for line in loads)
    assert sum(line.bytes_moved for line in loads) <= 1.2 * 4 * (k.size + v.size + q.size)
    assert_op_repeats(lambda: SIMULATOR.attention_forward(q, k, v))
    caches, length = [normal(2, 9, 2, 5, seed=i) for i in range(2)], asarray(np.array([8], np.int32))
    reports_of(lambda: decoding.cache_append(normal(2, 1, 2, 5), normal(2, 1, 2, 5), *caches, length))


def test_a_row_after_the_end_of_the_cache_is_found_by_the_sanitizer():
    k, v, k_cache, v_cache = normal(1, 1, 1, 4), normal(1, 1, 1, 4), normal(1, 3, 1, 4), normal(1, 3, 1, 4)
    kernel = Kernel("decode.cu", "cache_append<float>")
    report = sanitize(kernel, (1,), (32,), (k, v, k_cache, v_cache, asarray(np.array([3], np.int32)), 4, 3, 4))
    assert {issue.kind for issue in report.issues} == {"out-of-bounds"}
