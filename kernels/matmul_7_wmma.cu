// Matrix product, version 7: tensor cores, by the wmma functions of CUDA C++. bfloat16 inputs, float32 accumulation.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major, A and B bfloat16, C float32; the same bits on every run.
// Limits: any sizes: elements outside the matrices count as zero. Elements are copied one by one, so that rows may begin
//   anywhere; version 8 copies 16 bytes at a time.
// Gained over version 6: one instruction of a warp multiplies 16 x 16 by 16 x 16. The numbers of a fragment are in the registers of
//   all 32 lanes, in an order that wmma does not specify, so the sums pass through shared memory on their way to C.
// Bytes: 2 (M K N / BN + K N M / BM) + 4 M N.   FLOPs: 2 M N K.
// Architectures: sm_80 and newer.
// Chapter: 08c, built.
#include <cuda_bf16.h>
#include <mma.h>

template <int BM, int BN, int BK>
__global__ void matmul_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    using namespace nvcuda;
    typedef __nv_bfloat16 bf16;
    constexpr int WARPS_N = BN / 32, THREADS = 32 * (BM / 32) * WARPS_N;  // a warp owns 32 x 32: two by two fragments
    static_assert(BM % 32 == 0 && BN % 32 == 0 && BK % 16 == 0, "whole fragments fill a tile");
    static_assert(BM * BK % THREADS == 0 && BN * BK % THREADS == 0, "all threads fetch equally many elements");
    // Eight elements of padding keep the rows' beginnings at multiples of 16 bytes, as wmma requires, and in different banks.
    __shared__ __align__(32) bf16 a[BM][BK + 8], b[BK][BN + 8];
    __shared__ __align__(32) float c[BM][BN + 4];
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    // This warp's first row and column of the block's tile.
    const int y = threadIdx.x / 32 / WARPS_N * 32, x = threadIdx.x / 32 % WARPS_N * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++) wmma::fill_fragment(sum[r][s], 0.0f);
    for (int k = 0; k < K; k += BK) {
        // Thread number i fetches the i-th element of each tile, counted row by row, then those THREADS farther on.
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int row = first_row + i / BK, inner = k + i % BK;
            a[i / BK][i % BK] = row < M && inner < K ? A[(size_t)row * K + inner] : __float2bfloat16(0.0f);
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int inner = k + i / BN, column = first_column + i % BN;
            b[i / BN][i % BN] = inner < K && column < N ? B[(size_t)inner * N + column] : __float2bfloat16(0.0f);
        }
        __syncthreads();
        for (int j = 0; j < BK; j += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> right[2];
            for (int r = 0; r < 2; r++) wmma::load_matrix_sync(left[r], &a[y + 16 * r][j], BK + 8);
            for (int s = 0; s < 2; s++) wmma::load_matrix_sync(right[s], &b[j][x + 16 * s], BN + 8);
            for (int r = 0; r < 2; r++)
                for (int s = 0; s < 2; s++) wmma::mma_sync(sum[r][s], left[r], right[s], sum[r][s]);
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::store_matrix_sync(&c[y + 16 * r][x + 16 * s], sum[r][s], BN + 4, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < BM * BN; i += THREADS) {
        const int row = first_row + i / BN, column = first_column + i % BN;
        if (row < M && column < N) C[(size_t)row * N + column] = c[i / BN][i % BN];
    }
}
