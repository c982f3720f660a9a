"""What launches share so that one costs microseconds: sizes, the room for arguments, workers, and where arrays lie."""

import mmap

import numpy as np
import pytest

from course_lib.cuda import ArgumentError, Kernel, asarray, empty, sanitize, zeros
from course_lib.cuda.memory import address

MIXED = """#include <cuda_fp16.h>
struct __align__(32) Wide { int n; };
extern "C" __global__ void mixed(bool b, double d, char c, float4 v, short s, half h, long long l, Wide w, float* out) {
    float all[] = {(float)b, (float)d, (float)c, v.x, v.w, (float)s, __half2float(h), (float)l, (float)w.n};
    for (int i = 0; i < 9; i++) out[i] = all[i];
}
extern "C" __global__ void fill(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
"""


@pytest.mark.parametrize("run", (lambda kernel, *launch: kernel(*launch), sanitize))
def test_each_value_lies_where_its_type_wants_it(run):
    kernel, out = Kernel(MIXED, "mixed"), zeros(9)
    wide = np.zeros((), np.dtype({"names": ["n"], "formats": ["i4"], "itemsize": 32}))[()]
    wide["n"] = 9
    expected = [1, 2.5, -3, 4, 7, -8, 0.5, 2**40, 9]
    run(kernel, 1, 1, (True, 2.5, -3, (4, 5, 6, 7), -8, 0.5, 2**40, wide, out))
    assert out.tolist() == expected
    out[:] = 0
    numbers = (
        np.bool_(True),
        np.float64(2.5),
        np.int8(-3),
        (4.0, 5, 6, 7),
        np.int16(-8),
        np.float16(0.5),
        np.int64(2**40),
    )
    run(kernel, 1, 1, (*numbers, wide, out))
    assert out.tolist() == expected


def test_a_refused_argument_leaves_nothing_behind():
    kernel, x = Kernel(MIXED, "fill"), np.zeros(64, np.float32)
    for _ in range(2100):  # more than the simulator has room for arrays
        with pytest.raises(ArgumentError, match=r"argument 2, 'n' \(int\) holds numbers from"):
            kernel(1, 64, (x, 2**40))
    kernel(1, 64, (x, 64))
    assert x.tolist() == list(range(64))


def test_launches_of_all_sizes_in_turn():
    kernel, expected = Kernel(MIXED, "fill"), np.arange(4096, dtype=np.float32)
    for blocks in (1, 64, 2, 1, 16, 3, 64):
        out = zeros(4096)
        kernel((blocks,), (64,), (out, 4096))
        np.testing.assert_array_equal(out, np.where(expected < 64 * blocks, expected, 0))


def test_a_size_that_was_right_makes_no_wrong_one_right():
    kernel, out = Kernel(MIXED, "fill"), zeros(64)
    kernel((1,), (64,), (out, 64), shared_mem=0)
    for grid, block, shared_mem in (((1.5,), (64,), 0), ((1,), (2048,), 0), ((1,), (64,), 0.0), ((0,), (64,), 0)):
        with pytest.raises(ArgumentError):
            kernel(grid, block, (out, 64), shared_mem=shared_mem)


@pytest.mark.parametrize("n", (1000, 4096, 300_000))
def test_arrays_of_one_size_differ_in_the_address_bits_that_caches_look_at(n):
    arrays = [empty(n) for _ in range(8)]
    assert len({address(x) // mmap.PAGESIZE % 256 for x in arrays}) == 8
    for x in arrays:  # and yet each ends where its mapping does
        assert (address(x) + -(-x.nbytes // 16) * 16) % mmap.PAGESIZE == 0
    assert address(asarray(arrays[0])) == address(arrays[0])
