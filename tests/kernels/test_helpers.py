"""kernels/include: reductions, the online softmax and Philox, each in a small kernel of its own."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray
from course_lib.devices.reference.dropout import philox
from tests.kernels.checking import assert_clean, assert_close, assert_conflict_free, assert_same_bits, new, normal

BLOCK = """
#include "reduce.cuh"
#include "online_softmax.cuh"
template <int THREADS> __global__ void whole_block(const float* x, float* sums, float* tops, float* logs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = block_sum<THREADS>(x[i]);
    tops[i] = block_max<THREADS>(x[i]);
    logs[i] = logsumexp(block_merge<THREADS>(see(nothing_seen(), x[i])));
}
template <int LANES> __global__ void parts_of_a_warp(const float* x, float* sums, float* tops) {
    sums[threadIdx.x] = warp_sum<LANES>(x[threadIdx.x]);
    tops[threadIdx.x] = warp_max<LANES>(x[threadIdx.x]);
}
"""


@pytest.mark.parametrize("threads", [1, 2, 4, 16, 32, 64, 128, 256, 1024])
def test_a_block_becomes_one_value_that_every_thread_gets(threads):
    kernel, blocks = Kernel(BLOCK, f"whole_block<{threads}>"), 3
    x = normal(blocks, threads, deviation=3)

    def launch(seed):
        out = [new(blocks, threads) for _ in range(3)]
        kernel((blocks,), (threads,), (x, *out), seed=seed)
        return out

    wide = np.asarray(x, np.float64)
    wanted = wide.sum(1), wide.max(1), np.log(np.exp(wide).sum(1))
    for got, want in zip(launch(0), wanted, strict=True):
        assert_close(got, np.broadcast_to(want[:, None], x.shape))
    assert_same_bits(launch)
    report = assert_clean(kernel, (blocks,), (threads,), (x, *launch(0)))
    if threads > 32:
        assert_conflict_free(report)


@pytest.mark.parametrize("lanes", [1, 2, 8, 32])
def test_neighbouring_lanes_share_a_value(lanes):
    kernel, x, sums, tops = Kernel(BLOCK, f"parts_of_a_warp<{lanes}>"), normal(64), new(64), new(64)
    assert_clean(kernel, (1,), (64,), (x, sums, tops))
    groups = np.asarray(x, np.float64).reshape(-1, lanes)
    assert_close(sums, groups.sum(1).repeat(lanes))
    np.testing.assert_array_equal(tops, x.reshape(-1, lanes).max(1).repeat(lanes))


def test_a_nan_is_larger_than_all():
    x = normal(1, 64)
    x[0, 17] = np.nan
    out = [new(1, 64) for _ in range(3)]
    Kernel(BLOCK, "whole_block<64>")((1,), (64,), (x, *out))
    assert all(np.isnan(array).all() for array in out)


@pytest.mark.parametrize("far", [0.0, 1e4, -1e4])
def test_online_softmax_of_far_values_does_not_overflow(far):
    x = normal(1, 128, mean=far, deviation=30)
    x[0, :5] = -np.inf  # hidden by a mask
    out = [new(1, 128) for _ in range(3)]
    Kernel(BLOCK, "whole_block<128>")((1,), (128,), (x, *out))
    wide = np.asarray(x, np.float64)
    assert_close(out[2], np.full((1, 128), wide.max() + np.log(np.exp(wide - wide.max()).sum())), 1e-6)


def test_philox_gives_the_words_of_the_paper():
    code = """
    #include "philox.cuh"
    extern "C" __global__ void words(const unsigned* counters, const unsigned* keys, unsigned* y) {
        const unsigned *c = counters + 4 * threadIdx.x, *k = keys + 2 * threadIdx.x;
        const uint4 w = philox(make_uint4(c[0], c[1], c[2], c[3]), make_uint2(k[0], k[1]));
        y[4 * threadIdx.x] = w.x, y[4 * threadIdx.x + 1] = w.y, y[4 * threadIdx.x + 2] = w.z, y[4 * threadIdx.x + 3] = w.w;
    }
    """
    rng = np.random.default_rng(0)
    counters, keys = (asarray(rng.integers(0, 2**32, (64, n), dtype=np.uint32)) for n in (4, 2))
    # the test vectors that the authors publish with the generator (Random123, kat_vectors)
    counters[:2], keys[:2] = [[0] * 4, [0xFFFFFFFF] * 4], [[0] * 2, [0xFFFFFFFF] * 2]
    y = asarray(np.zeros((64, 4), np.uint32))
    assert_clean(Kernel(code, "words"), (1,), (64,), (counters, keys, y))
    assert [hex(word) for word in y[0]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    assert [hex(word) for word in y[1]] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
    np.testing.assert_array_equal(y, philox(tuple(counters.T), tuple(keys.T)))
