"""Cooperative groups cut into smaller ones, values of up to 32 bytes that travel between lanes, and wmma of integers."""

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel
from tests.simulator.launching import both, launch

FILE, F, I = "values_groups.cu", np.float32, np.int32
RANDOM = np.random.default_rng(5)


@both
def test_sixteen_bytes_travel_through_a_tile(mode, compiler):
    x, lane = RANDOM.integers(0, 2**32, (64, 4), dtype=np.uint32), np.arange(64)
    y, rank, first = np.zeros_like(x), lane % 8, lane // 8 * 8
    launch(mode, FILE, "wide_shuffles", (1,), (64,), (x, y))
    sources = (first + 3, lane - (rank >= 1), np.where(rank < 6, lane + 2, lane), lane ^ 5)
    np.testing.assert_array_equal(y, np.stack([x[s, i] for i, s in enumerate(sources)], 1))


@both
def test_a_struct_is_reduced(mode, compiler):
    x = RANDOM.standard_normal(96, dtype=F)
    y, where = np.zeros(96, F), np.zeros(96, I)
    launch(mode, FILE, "wide_reduce", (1,), (96,), (x, y, where))
    best = x.reshape(3, 32).argmax(1) + 32 * np.arange(3)
    np.testing.assert_array_equal(where, np.repeat(best, 32))
    np.testing.assert_array_equal(y, x[where] + 32)


@both
def test_partitions_by_predicate_and_label(mode, compiler):
    x = RANDOM.integers(0, 99, 64).astype(I)
    x[:32] = x[:32] // 2 * 2  # no odd one in the first warp
    x[40] = 1000
    y = np.zeros((64, 8), I)
    launch(mode, FILE, "partitions", (1,), (64,), (x, y))
    for lane, got in enumerate(y):
        warp = x[lane // 32 * 32 :][:32]
        here, odd, rank = x[lane], warp % 2 == 1, lane % 32
        side = odd == (here % 2 == 1)
        split = 0 < odd.sum() < 32
        labels = list(dict.fromkeys(warp % 5))
        expected = [side.sum() + 100 * (split and here % 2) + 1000 * (1 + split), warp[warp % 5 == here % 5].sum(),
                    labels.index(here % 5), len(labels), 2 * (len(set(warp // 1000)) == 1), (warp % 3 == here % 3).sum(),
                    side.sum() + 100 * side[:rank].sum(), here % 5]  # fmt: skip
        assert list(got) == expected, lane


@both
def test_ranks_and_sizes(mode, compiler):
    y = np.zeros((6, 64, 8), I)
    launch(mode, FILE, "ranks", (3, 2), (16, 4), (y,))
    for block in range(6):
        for thread, got in enumerate(y[block]):
            warp = thread // 32 + 200
            few = thread % 32 // 8 + 40 + 400 + 1000 * warp if thread % 2 else 0
            expected = [block + 600, block % 3 + 10 * (block // 3) + 2300, 416, warp, thread % 32 // 8 + 400,
                        4 + 100 * (thread % 4), thread % 8 == 0, few]  # fmt: skip
            assert list(got) == expected, (block, thread)


def tiles(x):
    """(rows, n) as tiles of 16 columns, one behind the other."""
    return np.ascontiguousarray(x.reshape(len(x), -1, 16).transpose(1, 0, 2))


@both
@pytest.mark.parametrize(("M", "N"), [(16, 16), (32, 8), (8, 32)])
@pytest.mark.parametrize("kind", ["signed", "unsigned"])
def test_integers_are_summed_exactly(kind, M, N, mode, compiler):
    dtype = np.int8 if kind == "signed" else np.uint8
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max + 1
    for n in (16, 80):
        a, b = RANDOM.integers(low, high, (M, n), dtype=dtype), RANDOM.integers(low, high, (n, N), dtype=dtype)
        start = RANDOM.integers(-(2**31), 2**31, (M, N)).astype(I)
        c = start.copy()
        launch(mode, FILE, f"integer_products<{kind} char, {M}, {N}>", (1,), (32,), (tiles(a), tiles(b.T), c, n))
        np.testing.assert_array_equal(c, (start + a.astype(np.int64) @ b.astype(np.int64)).astype(I))


HEAD = "#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\nnamespace cg = cooperative_groups;\n"
REFUSED = {
    "auto token = cg::this_thread_block().barrier_arrive();": "barrier_arrive",
    "cg::this_grid().barrier_wait();": "barrier_wait",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_simulated_says_so(body, compiler):
    text = f'{HEAD}extern "C" __global__ void f(float* y) {{\n{body}\n}}'
    with pytest.raises(CompileError) as caught:
        Kernel(text, "f").compiled(checked=False)
    assert REFUSED[body] in caught.value.log and "line 5" in str(caught.value)
    assert " is not simulated" in str(caught.value) and "assert" not in str(caught.value)


@pytest.mark.parametrize(
    ("T", "sum_in"), [("signed char", "float"), ("half", "int"), ("__nv_bfloat16", "half"), ("float", "float")]
)
def test_products_that_no_gpu_has_are_refused(T, sum_in, compiler):
    text = f"""#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void f(float* y) {{
    fragment<matrix_a, 16, 16, 16, {T}, row_major> a;
    fragment<matrix_b, 16, 16, 16, {T}, row_major> b;
    fragment<accumulator, 16, 16, 16, {sum_in}> c;
    mma_sync(c, a, b, c);
}}"""
    with pytest.raises(CompileError, match="wmma"):
        Kernel(text, "f").compiled(checked=False)
