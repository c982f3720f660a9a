// Type conversion.
//
// Promise: y = x in the type of y: float to an integer truncates towards zero, anything to bool is whether it is not 0,
//   float to bfloat16 rounds to the nearest, ties to even. Bits the same on every run.
// Limits: fewer than 2^31 elements.
// Bytes: the sizes of both types, times n (6 n from float to bfloat16).   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 05, built. Its cast, that is; cast_packs is read.
#include <cuda_bf16.h>

#include "vector.cuh"

// region kinds
template <class To, class From> struct Cast {
    static __device__ To of(From x) { return (To)x; }
};
template <class From> struct Cast<bool, From> {
    static __device__ bool of(From x) {
        // yours: whether x is a number other than 0
        return x != (From)0;
        // instead
        // return {};  // until you write it
        // end
    }
};
template <class To> struct Cast<To, __nv_bfloat16> {
    static __device__ To of(__nv_bfloat16 x) { return Cast<To, float>::of(__bfloat162float(x)); }
};
template <class From> struct Cast<__nv_bfloat16, From> {
    static __device__ __nv_bfloat16 of(From x) { return __float2bfloat16((float)x); }
};
// endregion

// Thread i owns element i.
template <class From, class To> __global__ void cast(const From* x, To* y, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Cast<To, From>::of(x[i]);
}

// Thread i owns N consecutive elements from N i on: with N = 4 it reads or writes 16 bytes of float at once, and 8 of bfloat16.
template <class From, class To, int N> __global__ void cast_packs(const From* x, To* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<From, N> p = *(const Pack<From, N>*)(x + i);
        Pack<To, N> q;
        for (int j = 0; j < N; j++) q.item[j] = Cast<To, From>::of(p.item[j]);
        *(Pack<To, N>*)(y + i) = q;
    } else {
        for (; i < n; i++) y[i] = Cast<To, From>::of(x[i]);  // the last thread may own fewer
    }
}
