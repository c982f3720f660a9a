// Eight consecutive floats of a row, beside the codes of a quantised weight.
//
//   Eight<N> values(row, k, K);   row[k] .. row[k + 7], zeros from K on
//   values[i]
//
// N = 4 reads four at a time: then K is divisible by 4 and the row begins at a multiple of 16 bytes. Every i is a compile-time
// constant, as arrays in registers demand.
// Architectures: all.
#pragma once
#include "vector.cuh"

template <int N> struct Eight {
    float own[8];

    __device__ __forceinline__ Eight(const float* row, int k, int K) {
#pragma unroll
        for (int i = 0; i < 8; i += N) {
            Pack<float, N> p;
            if (k + i < K) p = *(const Pack<float, N>*)(row + k + i);
#pragma unroll
            for (int j = 0; j < N; j++) own[i + j] = k + i < K ? p.item[j] : 0.0f;
        }
    }
    __device__ __forceinline__ float operator[](int i) const { return own[i]; }
};
