// The main loop of gemm.cu: one block computes one BM x BN tile of A B and passes it, four elements at a time, to an epilogue.
//
// A (M, K) and B (K, N) are copied to shared memory in slices of BK, with k along the rows: a[k][m], b[k][n]. Double buffering:
// while the threads multiply one slice, the next is loaded from global memory to registers, and one barrier per slice is enough.
// An element of C is the sum over k = 0, 1, 2, ... whatever the tile sizes, so its bits depend on none of them.
#pragma once
#include "edges.cuh"

// The sizes of a tile and who owns what in it.
template <int BM_, int BN_, int BK_, int TM_, int TN_> struct Tile {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_;
    // A warp is 4 x 8 lanes; each lane owns TM x TN elements, in groups of 4 x 4 interleaved with those of the other lanes.
    static constexpr int WARP_M = 4 * TM, WARP_N = 8 * TN;
    static constexpr int WARPS_N = BN / WARP_N, THREADS = BM / TM * BN / TN;
    // Four words of padding: the two halves of a group of 8 k that a warp stores transposed are then in different banks.
    static constexpr int PAD = 4;
    // What a kernel declares in shared memory, two of each: a slice of A and a slice of B, k along the rows.
    typedef float SliceA[BK][BM + PAD];
    typedef float SliceB[BK][BN + PAD];
    static_assert(TM % 4 == 0 && TN % 4 == 0, "a thread owns groups of 4 x 4");
    static_assert(BM % WARP_M == 0 && BN % WARP_N == 0, "whole warps share a tile");
    static_assert(BK % 8 == 0, "a slice is loaded in groups of 8 k");
    static_assert(BM * BK % (4 * THREADS) == 0 && BN * BK % (4 * THREADS) == 0, "all threads load equally many float4");
};

// One slice (BK x WIDTH), copied from global to shared memory through registers. `source` is a matrix with leading dimension `ld`:
// k along its rows, (K, X), or with TRANSPOSED along its columns, (X, K); X is M for A and N for B.
template <bool TRANSPOSED, int WIDTH, int BK, int THREADS, int PAD> struct Slice {
    static constexpr int COUNT = WIDTH * BK / 4 / THREADS;  // float4 per thread
    float4 four[COUNT];

    // The coordinates (k, x) of this thread's i-th float4, which extends along x, or with TRANSPOSED along k.
    // TRANSPOSED: two consecutive threads read 32 bytes of a row, one sector.
    static __device__ __forceinline__ void coordinates(int i, int& k, int& x) {
        int number = threadIdx.x + i * THREADS;
        if (TRANSPOSED) k = number / (2 * WIDTH) * 8 + number % 2 * 4, x = number / 2 % WIDTH;
        else k = number / (WIDTH / 4), x = number % (WIDTH / 4) * 4;
    }

    // Elements outside of k < K and x < X become zeros, which add nothing.
    __device__ __forceinline__ void load(const float* source, int ld, int first_k, int first_x, int K, int X, bool aligned) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            int k, x;
            coordinates(i, k, x);
            k += first_k, x += first_x;
            if (TRANSPOSED) four[i] = load_four(source + (size_t)(x < X ? x : 0) * ld, k, x < X ? K : 0, aligned);
            else four[i] = load_four(source + (size_t)(k < K ? k : 0) * ld, x, k < K ? X : 0, aligned);
        }
    }

    __device__ __forceinline__ void store(float (*shared)[WIDTH + PAD]) const {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            int k, x;
            coordinates(i, k, x);
            if (TRANSPOSED) {
                shared[k][x] = four[i].x;
                shared[k + 1][x] = four[i].y;
                shared[k + 2][x] = four[i].z;
                shared[k + 3][x] = four[i].w;
            } else {
                *(float4*)&shared[k][x] = four[i];
            }
        }
    }
};

// The tile (blockIdx.y, blockIdx.x) of A B summed over k = begin .. end - 1. A is (M, K), or (K, M) with TRANSPOSE_A; B is
// (K, N), or (N, K) with TRANSPOSE_B. epilogue(row, column, sums) gets the sums of four consecutive elements, the first at
// (row, column), rows below M only; the epilogue ignores columns from N on. epilogue.end_of_row(row, part, 4, 1) follows after a
// warp's part of a row, which eight consecutive lanes hold; all 32 lanes call it together, also for rows from M on.
template <class T, bool TRANSPOSE_A, bool TRANSPOSE_B, class Epilogue>
__device__ __forceinline__ void gemm_tile(typename T::SliceA (&a)[2], typename T::SliceB (&b)[2], const float* A, const float* B,
                                          int M, int N, int K, int begin, int end, Epilogue epilogue) {
    constexpr int BM = T::BM, BN = T::BN, BK = T::BK, TM = T::TM, TN = T::TN;
    const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    const int ld_a = TRANSPOSE_A ? M : K, ld_b = TRANSPOSE_B ? K : N;
    const bool aligned_a = row_is_aligned(A, ld_a), aligned_b = row_is_aligned(B, ld_b);
    // This lane's first row and column within the tile; its groups of four are 16 rows and 32 columns apart.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / T::WARPS_N * T::WARP_M + lane / 8 * 4, column = warp % T::WARPS_N * T::WARP_N + lane % 8 * 4;

    Slice<!TRANSPOSE_A, BM, BK, T::THREADS, T::PAD> next_a;
    Slice<TRANSPOSE_B, BN, BK, T::THREADS, T::PAD> next_b;
    next_a.load(A, ld_a, begin, first_row, end, M, aligned_a);
    next_b.load(B, ld_b, begin, first_column, end, N, aligned_b);
    next_a.store(a[0]);
    next_b.store(b[0]);
    __syncthreads();

    float sum[TM][TN] = {};
    for (int k = begin, now = 0; k < end; k += BK, now ^= 1) {
        const bool more = k + BK < end;
        if (more) {
            next_a.load(A, ld_a, k + BK, first_row, end, M, aligned_a);
            next_b.load(B, ld_b, k + BK, first_column, end, N, aligned_b);
        }
#pragma unroll
        for (int j = 0; j < BK; j++) {
            float right[TN];
#pragma unroll
            for (int c = 0; c < TN; c += 4) {
                const float4 four = *(const float4*)&b[now][j][column + 8 * c];
                right[c] = four.x, right[c + 1] = four.y, right[c + 2] = four.z, right[c + 3] = four.w;
            }
#pragma unroll
            for (int r = 0; r < TM; r += 4) {
                const float4 left = *(const float4*)&a[now][j][row + 4 * r];
#pragma unroll
                for (int c = 0; c < TN; c++) {
                    sum[r][c] += left.x * right[c];
                    sum[r + 1][c] += left.y * right[c];
                    sum[r + 2][c] += left.z * right[c];
                    sum[r + 3][c] += left.w * right[c];
                }
            }
        }
        if (more) {
            next_a.store(a[now ^ 1]);
            next_b.store(b[now ^ 1]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < TM; r++) {
        const int m = first_row + row + r / 4 * 16 + r % 4;
#pragma unroll
        for (int c = 0; c < TN; c += 4)
            if (m < M)
                epilogue(m, first_column + column + 8 * c, make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]));
        epilogue.end_of_row(m, blockIdx.x * T::WARPS_N + warp % T::WARPS_N, 4, 1);
    }
}
