// Reductions: over a warp by shuffles, over a block by shuffles and shared memory.
//
//   warp_sum<LANES>(v)      the sum over each group of LANES consecutive lanes (32: the warp); every lane gets it
//   block_sum<THREADS>(v)   the sum over the block; every thread gets it
//   warp_max, block_max     the largest instead; a nan counts as larger than all
//
// THREADS is blockDim.x, a power of two up to 1024, and all threads call together. Up to 32 need no shared memory and no barrier.
// The order of the additions depends on THREADS alone, so the bits are the same on every run.
// Architectures: all.
#pragma once
#include "ops.cuh"

// A butterfly: in step k each lane exchanges with the one 2^k away, so after log2(LANES) steps each has the sum of all.
template <int LANES, class Op, class T> __device__ __forceinline__ T warp_reduce(T v) {
    const unsigned lanes = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;  // that exist, in a block of fewer than 32
    const unsigned mask = blockDim.x < 32 ? lanes : 0xffffffffu;
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) v = Op::of(v, (T)__shfl_xor_sync(mask, v, step));
    return v;
}

// One value per warp goes through shared memory, and then every warp reduces those: all threads have the result, after one barrier.
template <int THREADS, class Op, class T> __device__ __forceinline__ T block_reduce(T v) {
    if (THREADS <= 32) return warp_reduce<THREADS < 32 ? THREADS : 32, Op>(v);
    const int WARPS = (THREADS + 31) / 32;
    __shared__ T parts[WARPS];
    v = warp_reduce<32, Op>(v);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = warp_reduce<WARPS, Op>(parts[threadIdx.x % WARPS]);
    __syncthreads();  // the next call writes to parts again
    return v;
}

template <int LANES, class T> __device__ __forceinline__ T warp_sum(T v) { return warp_reduce<LANES, Sum>(v); }
template <int LANES, class T> __device__ __forceinline__ T warp_max(T v) { return warp_reduce<LANES, Max>(v); }
template <int THREADS, class T> __device__ __forceinline__ T block_sum(T v) { return block_reduce<THREADS, Sum>(v); }
template <int THREADS, class T> __device__ __forceinline__ T block_max(T v) { return block_reduce<THREADS, Max>(v); }
