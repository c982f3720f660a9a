// Residual and LayerNorm in one pass: total = x + residual, y = LayerNorm(total). Forward and backward.
//
// Promise: as layernorm.cu, of the sum of two arrays; the sum is kept as `total`, which goes on to the next block of the model.
//   Backward, dx is the gradient of x and of residual alike: that of the norm, plus dtotal where total was used (may be null).
//   Bits the same on every run. total may be x or residual, and dx may be dy, dtotal or total.
// Limits: those of layernorm_forward in layernorm.cu.
// Bytes: 16 n forward, 16 n backward (12 n without dtotal); apart, the two ops would move 20 n and 24 n.
//   FLOPs: about 9 n forward, 15 n backward.
// Architectures: sm_75 and newer.
// Chapter: 07, built.
#include "layernorm_row.cuh"

// A block takes every gridDim.x-th row and keeps it, weight and bias in registers.
template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
residual_layernorm_forward(const float* x, const float* residual, const float* weight, const float* bias, float* y,
                           float* total, float* mean, float* rstd, int rows, int C, float eps) {
    Row<THREADS, N, ITEMS> w, b, own, other;
    w.load(weight, C);
    if (bias) b.load(bias, C);
    else b.fill(0.0f);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(x + (long long)row * C, C);
        other.load(residual + (long long)row * C, C);
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) own[e] += other[e];
        own.store(total + (long long)row * C, C);
        float m, r;
        normalise(own, w, b, C, eps, m, r);
        own.store(y + (long long)row * C, C);
        if (threadIdx.x == 0) mean[row] = m, rstd[row] = r;
    }
}

template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS)
residual_layernorm_backward(const float* dy, const float* dtotal, const float* total, const float* weight, const float* mean,
                            const float* rstd, float* dx, float* partial, int rows, int C, bool has_bias) {
    Row<THREADS, N, ITEMS> w, own, d, passed, dweight, dbias;
    w.load(weight, C);
    passed.fill(0.0f);
    dweight.fill(0.0f);
    dbias.fill(0.0f);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(total + (long long)row * C, C);
        d.load(dy + (long long)row * C, C);
        if (dtotal) passed.load(dtotal + (long long)row * C, C);
        normalise_backward(own, d, w, dweight, dbias, C, mean[row], rstd[row]);
#pragma unroll
        for (int e = 0; e < own.COUNT; e++) own[e] += passed[e];  // the gradients of both uses of total add up
        own.store(dx + (long long)row * C, C);
    }
    float* sums = partial + (long long)blockIdx.x * (has_bias ? 2 * C : C);
    dweight.store(sums, C);
    if (has_bias) dbias.store(sums + C, C);
}
