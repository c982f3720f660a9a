// Four neighbours of a row that may end early: how a kernel that works in float4 meets ragged edges.
//
//   row_is_aligned(rows, length)                 whether every row of that length begins at a multiple of 16 bytes
//   load_four(row, i, end, aligned)              elements i .. i + 3, zero from `end` on
//   store_four(row, i, end, aligned, values)     the same written; nothing is written from `end` on
//
// Architectures: all.
#pragma once

__device__ __forceinline__ bool row_is_aligned(const void* rows, int length) {
    return (size_t)rows % 16 == 0 && length % 4 == 0;
}

// `aligned` is the same for all threads, so the branch costs nothing; with it, i is a multiple of 4 and so is `end`.
__device__ __forceinline__ float4 load_four(const float* row, int i, int end, bool aligned) {
    if (aligned && i < end) return *(const float4*)(row + i);
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (i < end) four.x = row[i];
    if (i + 1 < end) four.y = row[i + 1];
    if (i + 2 < end) four.z = row[i + 2];
    if (i + 3 < end) four.w = row[i + 3];
    return four;
}

__device__ __forceinline__ void store_four(float* row, int i, int end, bool aligned, float4 four) {
    if (aligned && i < end) {
        *(float4*)(row + i) = four;
        return;
    }
    if (i < end) row[i] = four.x;
    if (i + 1 < end) row[i + 1] = four.y;
    if (i + 2 < end) row[i + 2] = four.z;
    if (i + 3 < end) row[i + 3] = four.w;
}
