// Matrix product, version 6: vector loads of four numbers, and double buffering of the slices in shared memory.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major float32; the same bits on every run.
// Limits: N and K are multiples of 4 and the arrays begin at multiples of 16 bytes (gemm.cu takes any); M is any number.
// Gained over version 5, by four changes:
//   float4: a quarter of the instructions to load and store, and 16 sectors for each, all of them used.
//   A is transposed on its way to shared memory, k along the rows, so that a thread's numbers of A are consecutive too.
//   A thread's TM x TN elements are groups of 4 x 4 interleaved with those of other lanes: eight lanes read 128 consecutive bytes.
//   With four words of padding there are no bank conflicts: a float4 request takes 2 wavefronts for a and 4 for b, a scalar one 1.
//   Double buffering: global memory is read while the other slice is multiplied, with one barrier for each slice instead of two.
// Bytes: 4 (M K N / BN + K N M / BM + M N).   FLOPs: 2 M N K.
// Architectures: sm_75 and newer.
// Chapter: 08b, read, not built.

__device__ __forceinline__ float4 read_four(const float* p, bool inside) {
    return inside ? *(const float4*)p : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
matmul_vectorised(const float* A, const float* B, float* C, int M, int N, int K) {
    constexpr int THREADS = BM / TM * BN / TN, LOADS_A = BM * BK / 4 / THREADS, LOADS_B = BN * BK / 4 / THREADS;
    constexpr int WARP_M = 4 * TM, WARP_N = 8 * TN;  // a warp is 4 x 8 lanes
    static_assert(TM % 4 == 0 && TN % 4 == 0, "a thread owns groups of 4 x 4");
    static_assert(BM % WARP_M == 0 && BN % WARP_N == 0, "whole warps share a tile");
    static_assert(BK == 8, "two consecutive threads read the 8 k of a row of A");
    static_assert(LOADS_A * THREADS * 4 == BM * BK && LOADS_B * THREADS * 4 == BN * BK, "all threads load equally many float4");
    __shared__ __align__(16) float a[2][BK][BM + 4], b[2][BK][BN + 4];
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    // This lane's first row and column of the block's tile; its further groups of four are 16 rows and 32 columns on.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y = warp / (BN / WARP_N) * WARP_M + lane / 8 * 4, x = warp % (BN / WARP_N) * WARP_N + lane % 8 * 4;
    float4 next_a[LOADS_A], next_b[LOADS_B];

    auto load = [&](int k) {
#pragma unroll
        for (int i = 0; i < LOADS_A; i++) {  // this thread's float4 of A: row number / 2, k from number % 2 * 4 on
            const int number = threadIdx.x + i * THREADS, row = first_row + number / 2, inner = k + number % 2 * 4;
            next_a[i] = read_four(A + (size_t)row * K + inner, row < M && inner < K);
        }
#pragma unroll
        for (int i = 0; i < LOADS_B; i++) {  // and of B: k number / (BN / 4), columns from number % (BN / 4) * 4 on
            const int number = threadIdx.x + i * THREADS, inner = k + number / (BN / 4);
            const int column = first_column + number % (BN / 4) * 4;
            next_b[i] = read_four(B + (size_t)inner * N + column, inner < K && column < N);
        }
    };
    auto store = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < LOADS_A; i++) {
            const int number = threadIdx.x + i * THREADS, row = number / 2, inner = number % 2 * 4;
            a[buffer][inner][row] = next_a[i].x;
            a[buffer][inner + 1][row] = next_a[i].y;
            a[buffer][inner + 2][row] = next_a[i].z;
            a[buffer][inner + 3][row] = next_a[i].w;
        }
#pragma unroll
        for (int i = 0; i < LOADS_B; i++) {
            const int number = threadIdx.x + i * THREADS;
            *(float4*)&b[buffer][number / (BN / 4)][number % (BN / 4) * 4] = next_b[i];
        }
    };

    float sum[TM][TN] = {};
    load(0);
    store(0);
    __syncthreads();
    for (int k = 0, buffer = 0; k < K; k += BK, buffer ^= 1) {
        if (k + BK < K) load(k + BK);
#pragma unroll
        for (int j = 0; j < BK; j++) {
            float left[TM], right[TN];
#pragma unroll
            for (int r = 0; r < TM; r += 4) {
                const float4 four = *(const float4*)&a[buffer][j][y + 4 * r];
                left[r] = four.x, left[r + 1] = four.y, left[r + 2] = four.z, left[r + 3] = four.w;
            }
#pragma unroll
            for (int c = 0; c < TN; c += 4) {
                const float4 four = *(const float4*)&b[buffer][j][x + 8 * c];
                right[c] = four.x, right[c + 1] = four.y, right[c + 2] = four.z, right[c + 3] = four.w;
            }
#pragma unroll
            for (int r = 0; r < TM; r++)
#pragma unroll
                for (int c = 0; c < TN; c++) sum[r][c] += left[r] * right[c];
        }
        if (k + BK < K) store(buffer ^ 1);
        __syncthreads();  // the other buffer is complete, and all threads have finished with this one
    }
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int c = 0; c < TN; c += 4) {
            const int row = first_row + y + r / 4 * 16 + r % 4, column = first_column + x + 8 * c;
            if (row < M && column < N)
                *(float4*)&C[(size_t)row * N + column] = make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
        }
}
