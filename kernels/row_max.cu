// The largest element of each row.
//
// Promise: y[row] = max of x[row], x (rows, C); nan counts as larger than all. Bits the same on every run.
// Limits: rows C below 2^31. N = 4 needs C divisible by 4 and an x that begins at a multiple of 16 bytes.
// Bytes: 4 rows C + 4 rows.   FLOPs: rows C comparisons.
// Architectures: sm_75 and newer.
// Chapter: 06, built.
#include "reduce.cuh"
#include "vector.cuh"

// A block of THREADS = blockDim.x owns a row: 32 threads, a warp, for rows of hundreds; more for longer ones. A thread reads
// every THREADS-th pack of N consecutive elements, then the block reduces the maxima of its threads.
template <int THREADS, int N> __global__ void row_max(const float* x, float* y, int C) {
    const float* row = x + (long long)blockIdx.x * C;
    float m = -INFINITY;
    for (int c = N * threadIdx.x; c < C; c += N * THREADS) {
        const Pack<float, N> p = *(const Pack<float, N>*)(row + c);
        for (int j = 0; j < N; j++) m = Max::of(m, p.item[j]);
    }
    m = block_max<THREADS>(m);
    if (threadIdx.x == 0) y[blockIdx.x] = m;
}
