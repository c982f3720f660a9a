"""kernels/flash_attention_bf16_*.cu against the reference in float64, at the sizes of attention_cases.py.

The sums are float32, so a result is that of the rounded inputs, but for what is rounded to bfloat16 on the way and at the end:
weights, their gradients, and what is stored (2^-9 each).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cuda import asarray
from course_lib.devices import ops
from tests.kernels.attention_cases import NAMES, SIZES, WHAT, any_sizes, computed, draw, expected
from tests.kernels.checking import assert_close, assert_conflict_free, assert_op_repeats, reports_of


def draw_rounded(*shape, seed=0):
    return [asarray(array.astype(ml_dtypes.bfloat16)) for array in draw(*shape, seed=seed)]


# Unrolled products of 128 numbers keep the compiler busy for more than ten seconds.
MARKED = [
    pytest.param(sizes, id=name, marks=[pytest.mark.slow] * (sizes[5] > 64))
    for sizes, name in zip(SIZES, NAMES, strict=True)
]


@pytest.mark.parametrize("sizes", MARKED)
def test_attention_agrees_with_float64(sizes):
    *shape, causal = sizes
    arrays = draw_rounded(*shape)
    got, wanted = computed(*arrays, causal), expected(*arrays, causal)
    assert [array.dtype for array in got] == [ml_dtypes.bfloat16, np.float32] + [ml_dtypes.bfloat16] * 3
    for what, one, other in zip(WHAT, got, wanted, strict=True):
        assert_close(one.astype(np.float32), other, 1e-5 if what == "logsumexp" else 2**-7, what)
        error = np.sqrt(np.mean((one.astype(np.float32) - other) ** 2) / np.mean(other**2))
        assert error < 2**-8, f"{what}: {error:.2g} on average"


@given(sizes=any_sizes(64), causal=st.booleans())
def test_any_lengths_and_heads(sizes, causal):
    """Inputs have a size of 1, and so have the parts of a gradient, even where they cancel."""
    B, T, past, R, G, D = sizes
    arrays = draw_rounded(B, T, T + past, R * G, G, D)
    for what, one, other in zip(WHAT, computed(*arrays, causal), expected(*arrays, causal), strict=True):
        assert np.abs(one.astype(np.float32) - other).max() <= 2**-6 * max(1, np.abs(other).max()), what


def test_bits_in_uint16_are_bfloat16():
    """Where no package gives NumPy the type, arrays hold its bits."""
    arrays = draw_rounded(1, 20, 20, 2, 1, 64)
    bits = [array.view(np.uint16) for array in arrays]
    for what, one, other in zip(WHAT, computed(*arrays, True), computed(*bits, True), strict=True):
        np.testing.assert_array_equal(one.view(other.dtype), other, err_msg=what)


def test_only_arrays_all_alike_are_taken():
    """But for logsumexp, which is float32 beside arrays of bfloat16 too."""
    q, k, v, dy = draw_rounded(1, 4, 4, 2, 1, 32)
    single = [asarray(array.astype(np.float32)) for array in (q, k, v, dy)]
    table, alike = ops("simulator"), "all alike, but was given bfloat16, float32"
    y, logsumexp = table.attention_forward(q, k, v)
    length, cache = asarray(np.zeros(1, np.int32)), (asarray(k.copy()), asarray(v.copy()))
    for call in (
        lambda: table.attention_forward(q, single[1], v),
        lambda: table.attention_backward(dy, q, k, v, single[3], logsumexp),
        lambda: table.cache_append(k[:, :1], v[:, :1], cache[0], single[2], length),
        lambda: table.cache_attention(q[:, :1], cache[0], single[2], length),
    ):
        with pytest.raises(ValueError, match=alike):
            call()
    with pytest.raises(ValueError, match=r"computes in float32 .* bfloat16"):
        table.attention_backward(dy, q, k, v, y, asarray(logsumexp.astype(ml_dtypes.bfloat16)))


@pytest.mark.parametrize(
    "sizes", [(1, 37, 50, 4, 2, 64, True), (1, 70, 70, 1, 1, 32, False), (1, 20, 40, 2, 1, 50, True)]
)
def test_it_is_clean_and_repeats_itself(sizes):
    *shape, causal = sizes
    arrays = draw_rounded(*shape)
    assert len(reports_of(lambda: computed(*arrays, causal))) == 4  # forward, delta, dq, dk and dv
    assert_op_repeats(lambda: computed(*arrays, causal))


def test_it_waits_for_no_bank():
    for report in reports_of(lambda: computed(*draw_rounded(1, 64, 64, 1, 1, 64), True)):
        if "delta" not in report.kernel:  # it has no shared memory
            assert_conflict_free(report)
