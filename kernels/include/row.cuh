// A row of C elements that a block keeps in its registers, so that it is read from memory once however often it is used.
//
//   Row<THREADS, N, ITEMS> x;     each of the THREADS = blockDim.x threads holds ITEMS packs of N consecutive elements
//   x.load(row, C)                elements from C on are `beyond`, 0 by default
//   x.store(row, C)
//   x[e], x.column(e)             this thread's e-th element, and its column; e = 0 .. x.COUNT - 1
//
// Consecutive threads hold consecutive packs. With N = 4, C is divisible by 4 and rows begin at multiples of 16 bytes, so a
// pack is in the row or beyond it, never across its end. Every e is a compile-time constant, as arrays in registers demand.
// Kernels that use it carry __launch_bounds__(THREADS): a multiprocessor has 65,536 registers, so 1024 threads get 64 each.
// Architectures: all.
#pragma once
#include "vector.cuh"

template <int THREADS, int N, int ITEMS> struct Row {
    static constexpr int COUNT = N * ITEMS;
    float own[COUNT];

    static __device__ __forceinline__ int column(int e) { return N * (threadIdx.x + e / N * THREADS) + e % N; }
    __device__ __forceinline__ float& operator[](int e) { return own[e]; }
    __device__ __forceinline__ float operator[](int e) const { return own[e]; }

    __device__ __forceinline__ void load(const float* row, int C, float beyond = 0.0f) {
#pragma unroll
        for (int e = 0; e < COUNT; e += N) {
            Pack<float, N> p;
            if (column(e) < C) p = *(const Pack<float, N>*)(row + column(e));
#pragma unroll
            for (int j = 0; j < N; j++) own[e + j] = column(e) < C ? p.item[j] : beyond;
        }
    }

    __device__ __forceinline__ void store(float* row, int C) const {
#pragma unroll
        for (int e = 0; e < COUNT; e += N) {
            Pack<float, N> p;
#pragma unroll
            for (int j = 0; j < N; j++) p.item[j] = own[e + j];
            if (column(e) < C) *(Pack<float, N>*)(row + column(e)) = p;
        }
    }

    __device__ __forceinline__ void fill(float value) {
#pragma unroll
        for (int e = 0; e < COUNT; e++) own[e] = value;
    }
};
