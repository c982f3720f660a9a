// The two operators that the course reduces by.
//
// Architectures: all.
#pragma once

struct Sum {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; }
};
struct Max {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return a > b || a != a ? a : b; }  // nan propagates
};
