// GELU, tanh form: forward and backward.
//
// Promise: y = gelu(x) elementwise, and dx = dy gelu'(x); y may be x, and dx may be dy or x. Bits the same on
//   every run.
// Limits: fewer than 2^31 elements. N = 4 needs arrays that begin at a multiple of 16 bytes; N = 1 takes any.
// Bytes: 8 n forward, 12 n backward.   FLOPs: about 20 n forward, 30 n backward.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "gelu.cuh"
#include "vector.cuh"

// Thread i owns N consecutive elements from N i on.
template <int N> __global__ void gelu_forward(const float* x, float* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i);
        for (int j = 0; j < N; j++) p.item[j] = gelu(p.item[j]);
        *(Pack<float, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = gelu(x[i]);
    }
}

template <int N> __global__ void gelu_backward(const float* dy, const float* x, float* dx, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + i), d = *(const Pack<float, N>*)(dy + i);
        for (int j = 0; j < N; j++) d.item[j] *= gelu_grad(p.item[j]);
        *(Pack<float, N>*)(dx + i) = d;
    } else {
        for (; i < n; i++) dx[i] = dy[i] * gelu_grad(x[i]);
    }
}
