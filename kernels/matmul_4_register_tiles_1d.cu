// Matrix product, version 4: a thread computes TM elements of a column, and reads each element of B once for all of them.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major float32; the same bits on every run.
// Limits: BM / TM x BN threads a block. Any sizes: elements outside the matrices count as zero.
// Gained over version 3: TM multiply-adds take TM + 1 reads of shared memory instead of 2 TM. And since a thread does more, a
//   block's tile can grow: with 64 x 64 instead of 32 x 32, A and B are read half as often.
// Bytes: 4 (M K N / BN + K N M / BM + M N).   FLOPs: 2 M N K.
// Architectures: sm_75 and newer.
// Chapter: 08b, built.

template <int BM, int BN, int BK, int TM>
__global__ void matmul_register_tiles_1d(const float* A, const float* B, float* C, int M, int N, int K) {
    constexpr int THREADS = BM / TM * BN;
    static_assert(THREADS <= 1024, "a block has at most 1,024 threads");
    static_assert(BM * BK % THREADS == 0 && BN * BK % THREADS == 0, "all threads fetch equally many elements");
    __shared__ float a[BM][BK], b[BK][BN];
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    // This thread owns rows y, y + 1, ... y + TM - 1 of column x of the block's tile.
    const int x = threadIdx.x % BN, y = threadIdx.x / BN * TM;
    float sum[TM] = {};
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
            const float right = b[j][x];
#pragma unroll
            for (int r = 0; r < TM; r++) sum[r] += a[y + r][j] * right;
        }
        __syncthreads();
    }
    const int column = first_column + x;
    for (int r = 0; r < TM; r++)
        if (first_row + y + r < M && column < N) C[(size_t)(first_row + y + r) * N + column] = sum[r];
}
