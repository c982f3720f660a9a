// The main loop of gemm_bf16.cu: one block computes one BM x BN tile of A B on tensor cores and passes it, four elements at a
// time, to an epilogue of epilogues.cuh. bfloat16 inputs, float32 accumulation.
//
// A and B are copied to shared memory in slices of BK, in the layout of global memory; ldmatrix transposes where needed on the way
// to registers. A pipeline of STAGES slices. An element of C is summed over k in steps of 16 whatever the tile sizes.
//
// Architectures: sm_80 and newer.
#pragma once
#include <cuda_bf16.h>

#include "ptx.cuh"

// The sizes of a tile. A warp owns WM x WN of it.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int STAGES_> struct TensorTile {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, STAGES = STAGES_;
    static constexpr int WARPS_N = BN / WN, THREADS = BM / WM * WARPS_N * 32;
    static_assert(BM % WM == 0 && BN % WN == 0, "whole warps share a tile");
    static_assert(WM % 16 == 0 && WN % 16 == 0 && BK % 16 == 0, "whole fragments fill a warp's part");
    static_assert(BM % 64 == 0 && BN % 64 == 0 && BK % 64 == 0, "a row of a slice is a multiple of 128 bytes: all banks, once");
    static_assert(STAGES >= 2, "one slice is multiplied while another is being copied");
};

// The offset of element (row, column) in a slice with rows of WIDTH elements, swizzled: chunk p of 8 elements is stored at
// p ^ (row % 8), so the eight rows that a warp reads together are in eight different groups of banks.
template <int WIDTH> __device__ __forceinline__ int swizzled(int row, int column) {
    return row * WIDTH + (((column / 8) ^ (row % 8)) * 8) + column % 8;
}

// All threads copy the slice of ROWS x WIDTH that begins at (first_row, first_column) of a matrix with leading dimension `ld`.
// Elements from `rows` and `columns` on become zeros, which add nothing. Where rows do not begin at multiples of 16 bytes
// (not `aligned`), elements are copied one by one, through registers.
template <int ROWS, int WIDTH, int THREADS>
__device__ __forceinline__ void copy_slice(__nv_bfloat16* shared, const __nv_bfloat16* matrix, int ld, int first_row,
                                           int first_column, int rows, int columns, bool aligned) {
    static_assert(ROWS * WIDTH % (8 * THREADS) == 0, "all threads copy equally many chunks");
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * WIDTH / 8; i += THREADS) {
        const int row = i / (WIDTH / 8), column = i % (WIDTH / 8) * 8;
        // How many elements from here on are inside: 8 or more if the whole chunk is, 0 or less if none of it is.
        const int left = first_row + row < rows ? columns - first_column - column : 0;
        const __nv_bfloat16* from = matrix + (size_t)(first_row + row) * ld + first_column + column;
        __nv_bfloat16* to = shared + swizzled<WIDTH>(row, column);
        if (aligned && left >= 8) {
            ptx::cp_async_16(to, from);
        } else if (left <= 0) {
            *(uint4*)to = make_uint4(0, 0, 0, 0);
        } else {
            for (int e = 0; e < 8; e++) to[e] = e < left ? from[e] : __float2bfloat16(0.0f);
        }
    }
}

// The tile (blockIdx.y, blockIdx.x) of A B, summed over k = begin .. end - 1; A, B and the epilogue as in gemm_tile.cuh.
// slices: STAGES (BM + BN) BK elements of shared memory.
template <class T, bool TRANSPOSE_A, bool TRANSPOSE_B, class Epilogue>
__device__ __forceinline__ void gemm_bf16_tile(__nv_bfloat16* slices, const __nv_bfloat16* A, const __nv_bfloat16* B, int M, int N,
                                               int K, int begin, int end, Epilogue epilogue) {
    constexpr int BM = T::BM, BN = T::BN, BK = T::BK, WM = T::WM, WN = T::WN, STAGES = T::STAGES, THREADS = T::THREADS;
    __nv_bfloat16 *all_a = slices, *all_b = slices + STAGES * BM * BK;
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    const int ld_a = TRANSPOSE_A ? M : K, ld_b = TRANSPOSE_B ? K : N;
    const bool aligned_a = (size_t)A % 16 == 0 && ld_a % 8 == 0, aligned_b = (size_t)B % 16 == 0 && ld_b % 8 == 0;
    // This warp's first row and column of the block's tile, and this lane's row and column in the four 8 x 8 blocks of an ldmatrix.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / T::WARPS_N * WM, x = warp % T::WARPS_N * WN;
    const int low = lane % 8 + lane / 8 % 2 * 8, high = lane / 16 * 8;  // down the first two blocks; 8 for the last two

    auto fetch = [&](int stage, int k) {
        __nv_bfloat16 *a = all_a + stage * BM * BK, *b = all_b + stage * BK * BN;
        if (k < end) {
            if (TRANSPOSE_A) copy_slice<BK, BM, THREADS>(a, A, ld_a, k, first_row, end, M, aligned_a);
            else copy_slice<BM, BK, THREADS>(a, A, ld_a, first_row, k, M, end, aligned_a);
            if (TRANSPOSE_B) copy_slice<BN, BK, THREADS>(b, B, ld_b, first_column, k, N, end, aligned_b);
            else copy_slice<BK, BN, THREADS>(b, B, ld_b, k, first_column, end, N, aligned_b);
        }
        ptx::cp_async_commit();  // an empty group at the end, so that waiting for all but the newest stays right
    };

    float sum[WM / 16][WN / 8][4] = {};
    for (int stage = 0; stage < STAGES - 1; stage++) fetch(stage, begin + stage * BK);
    for (int k = begin, stage = 0; k < end; k += BK, stage = (stage + 1) % STAGES) {
        ptx::cp_async_wait<STAGES - 2>();
        __syncthreads();  // this slice is complete for all, and the one before it is free
        fetch((stage + STAGES - 1) % STAGES, k + (STAGES - 1) * BK);
        const __nv_bfloat16 *a = all_a + stage * BM * BK, *b = all_b + stage * BK * BN;
#pragma unroll
        for (int j = 0; j < BK; j += 16) {
            unsigned left[WM / 16][4], right[WN / 8][2];
            // Blocks of A in mma's order: rows 0-7 and 8-15 of k 0-7, then of k 8-15.
#pragma unroll
            for (int r = 0; r < WM / 16; r++) {
                if (TRANSPOSE_A)  // k along the rows: the second block is to the right, not below
                    ptx::ldmatrix_x4_trans(left[r], &a[swizzled<BM>(j + lane % 8 + high, y + 16 * r + lane / 8 % 2 * 8)]);
                else
                    ptx::ldmatrix_x4(left[r], &a[swizzled<BK>(y + 16 * r + low, j + high)]);
            }
            // Blocks of B, two fragments at once: k 0-7 and 8-15 of columns 0-7, then of columns 8-15.
#pragma unroll
            for (int c = 0; c < WN / 8; c += 2) {
                unsigned four[4];
                if (TRANSPOSE_B) ptx::ldmatrix_x4(four, &b[swizzled<BK>(x + 8 * c + lane % 8 + high, j + lane / 8 % 2 * 8)]);
                else ptx::ldmatrix_x4_trans(four, &b[swizzled<BN>(j + low, x + 8 * c + high)]);
                right[c][0] = four[0], right[c][1] = four[1], right[c + 1][0] = four[2], right[c + 1][1] = four[3];
            }
#pragma unroll
            for (int r = 0; r < WM / 16; r++)
#pragma unroll
                for (int c = 0; c < WN / 8; c++) ptx::mma_m16n8k16_bf16(sum[r][c], left[r], right[c], sum[r][c]);
        }
    }
    // A lane holds two consecutive elements of row g = lane / 4 and two of row g + 8. It exchanges one pair with the adjacent lane:
    // the even one then has four elements of row g, the odd one four of row g + 8.
    const bool odd = lane % 2;
#pragma unroll
    for (int r = 0; r < WM / 16; r++) {
        const int row = first_row + y + 16 * r + lane / 4 + 8 * odd;
#pragma unroll
        for (int c = 0; c < WN / 8; c++) {
            float* s = sum[r][c];
            const float give_x = odd ? s[0] : s[2], give_y = odd ? s[1] : s[3];
            const float take_x = __shfl_xor_sync(0xffffffffu, give_x, 1), take_y = __shfl_xor_sync(0xffffffffu, give_y, 1);
            const float4 four = odd ? make_float4(take_x, take_y, s[2], s[3]) : make_float4(s[0], s[1], take_x, take_y);
            if (row < M) epilogue(row, first_column + x + 8 * c + lane % 4 / 2 * 4, four);
        }
        epilogue.end_of_row(row, blockIdx.x * T::WARPS_N + warp % T::WARPS_N, 2, 2);
    }
}
