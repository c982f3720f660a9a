// Negative, exp, log, tanh, square root, sine and cosine, elementwise.
//
// Promise: y = op(x); y may be x. Bits the same on every run.
// Limits: float, fewer than 2^31 elements (negative: also integers).
// Bytes: 8 n.   FLOPs: n, and about 20 n for exp, log, tanh, sine and cosine.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "view.cuh"

// region operations
struct Negative {
    template <class T> static __device__ T of(T x) { return -x; }
};
struct Exp {
    static __device__ float of(float x) { return expf(x); }
};
struct Log {
    static __device__ float of(float x) { return logf(x); }
};
struct Tanh {
    static __device__ float of(float x) { return tanhf(x); }
};
struct Sqrt {
    static __device__ float of(float x) { return sqrtf(x); }
};
// endregion

// Of a rotation (chapter 23).
struct Sin {
    static __device__ float of(float x) { return sinf(x); }
};
struct Cos {
    static __device__ float of(float x) { return cosf(x); }
};

// Thread i owns N consecutive elements from N i on.
template <class Op, class T, int N> __global__ void unary(const T* x, T* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<T, N> p = *(const Pack<T, N>*)(x + i);
        for (int j = 0; j < N; j++) p.item[j] = Op::of(p.item[j]);
        *(Pack<T, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = Op::of(x[i]);
    }
}
