// SwiGLU (Shazeer 2020): silu(gate) * up, silu(z) = z sigmoid(z). Forward and backward.
//
// Promise: x (rows, 2F) holds the gates in columns 0 .. F - 1 and the ups in F .. 2F - 1; y (rows, F). Bits the same on every
//   run.
// Limits: fewer than 2^31 elements of x. N = 4 needs F divisible by 4 and arrays that begin at a multiple of 16 bytes.
// Bytes: 12 rows F forward, 20 rows F backward.   FLOPs: about 15 rows F forward, 25 rows F backward.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "vector.cuh"

__device__ __forceinline__ float sigmoid(float z) { return 1.0f / (1.0f + expf(-z)); }

// Thread i owns N consecutive elements of y from N i on: columns f .. f + N - 1 of one row.
template <int N> __global__ void swiglu_forward(const float* x, float* y, int size, int F) {
    const long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= size) return;
    const long long gate = i / F * 2 * F + i % F, up = gate + F;
    Pack<float, N> g = *(const Pack<float, N>*)(x + gate), u = *(const Pack<float, N>*)(x + up);
    for (int j = 0; j < N; j++) g.item[j] *= sigmoid(g.item[j]) * u.item[j];
    *(Pack<float, N>*)(y + i) = g;
}

template <int N> __global__ void swiglu_backward(const float* dy, const float* x, float* dx, int size, int F) {
    const long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= size) return;
    const long long gate = i / F * 2 * F + i % F, up = gate + F;
    const Pack<float, N> d = *(const Pack<float, N>*)(dy + i);
    Pack<float, N> g = *(const Pack<float, N>*)(x + gate), u = *(const Pack<float, N>*)(x + up);
    for (int j = 0; j < N; j++) {
        const float z = g.item[j], s = sigmoid(z);
        g.item[j] = d.item[j] * u.item[j] * s * (1.0f + z * (1.0f - s));  // silu'(z) = s + z s (1 - s)
        u.item[j] = d.item[j] * z * s;
    }
    *(Pack<float, N>*)(dx + gate) = g;
    *(Pack<float, N>*)(dx + up) = u;
}
