// The largest element of each row.
//
// Promise: y[row] = max of x[row], x (rows, C); a nan counts as larger than all. Bits the same on every run.
// Limits: rows C below 2^31. N = 4 wants C divisible by 4 and an x that begins at a multiple of 16 bytes.
// Bytes: 4 rows C + 4 rows.   FLOPs: rows C comparisons.
// Architectures: sm_75 and newer.
// Chapter: 06, built.
#include "reduce.cuh"
#include "vector.cuh"

// A block of THREADS = blockDim.x owns a row: 32 threads, a warp, for rows of hundreds; more for longer ones. A thread looks at
// every THREADS-th pack of N neighbours, then the block compares what its threads found.
template <int THREADS, int N> __global__ void row_max(const float* x, float* y, int C) {
    const float* row = x + (long long)blockIdx.x * C;
    float top = -INFINITY;
    for (int c = N * threadIdx.x; c < C; c += N * THREADS) {
        const Pack<float, N> p = *(const Pack<float, N>*)(row + c);
        for (int j = 0; j < N; j++) top = Max::of(top, p.item[j]);
    }
    top = block_max<THREADS>(top);
    if (threadIdx.x == 0) y[blockIdx.x] = top;
}
