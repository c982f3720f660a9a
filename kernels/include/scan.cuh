// Scans: prefix sums, and the same with any associative operator, over a warp by shuffles and over a block.
//
//   warp_scan<Op>(v)                  lane i gets v of lanes 0 .. i combined by Op, in their order (Kogge and Stone 1973)
//   block_scan<THREADS, Op>(v, &all)  thread i gets those of threads 0 .. i, and all of them in `all`
//   Affine, Compose                   h -> a h + b, and one such map after another: the operator of a linear recurrence
//   Flagged<T>, Segmented<Op>         a value and whether a segment begins with it: Op, begun anew at each head
//
// Op::of(left, right) gets the earlier value on the left; it need not commute. THREADS is blockDim.x, a multiple of 32, and all
// threads call together. The grouping depends on THREADS alone, so the bits are the same on every run.
// Architectures: all.
#pragma once
#include "ops.cuh"

struct Affine {
    float a, b;  // h -> a h + b
};
struct Compose {
    static __device__ __forceinline__ Affine of(Affine first, Affine then) { return {then.a * first.a, then.a * first.b + then.b}; }
};

template <class T> struct Flagged {
    T value;
    int head;  // 1 where a segment begins
};
template <class Op> struct Segmented {
    template <class T> static __device__ __forceinline__ Flagged<T> of(Flagged<T> left, Flagged<T> right) {
        return {right.head ? right.value : Op::of(left.value, right.value), left.head | right.head};
    }
};

// shuffle_up: the v of the lane `step` below; the lowest lanes get their own. shuffle_from: the v of one lane, for all.
template <class T> __device__ __forceinline__ T shuffle_up(T v, int step) { return __shfl_up_sync(0xffffffffu, v, step); }
__device__ __forceinline__ Affine shuffle_up(Affine v, int step) { return {shuffle_up(v.a, step), shuffle_up(v.b, step)}; }
template <class T> __device__ __forceinline__ Flagged<T> shuffle_up(Flagged<T> v, int step) {
    return {shuffle_up(v.value, step), shuffle_up(v.head, step)};
}
template <class T> __device__ __forceinline__ T shuffle_from(T v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
__device__ __forceinline__ Affine shuffle_from(Affine v, int lane) { return {shuffle_from(v.a, lane), shuffle_from(v.b, lane)}; }
template <class T> __device__ __forceinline__ Flagged<T> shuffle_from(Flagged<T> v, int lane) {
    return {shuffle_from(v.value, lane), shuffle_from(v.head, lane)};
}

// In step k each lane combines with the one 2^k below, so after 5 steps each has all below it.
template <class Op, class T> __device__ __forceinline__ T warp_scan(T v) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const T left = shuffle_up(v, step);
        if (lane >= step) v = Op::of(left, v);
    }
    return v;
}

// Each warp scans its own; the last values of the warps are scanned by the first warp; then each warp adds what is before it.
template <int THREADS, class Op, class T> __device__ __forceinline__ T block_scan(T v, T* all) {
    constexpr int WARPS = THREADS / 32;
    __shared__ T ends[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_scan<Op>(v);
    if (lane == 31) ends[warp] = v;
    __syncthreads();
    if (warp == 0) {
        const T end = warp_scan<Op>(lane < WARPS ? ends[lane] : v);  // what the lanes above WARPS get is not used
        if (lane < WARPS) ends[lane] = end;
    }
    __syncthreads();
    if (warp > 0) v = Op::of(ends[warp - 1], v);
    *all = ends[WARPS - 1];
    __syncthreads();  // the next call writes to ends again
    return v;
}
