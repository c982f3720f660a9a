// Add, subtract, multiply, divide, power and the larger of two: elementwise, with NumPy's broadcasting.
//
// Promise: y = a op b for arrays of one shape, for shapes that broadcast, and for an array and a number; y may be a or b.
//   Bits the same on every run.
// Limits: arrays of one type, fewer than 2^31 elements; views of up to 6 axes. Division and power in float only.
// Bytes: 12 n with arrays of one shape, 8 n with a number.   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 05, built. Its binary, that is; the others are read.
#include "view.cuh"

// region operations
struct Add {
    template <class T> static __device__ T of(T a, T b) { return a + b; }
};
struct Subtract {
    template <class T> static __device__ T of(T a, T b) { return a - b; }
};
struct Multiply {
    template <class T> static __device__ T of(T a, T b) { return a * b; }
};
struct Divide {
    static __device__ float of(float a, float b) { return a / b; }
};
struct Power {
    static __device__ float of(float a, float b) { return powf(a, b); }
};
struct Maximum {
    template <class T> static __device__ T of(T a, T b) { return a > b || a != a ? a : b; }  // nan on either side propagates
};
// endregion

// Thread i owns N consecutive elements from N i on. With N = 4 one instruction moves 16 bytes, the most there is.
template <class Op, class T, int N> __global__ void binary(const T* a, const T* b, T* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<T, N> p = *(const Pack<T, N>*)(a + i), q = *(const Pack<T, N>*)(b + i);
        for (int j = 0; j < N; j++) p.item[j] = Op::of(p.item[j], q.item[j]);
        *(Pack<T, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = Op::of(a[i], b[i]);  // the last thread may own fewer
    }
}

// Thread i owns N consecutive elements from N i on. NUMBER_FIRST: number op a, else a op number.
template <class Op, class T, bool NUMBER_FIRST, int N> __global__ void with_number(const T* a, T number, T* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        Pack<T, N> p = *(const Pack<T, N>*)(a + i);
        for (int j = 0; j < N; j++) p.item[j] = NUMBER_FIRST ? Op::of(number, p.item[j]) : Op::of(p.item[j], number);
        *(Pack<T, N>*)(y + i) = p;
    } else {
        for (; i < n; i++) y[i] = NUMBER_FIRST ? Op::of(number, a[i]) : Op::of(a[i], number);
    }
}

// Thread i owns element i of the result, and computes the offsets of its two inputs from their views.
template <class Op, class T>
__global__ void broadcast(const T* a, const T* b, T* y, View view_a, View view_b, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)]);
}
