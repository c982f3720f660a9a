// Softmax over the last axis, with or without a causal mask: three versions forward, two backward.
//
// Promise: y[row][c] = exp(x[row][c] - m) / sum of the same, m the row's largest element, so nothing overflows. Causal
//   (T > 0): rows come in matrices of T, and row t of one sees columns 0 .. S - T + t; the rest of y is 0.
//   dx = y (dy - sum of y dy). y may be x, and dx may be dy or y. Bits the same on every run.
// Limits: rows S below 2^31. softmax_forward and softmax_backward keep a row in registers: S up to THREADS N ITEMS, N = 4 needs
//   S divisible by 4 and arrays that begin at a multiple of 16 bytes. The other versions take any S.
// Bytes: forward 16 n, 12 n, 8 n by version; backward 20 n, 12 n.   FLOPs: about 15 n forward, 4 n backward.
// Architectures: sm_75 and newer.
// Chapter: 06, built. All but softmax_backward, that is; this is read.
#include "online_softmax.cuh"
#include "reduce.cuh"
#include "row.cuh"

// How many columns of a row are not masked.
__device__ __forceinline__ int visible(int row, int S, int T) { return T > 0 ? S - T + row % T + 1 : S; }

// The formula step by step: the maximum, then the sum, then the quotients. A block owns a row and reads it three times.
template <int THREADS> __global__ void softmax_1_three_pass(const float* x, float* y, int S, int T) {
    const int seen = visible(blockIdx.x, S, T);
    x += (long long)blockIdx.x * S;
    y += (long long)blockIdx.x * S;
    float m = -INFINITY, l = 0.0f;
    for (int c = threadIdx.x; c < seen; c += THREADS) m = Max::of(m, x[c]);
    m = block_max<THREADS>(m);
    for (int c = threadIdx.x; c < seen; c += THREADS) l += expf(x[c] - m);
    l = block_sum<THREADS>(l);
    for (int c = threadIdx.x; c < S; c += THREADS) y[c] = c < seen ? expf(x[c] - m) / l : 0.0f;
}

// Online softmax: a thread rescales its running sum whenever its running maximum grows, so the first two passes are one.
// Gained: a row is read twice instead of three times, with one block reduction instead of two.
template <int THREADS> __global__ void softmax_2_online(const float* x, float* y, int S, int T) {
    const int seen = visible(blockIdx.x, S, T);
    x += (long long)blockIdx.x * S;
    y += (long long)blockIdx.x * S;
    OnlineSoftmax part = nothing_seen();
    for (int c = threadIdx.x; c < seen; c += THREADS) part = see(part, x[c]);
    part = block_merge<THREADS>(part);
    for (int c = threadIdx.x; c < S; c += THREADS) y[c] = c < seen ? expf(x[c] - part.m) / part.l : 0.0f;
}

// The row stays in registers between the passes. Gained: it is read once, four elements to an instruction; and with THREADS = 32
// a row is a warp's, which needs neither shared memory nor a barrier. Masked columns are not read at all.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
softmax_forward(const float* x, float* y, int rows, int S, int T) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const int seen = visible(row, S, T);
        Row<THREADS, N, ITEMS> own;
        own.load(x + (long long)row * S, seen, -INFINITY);
        float m = -INFINITY, l = 0.0f;
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) {
            if (own.column(e) >= seen) own[e] = -INFINITY;  // a pack may extend across the mask's edge
            m = Max::of(m, own[e]);
        }
        m = block_max<THREADS>(m);
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) {
            own[e] = own.column(e) < seen ? expf(own[e] - m) : 0.0f;
            l += own[e];
        }
        l = block_sum<THREADS>(l);
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) own[e] /= l;
        own.store(y + (long long)row * S, S);
    }
}

// Backward: the sum of y dy, then dx. A masked y is 0, and so is its dx.
template <int THREADS> __global__ void softmax_backward_1_two_pass(const float* dy, const float* y, float* dx, int S) {
    dy += (long long)blockIdx.x * S;
    y += (long long)blockIdx.x * S;
    dx += (long long)blockIdx.x * S;
    float dot = 0.0f;
    for (int c = threadIdx.x; c < S; c += THREADS) dot += y[c] * dy[c];
    dot = block_sum<THREADS>(dot);
    for (int c = threadIdx.x; c < S; c += THREADS) dx[c] = y[c] * (dy[c] - dot);
}

// Both rows in registers. Gained: each is read once.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
softmax_backward(const float* dy, const float* y, float* dx, int rows, int S) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        Row<THREADS, N, ITEMS> p, d;
        p.load(y + (long long)row * S, S);
        d.load(dy + (long long)row * S, S);
        float dot = 0.0f;
#pragma unroll
        for (int e = 0; e < p.COUNT; e++) dot += p[e] * d[e];
        dot = block_sum<THREADS>(dot);
#pragma unroll
        for (int e = 0; e < p.COUNT; e++) d[e] = p[e] * (d[e] - dot);
        d.store(dx + (long long)row * S, S);
    }
}
