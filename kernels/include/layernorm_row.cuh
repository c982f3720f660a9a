// LayerNorm of one row in registers, forward and backward: what layernorm.cu and residual_layernorm.cu share.
// (Ba, Kiros and Hinton 2016)
//
//   normalise(x, weight, bias, C, eps, mean, rstd)        x becomes y; mean and rstd = 1 / sqrt(variance + eps) are set
//   normalise_backward(x, dy, weight, dweight, dbias, C, mean, rstd)       x becomes dx; dweight and dbias gain this row's part
//
// All are Row<THREADS, N, ITEMS>. Architectures: all.
#pragma once
#include "reduce.cuh"
#include "row.cuh"

// The variance is the mean of (x - mean)^2, from registers: the shortcut mean(x^2) - mean^2 would lose most digits where the
// mean is large (cancellation).
template <int THREADS, int N, int ITEMS>
__device__ __forceinline__ void normalise(Row<THREADS, N, ITEMS>& x, const Row<THREADS, N, ITEMS>& weight,
                                          const Row<THREADS, N, ITEMS>& bias, int C, float eps, float& mean, float& rstd) {
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int e = 0; e < x.COUNT; e++) sum += x[e];  // 0 beyond the row
    mean = block_sum<THREADS>(sum) / C;
#pragma unroll
    for (int e = 0; e < x.COUNT; e++) {
        x[e] -= mean;
        if (x.column(e) < C) squares += x[e] * x[e];
    }
    rstd = rsqrtf(block_sum<THREADS>(squares) / C + eps);
#pragma unroll
    for (int e = 0; e < x.COUNT; e++) x[e] = x[e] * rstd * weight[e] + bias[e];
}

// With xhat the normalised row and g = dy weight: g minus its components along the two directions that normalising removed, the
// constant one (the mean of g) and that of xhat (the mean of g xhat).
template <int THREADS, int N, int ITEMS>
__device__ __forceinline__ void normalise_backward(Row<THREADS, N, ITEMS>& x, const Row<THREADS, N, ITEMS>& dy,
                                                   const Row<THREADS, N, ITEMS>& weight, Row<THREADS, N, ITEMS>& dweight,
                                                   Row<THREADS, N, ITEMS>& dbias, int C, float mean, float rstd) {
    float constant = 0.0f, along = 0.0f;
#pragma unroll
    for (int e = 0; e < x.COUNT; e++) {
        x[e] = (x[e] - mean) * rstd;  // xhat; beyond the row dy is zero, so nothing counts there
        dweight[e] += dy[e] * x[e];
        dbias[e] += dy[e];
        constant += dy[e] * weight[e];
        along += dy[e] * weight[e] * x[e];
    }
    constant = block_sum<THREADS>(constant) / C;
    along = block_sum<THREADS>(along) / C;
#pragma unroll
    for (int e = 0; e < x.COUNT; e++) x[e] = (dy[e] * weight[e] - constant - x[e] * along) * rstd;
}
