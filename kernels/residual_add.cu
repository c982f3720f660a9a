// The residual connection: the output of a branch is added to the residual stream.
//
// Promise: y = x + residual; y may be either of them. Bits the same on every run.
// Limits: fewer than 2^31 elements. N = 4 needs arrays that begin at a multiple of 16 bytes; N = 1 takes any.
// Bytes: 12 n.   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "vector.cuh"

// Thread i owns N consecutive elements from N i on: with N = 4 one instruction moves 16 bytes instead of 4.
template <int N> __global__ void residual_add(const float* x, const float* residual, float* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i), q = *(const Pack<float, N>*)(residual + i);
        for (int j = 0; j < N; j++) p.item[j] += q.item[j];
        *(Pack<float, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = x[i] + residual[i];  // the last thread may own fewer
    }
}
