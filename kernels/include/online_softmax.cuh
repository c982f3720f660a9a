// Online softmax: the running maximum m and the running sum l of exponentials of a row, in one pass and in any order.
// (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", section 3)
//
//   OnlineSoftmax part = nothing_seen();
//   part = see(part, x)             one more element
//   part = merge(a, b)              two parts of a row become one
//   part = block_merge<THREADS>(part)   the parts of a block; every thread gets the whole
//   part.m, part.l                  the largest element, and the sum of exp(x - m)
//   logsumexp(part)                 log of the sum of exp(x)
//
// A sum relative to an old maximum is rescaled to the new one by a factor: exp(x - old) exp(old - new) = exp(x - new). No exponent
// is ever positive, so nothing overflows.
// Architectures: all.
#pragma once

struct OnlineSoftmax {
    float m, l;
};

__device__ __forceinline__ OnlineSoftmax nothing_seen() { return {-INFINITY, 0.0f}; }

__device__ __forceinline__ OnlineSoftmax merge(OnlineSoftmax a, OnlineSoftmax b) {
    const float m = fmaxf(a.m, b.m);
    if (m == -INFINITY) return {m, a.l + b.l};  // -inf - -inf would be nan
    return {m, a.l * expf(a.m - m) + b.l * expf(b.m - m)};
}

// Most elements are not the largest so far: one exponential instead of two.
__device__ __forceinline__ OnlineSoftmax see(OnlineSoftmax part, float x) {
    if (x <= part.m) return {part.m, part.l + (x == -INFINITY ? 0.0f : expf(x - part.m))};
    return {x, part.l * expf(part.m - x) + 1.0f};
}

__device__ __forceinline__ float logsumexp(OnlineSoftmax part) { return part.m + logf(part.l); }

// As block_reduce in reduce.cuh: over each warp, and then over one part from each warp.
template <int LANES> __device__ __forceinline__ OnlineSoftmax warp_merge(OnlineSoftmax part, unsigned mask) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        part = merge(part, {__shfl_xor_sync(mask, part.m, step), __shfl_xor_sync(mask, part.l, step)});
    return part;
}

template <int THREADS> __device__ __forceinline__ OnlineSoftmax block_merge(OnlineSoftmax part) {
    if (THREADS < 32) return warp_merge<THREADS>(part, (1u << THREADS % 32) - 1);
    part = warp_merge<32>(part, 0xffffffffu);
    if (THREADS == 32) return part;
    const int WARPS = (THREADS + 31) / 32;
    __shared__ float part_m[WARPS], part_l[WARPS];
    if (threadIdx.x % 32 == 0) part_m[threadIdx.x / 32] = part.m, part_l[threadIdx.x / 32] = part.l;
    __syncthreads();
    part = warp_merge<WARPS>({part_m[threadIdx.x % WARPS], part_l[threadIdx.x % WARPS]}, 0xffffffffu);
    __syncthreads();  // the next call writes to them again
    return part;
}
