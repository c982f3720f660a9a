// What the flash attention kernels share: tiles of q, k, v in shared memory, and the product of two tiles in registers.
//
// A block has 64 threads: 16 groups of 4 lanes. A group owns some rows of a product, and each of its lanes a quarter of their
// columns, so a thread holds a small rectangle of the result (a register tile), and uses every number it loads several times.
//
// In shared memory a row of 64 or more numbers has 4 floats of padding after each quarter, so that its four quarters begin in
// different banks. In shorter rows they do so anyway.
//
// Architectures: sm_75 and newer.
#pragma once

constexpr int GROUPS = 16, LANES = 4, THREADS = GROUPS * LANES;

// The layout of a row of N numbers in shared memory: number i is at offset(i), and the next row STRIDE further on, or
// TRANSPOSED_STRIDE in a tile that is stored transposed.
template <int N> struct SharedLayout {
    static constexpr int QUARTER = N / LANES, PADDING = N > 32 ? 4 : 0;
    static constexpr int STRIDE = N + (PADDING ? LANES * PADDING : 4), TRANSPOSED_STRIDE = N + LANES * PADDING + 4;
    static __device__ __forceinline__ int offset(int i) { return i + i / QUARTER * PADDING; }
};

// Row and column of element i of a tile of ROWS x D, in the order in which the threads copy it: a warp copies SPAN consecutive
// elements of one row or of two, so that it moves whole sectors of memory and uses every bank once.
template <int ROWS, int D> __device__ __forceinline__ void copied_element(int i, int& row, int& column) {
    constexpr int SPAN = SharedLayout<D>::PADDING && SharedLayout<D>::QUARTER < 32 ? SharedLayout<D>::QUARTER : 32;
    row = i / SPAN % ROWS;
    column = i % SPAN + i / (SPAN * ROWS) * SPAN;
}

// Global to shared memory: ROWS rows of up to D numbers, `stride` apart, to tile[row][offset(d)]. Rows from `rows` on and columns
// from `d` on become 0.
template <int ROWS, int D>
__device__ __forceinline__ void load_rows(float* tile, const float* x, int stride, int rows, int d) {
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
        int row, column;
        copied_element<ROWS, D>(i, row, column);
        tile[row * SharedLayout<D>::STRIDE + SharedLayout<D>::offset(column)] =
            row < rows && column < d ? x[(long long)row * stride + column] : 0.0f;
    }
}

// The same, transposed: to tile[d][offset(row)]. A warp copies 8 columns of 4 rows: whole sectors from memory, every bank once.
template <int ROWS, int D>
__device__ __forceinline__ void load_transposed(float* tile, const float* x, int stride, int rows, int d) {
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
        int column = i % 8 + i / (8 * ROWS) * 8, row = i / 8 % ROWS;
        tile[column * SharedLayout<ROWS>::TRANSPOSED_STRIDE + SharedLayout<ROWS>::offset(row)] =
            row < rows && column < d ? x[(long long)row * stride + column] : 0.0f;
    }
}

// Shared to global memory: the inverse of load_rows.
template <int ROWS, int D>
__device__ __forceinline__ void store_rows(float* x, int stride, int rows, int d, const float* tile) {
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
        int row, column;
        copied_element<ROWS, D>(i, row, column);
        if (row < rows && column < d)
            x[(long long)row * stride + column] = tile[row * SharedLayout<D>::STRIDE + SharedLayout<D>::offset(column)];
    }
}

// sum[r][c] += a[r][k] b[k][c] over k < K. `a` points to the thread's first row, the next is GROUPS rows further; `b` points to
// the thread's first column.
template <int R, int C, int K, int STRIDE_B>
__device__ __forceinline__ void multiply(float (&sum)[R][C], const float* a, const float* b) {
#pragma unroll 2
    for (int k = 0; k < K; k += 4) {
        float left[R][4];
#pragma unroll
        for (int r = 0; r < R; r++)
            *(float4*)left[r] = *(const float4*)&a[r * GROUPS * SharedLayout<K>::STRIDE + SharedLayout<K>::offset(k)];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float right[C];
#pragma unroll
            for (int c = 0; c < C; c += 4) *(float4*)&right[c] = *(const float4*)&b[(k + j) * STRIDE_B + c];
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int c = 0; c < C; c++) sum[r][c] += left[r][j] * right[c];
        }
    }
}

// The same product where `a` is stored transposed, a[k][r]: the thread's R rows are consecutive, 1, 2 or 4 of them.
template <int R, int C, int K, int STRIDE_A, int STRIDE_B>
__device__ __forceinline__ void multiply_transposed(float (&sum)[R][C], const float* a, const float* b) {
#pragma unroll 2
    for (int k = 0; k < K; k++) {
        float left[R], right[C];
        if (R % 4 == 0) *(float4*)left = *(const float4*)&a[k * STRIDE_A];
        else if (R % 2 == 0) *(float2*)left = *(const float2*)&a[k * STRIDE_A];
        else left[0] = a[k * STRIDE_A];
#pragma unroll
        for (int c = 0; c < C; c += 4) *(float4*)&right[c] = *(const float4*)&b[k * STRIDE_B + c];
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < C; c++) sum[r][c] += left[r] * right[c];
    }
}

// Registers to shared memory: C consecutive numbers of a row.
template <int C> __device__ __forceinline__ void store_fragment(float* tile, const float (&row)[C]) {
#pragma unroll
    for (int c = 0; c < C; c += 4) *(float4*)&tile[c] = *(const float4*)&row[c];
}
