// Blocks that wait for each other: right and wrong.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__device__ int counter;
// Sums x over the grid, twice: each block leaves its sum, all wait, the first block adds them, all wait, each reads the total.
template <int THREADS> __global__ void total(const float* x, float* sums, float* y, int n) {
    cg::grid_group grid = cg::this_grid();
    __shared__ float part[THREADS];
    part[threadIdx.x] = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) part[threadIdx.x] += x[i];
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
    grid.sync();
    if (grid.thread_rank() == 0) {
        float all = 0;
        for (int i = 0; i < gridDim.x; i++) all += sums[i];
        sums[0] = all;
    }
    cg::sync(grid);
    if (threadIdx.x == 0) y[blockIdx.x] = sums[0] + part[0];
}
__global__ void racy(float* sums) {
    auto grid = cg::this_grid();
    sums[grid.thread_rank()] = 1;
    grid.sync();
    sums[(grid.thread_rank() + 32) % grid.size()] += 1;
    sums[grid.thread_rank()] += 1;  // expect: race
}
__global__ void leaves(float* sums) {
    auto grid = cg::this_grid();
    if (blockIdx.x == 1) return;
    grid.sync();  // expect: missed-barrier
    sums[0] = 1;
}
__global__ void alone(float* sums) {
    sums[threadIdx.x] = cg::this_grid().is_valid();
    cg::this_grid().sync();  // expect: crash
}
int main() {
    float *x, *sums, *y; int n = 1000; const int B = 7;
    cudaMallocManaged(&x, n * 4); cudaMallocManaged(&sums, 4 * 32 * B); cudaMallocManaged(&y, 4 * B);
    for (int i = 0; i < n; i++) x[i] = i % 10;
    void* args[] = {&x, &sums, &y, &n};
    printf("%d\n", cudaLaunchCooperativeKernel(total<64>, B, 64, args));
    printf("%d\n", cudaLaunchCooperativeKernel((void*)total<64>, B, 64, args, 0, 0));
    cudaDeviceSynchronize();
    for (int i = 0; i < B; i++) printf("%g ", y[i] - y[0]);
    printf("\n%g\n", sums[0]);
    void* more[] = {&sums};
    cudaLaunchCooperativeKernel((void*)racy, 4, 32, more);
    cudaLaunchCooperativeKernel((void*)leaves, 4, 32, more);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel((void*)leaves, 4000, 32, more)));  // expect: api-error
    alone<<<2, 2>>>(sums);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(x); cudaFree(sums); cudaFree(y);
}
