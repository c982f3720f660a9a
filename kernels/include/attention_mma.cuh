// What the flash attention kernels on tensor cores share: the two products of a warp, and how its results are stored.
//
// A block has 4 warps, and each owns 16 rows of the block's 64: queries, or keys in the backward of k and v. The other side is
// streamed through shared memory in tiles. A tile has rows of D numbers, as in global memory, swizzled (gemm_bf16_tile.cuh).
//
// A warp's product (16 x N) is held in registers as the accumulator fragments of mma: sum[c] is the 8 columns from 8 c on, of
// which a lane holds columns 2 (lane % 4) and the next, of row lane / 4 in sum[c][0] and [1], of row lane / 4 + 8 in [2] and [3].
//
// Architectures: sm_80 and newer.
#pragma once
#include <cuda_bf16.h>

#include "gemm_bf16_tile.cuh"
#include "ptx.cuh"

typedef __nv_bfloat16 bf16;
constexpr int WARP_ROWS = 16, BLOCK_ROWS = 64, MMA_THREADS = 128;

// sum (16 x N) += a (16 x D) times b (N x D) transposed, both in shared memory. `a` points to the warp's first row.
template <int D, int N>
__device__ __forceinline__ void warp_mma_transposed(float (&sum)[N / 8][4], const bf16* a, const bf16* b) {
    const int lane = threadIdx.x % 32, low = lane % 8 + lane / 8 % 2 * 8, high = lane / 16 * 8;
#pragma unroll
    for (int j = 0; j < D; j += 16) {
        unsigned left[4], four[4];
        ptx::ldmatrix_x4(left, &a[swizzled<D>(low, j + high)]);
#pragma unroll
        for (int c = 0; c < N / 8; c += 2) {
            ptx::ldmatrix_x4(four, &b[swizzled<D>(8 * c + lane % 8 + high, j + lane / 8 % 2 * 8)]);
            const unsigned first[2] = {four[0], four[1]}, second[2] = {four[2], four[3]};
            ptx::mma_m16n8k16_bf16(sum[c], left, first, sum[c]);
            ptx::mma_m16n8k16_bf16(sum[c + 1], left, second, sum[c + 1]);
        }
    }
}

__device__ __forceinline__ unsigned pack(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *(const unsigned*)&pair;
}

// sum (16 x D) += w (16 x N) times b (N x D), w in registers: the accumulator fragments of one product are, rounded to bfloat16,
// the A fragments of the next.
template <int D, int N>
__device__ __forceinline__ void warp_mma(float (&sum)[D / 8][4], const float (&w)[N / 8][4], const bf16* b) {
    const int lane = threadIdx.x % 32, low = lane % 8 + lane / 8 % 2 * 8, high = lane / 16 * 8;
#pragma unroll
    for (int j = 0; j < N / 8; j += 2) {
        const unsigned left[4] = {pack(w[j][0], w[j][1]), pack(w[j][2], w[j][3]),  //
                                  pack(w[j + 1][0], w[j + 1][1]), pack(w[j + 1][2], w[j + 1][3])};
        unsigned four[4];
#pragma unroll
        for (int c = 0; c < D / 8; c += 2) {
            ptx::ldmatrix_x4_trans(four, &b[swizzled<D>(8 * j + low, 8 * c + high)]);
            const unsigned first[2] = {four[0], four[1]}, second[2] = {four[2], four[3]};
            ptx::mma_m16n8k16_bf16(sum[c], left, first, sum[c]);
            ptx::mma_m16n8k16_bf16(sum[c + 1], left, second, sum[c + 1]);
        }
    }
}

// Registers to shared memory: a warp's product to its 16 rows of a tile; row lane / 4 times `scale`, 8 rows below times `scale_8`.
template <int D>
__device__ __forceinline__ void store_fragment(bf16* tile, const float (&sum)[D / 8][4], float scale, float scale_8) {
    const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int c = 0; c < D / 8; c++) {
        *(unsigned*)&tile[swizzled<D>(row, 8 * c + column)] = pack(sum[c][0] * scale, sum[c][1] * scale);
        *(unsigned*)&tile[swizzled<D>(row + 8, 8 * c + column)] = pack(sum[c][2] * scale_8, sum[c][3] * scale_8);
    }
}

// Shared to global memory, by all threads: `rows` of the BLOCK_ROWS rows of a tile, `columns` elements each, `ld` apart.
template <int D> __device__ __forceinline__ void store_tile(bf16* matrix, int ld, int rows, int columns, const bf16* tile) {
    const bool aligned = (size_t)matrix % 16 == 0 && ld % 8 == 0;
    for (int i = threadIdx.x; i < BLOCK_ROWS * D / 8; i += MMA_THREADS) {
        const int row = i / (D / 8), column = i % (D / 8) * 8, left = row < rows ? columns - column : 0;
        bf16* to = matrix + (long long)row * ld + column;
        const bf16* from = tile + swizzled<D>(row, column);
        if (aligned && left >= 8) {
            *(uint4*)to = *(const uint4*)from;
        } else {
            for (int e = 0; e < 8 && e < left; e++) to[e] = from[e];
        }
    }
}
