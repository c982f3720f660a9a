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

template <int THREADS> __device__ __forceinline__ OnlineSoftmax block_merge(OnlineSoftmax part) {
    const int LANES = THREADS < 32 ? THREADS : 32;
    const unsigned mask = LANES < 32 ? (1u << LANES % 32) - 1 : 0xffffffffu;
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        part = merge(part, {__shfl_xor_sync(mask, part.top, step), __shfl_xor_sync(mask, part.total, step)});
    if (THREADS <= 32) return part;
    __shared__ float tops[(THREADS + 31) / 32], totals[(THREADS + 31) / 32];
    if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = part.top, totals[threadIdx.x / 32] = part.total;
    __syncthreads();
    part = {tops[0], totals[0]};
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; warp++) part = merge(part, {tops[warp], totals[warp]});
    __syncthreads();  // the next call writes to them again
    return part;
}
