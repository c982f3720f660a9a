// LayerNorm: forward in two versions, and backward. (Ba, Kiros and Hinton 2016)
//
// Promise: y = (x - mean) rstd weight + bias for each row of x (rows, C), with mean and rstd = 1 / sqrt(variance + eps) kept;
//   bias may be null. dx, and for each block the sums of dy xhat and of dy over its rows as a row of `partial` (gridDim.x, 2C;
//   without a bias (gridDim.x, C)), which reduce_columns.cu adds up to dweight and dbias: no atomics, and the bits are the same
//   on every run. y may be x, and dx may be dy or x.
// Limits: rows C below 2^31; C up to THREADS N ITEMS (version 1: any C); N = 4 needs C divisible by 4 and arrays that begin at a
//   multiple of 16 bytes.
// Bytes: forward 16 n (version 1), 8 n; backward 12 n; n = rows C. And 8 bytes a row, weight and bias for each block.
//   FLOPs: about 8 n forward, 14 n backward.
// Architectures: sm_75 and newer.
// Chapter: 07, built.
#include "layernorm_row.cuh"

// The formula step by step. A block owns a row and reads it three times: for the mean, for the variance, and to write y.
template <int THREADS>
__global__ void layernorm_1_three_pass(const float* x, const float* weight, const float* bias, float* y, float* mean, float* rstd,
                                       int C, float eps) {
    x += (long long)blockIdx.x * C;
    y += (long long)blockIdx.x * C;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < C; c += THREADS) sum += x[c];
    const float m = block_sum<THREADS>(sum) / C;
    for (int c = threadIdx.x; c < C; c += THREADS) squares += (x[c] - m) * (x[c] - m);
    const float r = rsqrtf(block_sum<THREADS>(squares) / C + eps);
    for (int c = threadIdx.x; c < C; c += THREADS) y[c] = (x[c] - m) * r * weight[c] + (bias ? bias[c] : 0.0f);
    if (threadIdx.x == 0) mean[blockIdx.x] = m, rstd[blockIdx.x] = r;
}

// The row stays in registers, weight and bias too, and a block takes every gridDim.x-th row. Gained: x is read once, and weight
// and bias once per block instead of once per row.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
layernorm_forward(const float* x, const float* weight, const float* bias, float* y, float* mean, float* rstd, int rows, int C,
                  float eps) {
    Row<THREADS, N, ITEMS> w, b, own;
    w.load(weight, C);
    if (bias) b.load(bias, C);
    else b.fill(0.0f);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(x + (long long)row * C, C);
        float m, r;
        normalise(own, w, b, C, eps, m, r);
        own.store(y + (long long)row * C, C);
        if (threadIdx.x == 0) mean[row] = m, rstd[row] = r;
    }
}

// The same rows again. The gradients of weight and bias stay in registers until the block's last row.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
layernorm_backward(const float* dy, const float* x, const float* weight, const float* mean, const float* rstd, float* dx,
                   float* partial, int rows, int C, bool has_bias) {
    Row<THREADS, N, ITEMS> w, own, d, dweight, dbias;
    w.load(weight, C);
    dweight.fill(0.0f);
    dbias.fill(0.0f);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(x + (long long)row * C, C);
        d.load(dy + (long long)row * C, C);
        normalise_backward(own, d, w, dweight, dbias, C, mean[row], rstd[row]);
        own.store(dx + (long long)row * C, C);
    }
    float* sums = partial + (long long)blockIdx.x * (has_bias ? 2 * C : C);
    dweight.store(sums, C);
    if (has_bias) dbias.store(sums + C, C);
}
