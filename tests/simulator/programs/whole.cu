// A program that uses what most programs use of CUDA, and compares all that comes out. It prints "right" and ends with 7.
#include <cstdlib>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>

#include "helpers.h"

#define LAUNCH(KERNEL, N, ...) KERNEL<<<((N) + 127) / 128, 128>>>(__VA_ARGS__)  // a launch inside a macro

__constant__ float weights[4];
__device__ int counter;

template <class T> __global__ void scale(T* x, T factor, int n) {  // its type is deduced at the launch
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
template <int SIZE, class T> __global__ void reversed(T* x) {  // one argument named, one deduced
    __shared__ T tile[SIZE];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[SIZE - 1 - threadIdx.x];
}
__global__ void total(const float* x, float* sum, int n, const float* bias) {
    extern __shared__ float partial[];
    float mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
    partial[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *sum = partial[0] + (bias ? *bias : 0);
}
namespace tools {
struct Pair { int first; float second; };
__global__ void fill(float* x, Pair pair) {
    x[threadIdx.x] = pair.first + pair.second * weights[threadIdx.x % 4];
    atomicAdd(&counter, 1);
}
}
__global__ void greet(int n) { printf("device %d\n", n + (int)threadIdx.x); }

void expect(bool fine, const char* what) {
    if (fine) return;
    printf("wrong: %s\n", what);
    exit(3);
}

int main(int argc, char** argv) {
    expect(argc == 3 && std::string(argv[2]) == "two words", "arguments");
    const int n = 1000;
    std::vector<float> host(n, 2.0f);
    float *device, *managed, *pinned, sum;
    check(cudaMalloc(&device, n * sizeof(float)));
    check(cudaMallocManaged(&managed, 64 * sizeof(float)));
    check(cudaMallocHost((void**)&pinned, 64 * sizeof(float)));
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    check(cudaMemcpyAsync(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    LAUNCH(scale, n, device, 1.5f, n);
    total<<<1, 256, 256 * sizeof(float), stream>>>(device, managed, n, NULL);
    check(cudaDeviceSynchronize());
    expect(managed[0] == 3000.0f, "sum");  // exact: multiples of 3 below 2^24

    const float numbers[4] = {1, 2, 3, 4};
    check(cudaMemcpyToSymbol(weights, numbers, sizeof numbers));
    tools::fill<<<1, 64>>>(managed, tools::Pair{10, 0.5f});
    reversed<64><<<dim3(1), dim3(64)>>>(managed);
    check(cudaMemcpy(pinned, managed, 64 * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < 64; i++) expect(pinned[i] == 10 + 0.5f * numbers[(63 - i) % 4], "reversed");
    int count;
    check(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    expect(count == 64, "counter");
    void (*kernels[])(int) = {greet};
    kernels[0]<<<1, 2>>>(40);

    cudaMemPool_t pool;
    uint64_t kept = UINT64_MAX;
    float *ordered;
    check(cudaDeviceGetDefaultMemPool(&pool, 0));
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    check(cudaMallocFromPoolAsync(&ordered, 4 * sizeof(float), pool, stream));
    check(cudaMemcpyAsync(ordered, numbers, sizeof numbers, cudaMemcpyHostToDevice, stream));
    check(cudaMemcpyAsync(pinned, ordered, sizeof numbers, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(ordered, stream));
    check(cudaStreamSynchronize(stream));
    expect(pinned[3] == 4, "ordered allocation");

    int first = 50;
    void* arguments[] = {&first};
    check(cudaLaunchKernel((const void*)greet, dim3(1), dim3(1), arguments, 0, stream));
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    check(cudaEventRecord(start));
    check(cudaEventRecord(stop));
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, start, stop));
    expect(milliseconds > 0, "time");

    greet<<<1, 2048>>>(0);  // no block has so many threads
    expect(cudaPeekAtLastError() == cudaErrorInvalidConfiguration, "configuration");
    expect(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess, "last error");
    expect(std::string(cudaGetErrorName(cudaErrorInvalidConfiguration)) == "cudaErrorInvalidConfiguration", "name");
    cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0));
    check(cudaMemset(device, 0, n * sizeof(float)));
    check(cudaMemcpy(&sum, device + n - 1, sizeof sum, cudaMemcpyDeviceToHost));
    expect(sum == 0, "memset");
    check(cudaFree(device));
    check(cudaFree(managed));
    check(cudaFreeHost(pinned));
    std::cout << card.name << ", " << card.multiProcessorCount << " multiprocessors: right" << std::endl;
    return 7;
}
