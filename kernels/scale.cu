// Multiply by one number in device memory, where it may change from step to step while the launch stays the same.
//
// Promise: y = factor[0] x; y may be x. Bits the same on every run.
// Limits: fewer than 2^31 elements. N = 4 needs arrays that begin at a multiple of 16 bytes; N = 1 takes any.
// Bytes: 8 n.   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "vector.cuh"

// Thread i owns N consecutive elements from N i on. All threads read the same factor: one sector for a whole warp.
template <int N> __global__ void scale(const float* x, const float* factor, float* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    const float by = factor[0];
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i);
        for (int j = 0; j < N; j++) p.item[j] *= by;
        *(Pack<float, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = by * x[i];
    }
}
