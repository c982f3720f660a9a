// Bias and GELU in one pass: the activation between the two matrices of the MLP. Forward and backward.
//
// Promise: y = gelu(x + bias), x (rows, F), bias (F); dx likewise, and for each row of blocks the sum of its dx as one row of
//   `partial` (gridDim.y, F). reduce_columns.cu adds those up to dbias, so there are no atomics, and the bits are the same on
//   every run.
// Limits: F and each array's size below 2^31. N = 4 needs F divisible by 4 and arrays that begin at a multiple of 16 bytes.
// Bytes: 8 n forward, 12 n backward, n = rows F; and 4 F for each row of blocks. Apart, the two ops would move 16 n and 20 n.
//   FLOPs: about 20 n forward, 30 n backward.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "gelu.cuh"
#include "vector.cuh"

// A thread owns N consecutive columns, keeps their bias in registers, and loops over every gridDim.y-th row.
template <int N> __global__ void bias_gelu_forward(const float* x, const float* bias, float* y, int rows, int F) {
    const int f = N * (blockIdx.x * blockDim.x + threadIdx.x);
    if (f >= F) return;
    const Pack<float, N> b = *(const Pack<float, N>*)(bias + f);
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + (long long)row * F + f);
        for (int j = 0; j < N; j++) p.item[j] = gelu(p.item[j] + b.item[j]);
        *(Pack<float, N>*)(y + (long long)row * F + f) = p;
    }
}

// The same threads again: the gradient of a bias is the sum of its column of dx, which is in registers here anyway.
template <int N>
__global__ void bias_gelu_backward(const float* dy, const float* x, const float* bias, float* dx, float* partial, int rows,
                                   int F) {
    const int f = N * (blockIdx.x * blockDim.x + threadIdx.x);
    if (f >= F) return;
    const Pack<float, N> b = *(const Pack<float, N>*)(bias + f);
    Pack<float, N> sum = {};
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const long long i = (long long)row * F + f;
        Pack<float, N> p = *(const Pack<float, N>*)(x + i), d = *(const Pack<float, N>*)(dy + i);
        for (int j = 0; j < N; j++) {
            d.item[j] *= gelu_grad(p.item[j] + b.item[j]);
            sum.item[j] += d.item[j];
        }
        *(Pack<float, N>*)(dx + i) = d;
    }
    *(Pack<float, N>*)(partial + (long long)blockIdx.y * F + f) = sum;
}
