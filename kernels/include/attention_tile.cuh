// What the flash attention kernels share: tiles of q, k, v in shared memory, and the product of two tiles in registers.
//
// A block has 64 threads: 16 groups of 4 lanes. A group owns some rows of a product, and each of its lanes a quarter of their
// columns, so what a thread holds is a small rectangle of the result, and every number it loads is used several times.
//
// In shared memory a row of 64 or more numbers has 4 floats of padding after each quarter: its four quarters then begin in
// different banks. In shorter rows they do so anyway.
//
// Architectures: sm_75 and newer.
#pragma once

constexpr int GROUPS = 16, LANES = 4, THREADS = GROUPS * LANES;

// Where the numbers of a row of N lie in shared memory. WIDTH from row to row, TURNED_WIDTH if the rows are columns of a matrix.
template <int N> struct Quarters {
    static constexpr int QUARTER = N / LANES, PADDING = N > 32 ? 4 : 0;
    static constexpr int WIDTH = N + (PADDING ? LANES * PADDING : 4), TURNED_WIDTH = N + LANES * PADDING + 4;
    static __device__ __forceinline__ int place(int i) { return i + i / QUARTER * PADDING; }
};

// The place of a thread's i-th number in a tile of ROWS x D: a warp takes SPAN neighbours of a row, or of two rows, so that it
// moves whole sectors of memory and meets every bank once.
template <int ROWS, int D> __device__ __forceinline__ void share(int i, int& row, int& column) {
    constexpr int SPAN = Quarters<D>::PADDING && Quarters<D>::QUARTER < 32 ? Quarters<D>::QUARTER : 32;
    row = i / SPAN % ROWS;
    column = i % SPAN + i / (SPAN * ROWS) * SPAN;
}

// ROWS rows of up to D numbers, `stride` apart in memory, to tile[row][place(d)]. Rows from `rows` on and columns from `d` on
// become 0.
template <int ROWS, int D>
__device__ __forceinline__ void load_rows(float* tile, const float* x, int stride, int rows, int d) {
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
        int row, column;
        share<ROWS, D>(i, row, column);
        tile[row * Quarters<D>::WIDTH + Quarters<D>::place(column)] =
            row < rows && column < d ? x[(long long)row * stride + column] : 0.0f;
    }
}

// The same to tile[d][place(row)]. A warp takes 8 columns of 4 rows: whole sectors from memory, and every bank once.
template <int ROWS, int D>
__device__ __forceinline__ void load_turned(float* tile, const float* x, int stride, int rows, int d) {
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
        int column = i % 8 + i / (8 * ROWS) * 8, row = i / 8 % ROWS;
        tile[column * Quarters<ROWS>::TURNED_WIDTH + Quarters<ROWS>::place(row)] =
            row < rows && column < d ? x[(long long)row * stride + column] : 0.0f;
    }
}

// The way back: rows of a tile to memory.
template <int ROWS, int D>
__device__ __forceinline__ void store_rows(float* x, int stride, int rows, int d, const float* tile) {
    for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
        int row, column;
        share<ROWS, D>(i, row, column);
        if (row < rows && column < d)
            x[(long long)row * stride + column] = tile[row * Quarters<D>::WIDTH + Quarters<D>::place(column)];
    }
}

// sum[r][c] += a[r][k] b[k][c] over k < K. `a` points to the thread's first row, the next is GROUPS rows further; `b` points to
// the thread's first column.
template <int R, int C, int K, int WIDTH_B>
__device__ __forceinline__ void multiply(float (&sum)[R][C], const float* a, const float* b) {
#pragma unroll 2
    for (int k = 0; k < K; k += 4) {
        float left[R][4];
#pragma unroll
        for (int r = 0; r < R; r++)
            *(float4*)left[r] = *(const float4*)&a[r * GROUPS * Quarters<K>::WIDTH + Quarters<K>::place(k)];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float right[C];
#pragma unroll
            for (int c = 0; c < C; c += 4) *(float4*)&right[c] = *(const float4*)&b[(k + j) * WIDTH_B + c];
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int c = 0; c < C; c++) sum[r][c] += left[r][j] * right[c];
        }
    }
}

// The same product where `a` is stored with k along its columns: a[k][r], the thread's rows are neighbours, 1, 2 or 4 of them.
template <int R, int C, int K, int WIDTH_A, int WIDTH_B>
__device__ __forceinline__ void multiply_turned(float (&sum)[R][C], const float* a, const float* b) {
#pragma unroll 2
    for (int k = 0; k < K; k++) {
        float left[R], right[C];
        if (R % 4 == 0) *(float4*)left = *(const float4*)&a[k * WIDTH_A];
        else if (R % 2 == 0) *(float2*)left = *(const float2*)&a[k * WIDTH_A];
        else left[0] = a[k * WIDTH_A];
#pragma unroll
        for (int c = 0; c < C; c += 4) *(float4*)&right[c] = *(const float4*)&b[k * WIDTH_B + c];
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < C; c++) sum[r][c] += left[r] * right[c];
    }
}

// C neighbours of a row in registers to shared memory.
template <int C> __device__ __forceinline__ void put(float* tile, const float (&row)[C]) {
#pragma unroll
    for (int c = 0; c < C; c += 4) *(float4*)&tile[c] = *(const float4*)&row[c];
}
