// Matrix product, version 8: tensor cores by mma, asynchronous copies to shared memory. bfloat16 inputs, float32 accumulation.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major, A and B bfloat16, C float32; the same bits on every run.
// Limits: N and K are multiples of 8 and the arrays begin at multiples of 16 bytes (gemm_bf16.cu takes any); M is any number.
// Gained over version 7, by four changes:
//   mma specifies which lane holds what, so the sums go from registers to C, without a detour through shared memory.
//   cp.async copies 16 bytes from global to shared memory while the warp computes: a pipeline of STAGES slices.
//   ldmatrix loads four 8 x 8 blocks in one instruction, as fragments of mma; a wmma load takes several.
//   The rows of a slice are swizzled: the 16-byte chunk p of row r is stored at p ^ (r % 8). The eight rows of a block are then in
//   eight different groups of banks, and each request takes its 4 wavefronts, without any padding.
// Bytes: 2 (M K N / BN + K N M / BM) + 4 M N.   FLOPs: 2 M N K.
// Architectures: sm_80 and newer.
// Chapter: 08c, read, not built.
#include <cuda_bf16.h>

#include "ptx.cuh"

typedef __nv_bfloat16 bf16;

// The offset of element (row, column) in a slice with rows of WIDTH elements: chunks of 8 elements are swizzled within the row.
template <int WIDTH> __device__ __forceinline__ int swizzled(int row, int column) {
    static_assert(WIDTH % 64 == 0, "a row is a multiple of 128 bytes: all banks, once");
    return row * WIDTH + (((column / 8) ^ (row % 8)) * 8) + column % 8;
}

// All threads of the block copy a slice of ROWS x WIDTH that begins at (first_row, first_column) of a matrix (rows, columns).
// Chunks outside the matrix become zeros.
template <int ROWS, int WIDTH, int THREADS>
__device__ __forceinline__ void copy_slice(bf16* shared, const bf16* matrix, int first_row, int first_column, int rows,
                                           int columns) {
    static_assert(ROWS * WIDTH % (8 * THREADS) == 0, "all threads copy equally many chunks");
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * WIDTH / 8; i += THREADS) {
        const int row = i / (WIDTH / 8), column = i % (WIDTH / 8) * 8;
        bf16* to = shared + swizzled<WIDTH>(row, column);
        if (first_row + row < rows && first_column + column < columns)
            ptx::cp_async_16(to, matrix + (size_t)(first_row + row) * columns + first_column + column);
        else
            *(uint4*)to = make_uint4(0, 0, 0, 0);
    }
}

// shared_mem: STAGES (BM + BN) BK 2 bytes. A warp owns WM x WN of the block's tile.
template <int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
matmul_mma(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
    constexpr int THREADS = BM / WM * BN / WN * 32;
    static_assert(BM % WM == 0 && BN % WN == 0, "whole warps share a tile");
    static_assert(WM % 16 == 0 && WN % 16 == 0 && BK % 16 == 0, "whole fragments fill a warp's part");
    static_assert(STAGES >= 2, "one slice is multiplied while another is being copied");
    extern __shared__ __align__(128) bf16 slices[];  // STAGES times a (BM, BK), then STAGES times b (BK, BN)
    bf16 *all_a = slices, *all_b = slices + STAGES * BM * BK;
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    // This warp's first row and column of the block's tile, and this lane's row and column in the 8 x 8 blocks of an ldmatrix.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / (BN / WN) * WM, x = warp % (BN / WN) * WN;
    const int lane_row = lane % 16, lane_column = lane / 16 * 8;

    auto fetch = [&](int stage, int k) {
        if (k < K) {
            copy_slice<BM, BK, THREADS>(all_a + stage * BM * BK, A, first_row, k, M, K);
            copy_slice<BK, BN, THREADS>(all_b + stage * BK * BN, B, k, first_column, K, N);
        }
        ptx::cp_async_commit();  // an empty group at the end, so that waiting for all but the newest stays right
    };

    float sum[WM / 16][WN / 8][4] = {};
    for (int stage = 0; stage < STAGES - 1; stage++) fetch(stage, stage * BK);
    for (int k = 0, stage = 0; k < K; k += BK, stage = (stage + 1) % STAGES) {
        ptx::cp_async_wait<STAGES - 2>();
        __syncthreads();  // this slice is complete for all, and the one before it is free
        fetch((stage + STAGES - 1) % STAGES, k + (STAGES - 1) * BK);
        const bf16 *a = all_a + stage * BM * BK, *b = all_b + stage * BK * BN;
#pragma unroll
        for (int j = 0; j < BK; j += 16) {
            unsigned left[WM / 16][4], right[WN / 8][2];
#pragma unroll
            for (int r = 0; r < WM / 16; r++)
                ptx::ldmatrix_x4(left[r], &a[swizzled<BK>(y + 16 * r + lane_row, j + lane_column)]);
#pragma unroll
            for (int c = 0; c < WN / 8; c += 2) {  // two fragments of B at once; B has k along the rows: transposed
                unsigned four[4];
                ptx::ldmatrix_x4_trans(four, &b[swizzled<BN>(j + lane_row, x + 8 * c + lane_column)]);
                right[c][0] = four[0], right[c][1] = four[1], right[c + 1][0] = four[2], right[c + 1][1] = four[3];
            }
#pragma unroll
            for (int r = 0; r < WM / 16; r++)
#pragma unroll
                for (int c = 0; c < WN / 8; c++) ptx::mma_m16n8k16_bf16(sum[r][c], left[r], right[c], sum[r][c]);
        }
    }
    // A lane holds two consecutive elements of row lane / 4 and two of the eighth row below, columns from 2 (lane % 4) on.
#pragma unroll
    for (int r = 0; r < WM / 16; r++)
#pragma unroll
        for (int c = 0; c < WN / 8; c++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = first_row + y + 16 * r + 8 * half + lane / 4, column = first_column + x + 8 * c + lane % 4 * 2;
                if (row < M && column < N)
                    *(float2*)&C[(size_t)row * N + column] = make_float2(sum[r][c][2 * half], sum[r][c][2 * half + 1]);
            }
}
