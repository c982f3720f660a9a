// The largest element and the sum of exponentials of a row, found in one pass and in any order.
// (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", section 3)
//
//   OnlineSoftmax part = nothing_seen();
//   part = see(part, x)             one more element
//   part = merge(a, b)              two parts of a row become one
//   part = block_merge<THREADS>(part)   the parts of a block; every thread gets the whole
//   part.top, part.total            the largest element, and the sum of exp(x - top)
//   logsumexp(part)                 log of the sum of exp(x)
//
// A sum that was taken against an old largest element is brought to the new one by a factor: exp(x - old) exp(old - new) =
// exp(x - new). No exponent is ever positive, so nothing overflows.
// Architectures: all.
#pragma once

struct OnlineSoftmax {
    float top, total;
};

__device__ __forceinline__ OnlineSoftmax nothing_seen() { return {-INFINITY, 0.0f}; }

__device__ __forceinline__ OnlineSoftmax merge(OnlineSoftmax a, OnlineSoftmax b) {
    const float top = fmaxf(a.top, b.top);
    if (top == -INFINITY) return {top, a.total + b.total};  // -inf - -inf would be nan
    return {top, a.total * expf(a.top - top) + b.total * expf(b.top - top)};
}

// Most elements are not the largest so far: one exponential instead of two.
__device__ __forceinline__ OnlineSoftmax see(OnlineSoftmax part, float x) {
    if (x <= part.top) return {part.top, part.total + (x == -INFINITY ? 0.0f : expf(x - part.top))};
    return {x, part.total * expf(part.top - x) + 1.0f};
}

__device__ __forceinline__ float logsumexp(OnlineSoftmax part) { return part.top + logf(part.total); }

// As block_reduce in reduce.cuh: over each warp, and then over one part from each warp.
template <int LANES> __device__ __forceinline__ OnlineSoftmax warp_merge(OnlineSoftmax part, unsigned mask) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        part = merge(part, {__shfl_xor_sync(mask, part.top, step), __shfl_xor_sync(mask, part.total, step)});
    return part;
}

template <int THREADS> __device__ __forceinline__ OnlineSoftmax block_merge(OnlineSoftmax part) {
    if (THREADS < 32) return warp_merge<THREADS>(part, (1u << THREADS % 32) - 1);
    part = warp_merge<32>(part, 0xffffffffu);
    if (THREADS == 32) return part;
    const int WARPS = (THREADS + 31) / 32;
    __shared__ float tops[WARPS], totals[WARPS];
    if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = part.top, totals[threadIdx.x / 32] = part.total;
    __syncthreads();
    part = warp_merge<WARPS>({tops[threadIdx.x % WARPS], totals[threadIdx.x % WARPS]}, 0xffffffffu);
    __syncthreads();  // the next call writes to them again
    return part;
}
