// RMSNorm: each row divided by its root mean square. Forward and backward. (Zhang and Sennrich 2019)
//
// Promise: y = x rstd weight for each row of x (rows, C), rstd = 1 / sqrt(mean(x^2) + eps) kept. dx, and for each block the sum of
//   dy xhat over its rows as a row of `partial` (gridDim.x, C), which reduce_columns.cu adds up to dweight: no atomics, and the
//   bits are the same on every run. y may be x, and dx may be dy or x.
// Limits: those of layernorm_forward in layernorm.cu.
// Bytes: 8 n forward, 12 n backward, n = rows C; and 4 bytes a row, the weight for each block.
//   FLOPs: about 4 n forward, 9 n backward.
// Architectures: sm_75 and newer.
// Chapter: 07, built.
#include "reduce.cuh"
#include "row.cuh"

// A block takes every gridDim.x-th row and keeps it and the weight in registers. One sum instead of LayerNorm's two.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
rmsnorm_forward(const float* x, const float* weight, float* y, float* rstd, int rows, int C, float eps) {
    Row<THREADS, N, ITEMS> w, own;
    w.load(weight, C);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(x + (long long)row * C, C);
        float squares = 0.0f;
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) squares += own[e] * own[e];
        const float r = rsqrtf(block_sum<THREADS>(squares) / C + eps);
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) own[e] *= r * w[e];
        own.store(y + (long long)row * C, C);
        if (threadIdx.x == 0) rstd[row] = r;
    }
}

// With xhat = x rstd and g = dy weight: g minus its component along xhat, the direction that normalising removed.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
rmsnorm_backward(const float* dy, const float* x, const float* weight, const float* rstd, float* dx, float* partial, int rows,
                 int C) {
    Row<THREADS, N, ITEMS> w, own, d, dweight;
    w.load(weight, C);
    dweight.fill(0.0f);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(x + (long long)row * C, C);
        d.load(dy + (long long)row * C, C);
        const float r = rstd[row];
        float along = 0.0f;
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) {
            own[e] *= r;  // xhat
            dweight[e] += d[e] * own[e];
            along += d[e] * w[e] * own[e];
        }
        along = block_sum<THREADS>(along) / C;
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) own[e] = (d[e] * w[e] - own[e] * along) * r;
        own.store(dx + (long long)row * C, C);
    }
    dweight.store(partial + (long long)blockIdx.x * C, C);
}
