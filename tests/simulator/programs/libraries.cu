// A matrix product of cuBLAS against plain sums in double, ragged and transposed; and cuda::barrier, with NO_WAIT without the
// first of its waits.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda/barrier>

__global__ void reversed(int* x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[64];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        cuda::memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(int), barrier);
#ifndef NO_WAIT
        barrier.arrive_and_wait();
#endif
        int mine = tile[63 - threadIdx.x] + 1;
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        x[threadIdx.x] = mine;
    }
}

bool product_is_right(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b) {
    const int m = 5, n = 3, k = 7;
    const float alpha = 0.5f, beta = 2;
    float a[m * k], b[k * n], c[m * n], before[m * n], *device[3];
    for (float& x : a) x = rand() / float(RAND_MAX);
    for (float& x : b) x = rand() / float(RAND_MAX);
    for (float& x : before) x = rand() / float(RAND_MAX);
    cudaMalloc(&device[0], sizeof a);
    cudaMalloc(&device[1], sizeof b);
    cudaMalloc(&device[2], sizeof c);
    cudaMemcpy(device[0], a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(device[1], b, sizeof b, cudaMemcpyHostToDevice);
    cudaMemcpy(device[2], before, sizeof c, cudaMemcpyHostToDevice);
    cublasSgemm(handle, of_a, of_b, m, n, k, &alpha, device[0], of_a ? k : m, device[1], of_b ? n : k, &beta, device[2], m);
    cudaMemcpy(c, device[2], sizeof c, cudaMemcpyDeviceToHost);
    for (float* one : device) cudaFree(one);
    double worst = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++) sum += double(of_a ? a[p + i * k] : a[i + p * m]) * (of_b ? b[j + p * n] : b[p + j * k]);
            worst = std::fmax(worst, std::fabs(c[i + j * m] - (alpha * sum + beta * before[i + j * m])));
        }
    return worst < 1e-5;
}

int main() {
    cublasHandle_t handle;
    cublasCreate(&handle);
    for (auto of_a : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (auto of_b : {CUBLAS_OP_N, CUBLAS_OP_T})
            if (!product_is_right(handle, of_a, of_b)) return 4;
    cublasDestroy(handle);
    int host[64], *x;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    reversed<<<1, 64>>>(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    for (int i = 0; i < 64; i++)
        if (host[i] != 63 - i + 3) return 5;
    return 0;
}
