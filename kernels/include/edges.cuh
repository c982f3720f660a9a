// Four consecutive elements of a row that may end early: vector access with bounds, for kernels that work on four at a time.
//
//   row_is_aligned(rows, length)                 whether four consecutive elements are one access, in every row of that length
//   load_four(row, i, end, aligned)              elements i .. i + 3 as float4, zero from `end` on
//   store_four(row, i, end, aligned, values)     the same written; nothing is written from `end` on
//
// Rows are of float or bfloat16. `aligned` is the same for all threads, so that its branch costs
// little; with it, i is a multiple of 4.
// Architectures: all.
#pragma once
#include "vector.cuh"

template <class T> __device__ __forceinline__ bool row_is_aligned(const T* rows, int length) {
    return (size_t)rows % sizeof(Pack<T, 4>) == 0 && length % 4 == 0;
}

template <class T> __device__ __forceinline__ float4 load_four(const T* row, int i, int end, bool aligned) {
    if (aligned && i + 4 <= end) {
        const Pack<T, 4> p = *(const Pack<T, 4>*)(row + i);
        return make_float4(p.item[0], p.item[1], p.item[2], p.item[3]);
    }
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (i < end) four.x = row[i];
    if (i + 1 < end) four.y = row[i + 1];
    if (i + 2 < end) four.z = row[i + 2];
    if (i + 3 < end) four.w = row[i + 3];
    return four;
}

template <class T> __device__ __forceinline__ void store_four(T* row, int i, int end, bool aligned, float4 four) {
    if (aligned && i + 4 <= end) {
        const Pack<T, 4> p = {{T(four.x), T(four.y), T(four.z), T(four.w)}};
        *(Pack<T, 4>*)(row + i) = p;
        return;
    }
    if (i < end) row[i] = four.x;
    if (i + 1 < end) row[i + 1] = four.y;
    if (i + 2 < end) row[i + 2] = four.z;
    if (i + 3 < end) row[i + 3] = four.w;
}
