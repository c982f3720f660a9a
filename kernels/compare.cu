// Comparisons, elementwise with broadcasting, and selection between two arrays by a condition.
//
// Promise: y = a op b as bool, and y = condition ? a : b; y may be an input of `where`. A nan compares as unequal.
//   Bits the same on every run.
// Limits: a and b of one type, fewer than 2^31 elements; views of up to 6 axes.
// Bytes: 9 n to compare, 13 n to choose.   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "view.cuh"

// region operations
struct Equal {
    template <class T> static __device__ bool of(T a, T b) { return a == b; }
};
struct NotEqual {
    template <class T> static __device__ bool of(T a, T b) { return a != b; }
};
struct Less {
    template <class T> static __device__ bool of(T a, T b) { return a < b; }
};
struct LessEqual {
    template <class T> static __device__ bool of(T a, T b) { return a <= b; }
};
// endregion

// Thread i owns element i of the result. (a > b is computed as b < a.)
template <class Op, class T>
__global__ void compare(const T* a, const T* b, bool* y, View view_a, View view_b, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)]);
}

// The same for the selection: T is any type of its size, since nothing is computed.
template <class T>
__global__ void where(const bool* condition, const T* a, const T* b, T* y, View view_c, View view_a, View view_b, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = condition[offset_of(view_c, i)] ? a[offset_of(view_a, i)] : b[offset_of(view_b, i)];
}
