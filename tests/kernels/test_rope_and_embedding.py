"""kernels/rope.cu and kernels/embedding.cu against the reference in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cuda import asarray
from course_lib.devices import ops
from course_lib.devices.gpu import embedding
from tests.kernels.checking import assert_bytes, assert_close, assert_coalesced, assert_op_repeats, normal, reports_of

REFERENCE, SIMULATOR = ops("reference"), ops("simulator")


def angles(T: int, D: int) -> tuple[np.ndarray, np.ndarray]:
    angle = np.random.default_rng(T).uniform(-3, 3, (T, D // 2))
    return asarray(np.cos(angle).astype(np.float32)), asarray(np.sin(angle).astype(np.float32))


@pytest.mark.parametrize("shape", [(1, 1, 1, 2), (2, 37, 3, 32), (1, 65, 2, 64), (3, 5, 1, 128), (1, 9, 2, 10)])
def test_rope_agrees_with_float64_and_turns_back(shape):
    x, (cos, sin) = normal(*shape), angles(shape[1], shape[3])
    wide = [array.astype(np.float64) for array in (x, cos, sin)]
    y = SIMULATOR.rope_forward(x, cos, sin)
    assert_close(y, REFERENCE.rope_forward(*wide))
    assert_close(SIMULATOR.rope_backward(x, cos, sin), REFERENCE.rope_backward(*wide))
    assert_close(SIMULATOR.rope_backward(y, cos, sin), wide[0], what="there and back again")


def test_rope_is_clean_and_moves_what_it_must():
    x, (cos, sin) = normal(2, 64, 4, 64), angles(64, 64)
    for op in (SIMULATOR.rope_forward, SIMULATOR.rope_backward):
        (report,) = reports_of(lambda op=op: op(x, cos, sin))
        assert_coalesced(report)
        tables = 8 * x.size  # a cache serves them: for each pair a cosine and a sine are asked for
        assert_bytes(report, 8 * x.size + tables // 2, most=1.01)
        assert_op_repeats(lambda op=op: [op(x, cos, sin)])


def summed(dy: np.ndarray, indices: np.ndarray, rows: int) -> np.ndarray:
    """dtable in float32, each row summed in the order of its places."""
    table = np.zeros((rows, dy.shape[-1]), np.float32)
    for place, row in enumerate(indices.reshape(-1)):
        table[row] += dy.reshape(-1, dy.shape[-1])[place]
    return table


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(("V", "C", "n"), [(1, 1, 1), (50, 37, 33), (7, 130, 600), (1000, 32, 257), (300, 5, 1025)])
def test_embedding_agrees_with_float64_and_sums_in_order(V, C, n, kind):
    random = np.random.default_rng(n)
    table, dy = normal(V, C), normal(n, C, seed=1)
    indices = asarray((random.integers(0, V, n) * random.random(n)).astype(kind))  # low rows are named most
    np.testing.assert_array_equal(SIMULATOR.embedding_forward(table, indices), table[indices])
    dtable = SIMULATOR.embedding_backward(dy, indices, V)
    assert_close(dtable, REFERENCE.embedding_backward(dy.astype(np.float64), indices, V))
    np.testing.assert_array_equal(dtable, summed(dy, indices, V), err_msg="not in the order of the places")


@given(
    st.integers(1, 40).flatmap(lambda rows: st.tuples(st.just(rows), st.lists(st.integers(0, rows - 1), max_size=700)))
)
def test_places_are_sorted_by_row_and_keep_their_order(case):
    rows, named = case
    indices = asarray(np.array(named, np.int64))
    places, starts = embedding.sort_by_row(indices, rows)
    np.testing.assert_array_equal(places, np.argsort(indices, kind="stable"))
    np.testing.assert_array_equal(starts, np.searchsorted(np.sort(indices), np.arange(rows + 1)))


def test_a_vocabulary_larger_than_the_block_that_scans_it():
    V, indices = 5000, asarray(np.random.default_rng(0).integers(0, 5000, 900))
    places, starts = embedding.sort_by_row(indices, V)
    np.testing.assert_array_equal(places, np.argsort(indices, kind="stable"))
    np.testing.assert_array_equal(starts, np.searchsorted(np.sort(indices), np.arange(V + 1)))


def test_embedding_is_clean_and_repeats_itself():
    table, dy = normal(40, 20), normal(300, 20, seed=1)
    indices = asarray(np.random.default_rng(0).integers(0, 40, 300))
    assert len(reports_of(lambda: SIMULATOR.embedding_forward(table, indices))) == 1
    assert len(reports_of(lambda: SIMULATOR.embedding_backward(dy, indices, 40))) == 6  # zeros, four to sort, the sums
    assert_op_repeats(lambda: [SIMULATOR.embedding_backward(dy, indices, 40)])


def test_embedding_backward_reads_each_gradient_once():
    dy, indices = normal(512, 64), asarray(np.random.default_rng(0).integers(0, 64, 512).astype(np.int32))
    *_, sums = reports_of(lambda: SIMULATOR.embedding_backward(dy, indices, 64))
    assert_coalesced(sums)
    sorted_places = 32 * 2 * (512 + 64)  # a sector for each of 2 warps, for each place and each row's bounds
    assert_bytes(sums, 4 * 64 * (512 + 64) + sorted_places, most=1.2)
