// The last step of a split-K product: the sum of the partial products of gemm.cu.
//
// Promise: C[i] = partial[0][i] + partial[1][i] + ..., in this order: the same bits on every run, without atomics.
// Limits: fewer than 2^31 elements in C.
// Bytes: 4 n (splits + 1).   FLOPs: n (splits - 1).
// Architectures: sm_75 and newer.
// Chapter: 09, built.

// Thread i owns element i of C. partial (splits, n), C (n).
extern "C" __global__ void gemm_split_sum(const float* partial, float* C, int n, int splits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = partial[i];
    for (int split = 1; split < splits; split++) sum += partial[(size_t)split * n + i];
    C[i] = sum;
}
