// A matrix product of cuBLAS against plain sums in double, ragged and transposed; its vectors; and cuda::barrier, with NO_WAIT
// without the first of its waits.
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

// Every second element, and a part of a matrix that has five rows.
bool vectors_are_right(cublasHandle_t handle) {
    float x[] = {1, -1, 2, -1, 3}, y[] = {4, 5, 6}, back[6] = {0, 9, 0, 9, 0, 9}, matrix[10], part[4], *a, *b, dot;
    cudaMalloc(&a, 10 * sizeof(float));
    cudaMalloc(&b, 4 * sizeof(float));
    for (int i = 0; i < 10; i++) matrix[i] = i;
    cublasSetVector(3, sizeof(float), x, 2, a, 1);
    cublasSetVector(3, sizeof(float), y, 1, b, 1);
    cublasSdot(handle, 3, a, 1, b, 1, &dot);
    cublasScopy(handle, 3, b, 1, a, 1);
    cublasGetVector(3, sizeof(float), a, 1, back, 2);
    cublasSetMatrix(5, 2, sizeof(float), matrix, 5, a, 5);
    cublasGetMatrix(2, 2, sizeof(float), a + 3, 5, part, 2);
    cudaFree(a);
    cudaFree(b);
    return dot == 32 && back[0] == 4 && back[2] == 5 && back[4] == 6 && back[1] == 9 && part[0] == 3 && part[1] == 4 &&
           part[2] == 8 && part[3] == 9;
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
    if (!vectors_are_right(handle)) return 5;
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
