// Matrix product, version 5: a thread computes TM x TN elements from TM numbers of A and TN of B in registers.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major float32; the same bits on every run.
// Limits: BM / TM x BN / TN threads a block. Any sizes: elements outside the matrices count as zero.
// Gained over version 4: TM TN multiply-adds take TM + TN reads of shared memory, with 8 x 8 a quarter of a read for each instead
//   of 1.125. What is lost: consecutive threads now read b TN words apart, which makes bank conflicts (4 wavefronts
//   a request with TN = 8 and BN = 128), and each of their writes of C is in a sector of its own. Version 6 fixes that.
// Bytes: 4 (M K N / BN + K N M / BM + M N), the writes of C eight times.   FLOPs: 2 M N K.
// Architectures: sm_75 and newer.
// Chapter: 08b, read, not built. What it does is built with the main loop of gemm.cu.

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN)
matmul_register_tiles_2d(const float* A, const float* B, float* C, int M, int N, int K) {
    constexpr int THREADS = BM / TM * BN / TN;
    static_assert(BM % TM == 0 && BN % TN == 0, "threads share a tile without a rest");
    static_assert(BM * BK % THREADS == 0 && BN * BK % THREADS == 0, "all threads fetch equally many elements");
    __shared__ float a[BM][BK], b[BK][BN];
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    // This thread owns the TM x TN elements of the block's tile that begin at row y, column x.
    const int x = threadIdx.x % (BN / TN) * TN, y = threadIdx.x / (BN / TN) * TM;
    float sum[TM][TN] = {};
    for (int k = 0; k < K; k += BK) {
        // Thread number i fetches the i-th element of each tile, counted row by row, then those THREADS farther on.
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int row = first_row + i / BK, inner = k + i % BK;
            a[i / BK][i % BK] = row < M && inner < K ? A[(size_t)row * K + inner] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int inner = k + i / BN, column = first_column + i % BN;
            b[i / BN][i % BN] = inner < K && column < N ? B[(size_t)inner * N + column] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < BK; j++) {
            float left[TM], right[TN];
#pragma unroll
            for (int r = 0; r < TM; r++) left[r] = a[y + r][j];
#pragma unroll
            for (int c = 0; c < TN; c++) right[c] = b[j][x + c];
#pragma unroll
            for (int r = 0; r < TM; r++)
#pragma unroll
                for (int c = 0; c < TN; c++) sum[r][c] += left[r] * right[c];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int c = 0; c < TN; c++) {
            const int row = first_row + y + r, column = first_column + x + c;
            if (row < M && column < N) C[(size_t)row * N + column] = sum[r][c];
        }
}
