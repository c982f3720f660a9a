// Logsumexp: log(sum(exp(x))) of each row, in one pass and without overflow.
//
// Promise: y[row] = logsumexp of x[row], x (rows, C), in nats. Bits the same on every run.
// Limits: rows C below 2^31. N = 4 needs C divisible by 4 and an x that begins at a multiple of 16 bytes.
// Bytes: 4 rows C + 4 rows.   FLOPs: about 10 rows C.
// Architectures: sm_75 and newer.
// Chapter: 06, built.
#include "online_softmax.cuh"
#include "vector.cuh"

// A block of THREADS = blockDim.x owns a row, as in row_max.cu; each thread keeps a running maximum and a running sum.
template <int THREADS, int N> __global__ void row_logsumexp(const float* x, float* y, int C) {
    const float* row = x + (long long)blockIdx.x * C;
    OnlineSoftmax part = nothing_seen();
    for (int c = N * threadIdx.x; c < C; c += N * THREADS) {
        const Pack<float, N> p = *(const Pack<float, N>*)(row + c);
        for (int j = 0; j < N; j++) part = see(part, p.item[j]);
    }
    part = block_merge<THREADS>(part);
    if (threadIdx.x == 0) y[blockIdx.x] = logsumexp(part);
}
