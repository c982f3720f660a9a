// The sum of all elements: four versions.
//
// Promise: y is the sum of x. Version 1 adds to y[0], which begins as 0; versions 2 to 4 write one partial sum per block, and a
//   second launch with one block adds those up. From version 2 on the bits are the same on every run.
// Limits: fewer than 2^31 elements. Versions 2 and 3: one element per thread, so one block sums blockDim.x at most.
// Bytes: 4 n, and 8 for each block.   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 06, built.
#include "reduce.cuh"
#include "vector.cuh"

// Thread i owns element i and adds it to the one result. Right, and slow: n additions to one address are serialised, in
// any order, so the bits change from run to run: no training step of ours adds like this.
extern "C" __global__ void sum_1_atomics(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(y, x[i]);
}

// A block adds its elements in shared memory, as a tree: in each step the first half of the threads adds the second half.
// Gained: log2(THREADS) steps instead of THREADS, no block waits for another, one order of additions.
template <int THREADS> __global__ void sum_2_tree(const float* x, float* partial, int n) {
    __shared__ float shared[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = i < n ? x[i] : 0.0f;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();  // all threads see the writes of the step before
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}

// The same, but within a warp by shuffles, from register to register. Gained: no shared memory and no barrier for
// five of the steps; two barriers in all instead of log2(THREADS).
template <int THREADS> __global__ void sum_3_warps(const float* x, float* partial, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = block_sum<THREADS>(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Each thread first adds many elements by itself, four at a time, striding by the whole grid. Gained: a quarter of the load
// instructions, and one block reduction for thousands of elements. x begins at a multiple of 16 bytes.
template <int THREADS> __global__ void sum_4_vectors(const float* x, float* partial, int n) {
    long long first = (long long)blockIdx.x * THREADS + threadIdx.x, step = (long long)gridDim.x * THREADS;
    float sum = 0.0f;
    for (long long i = first; i < n / 4; i += step) {
        const Pack<float, 4> p = ((const Pack<float, 4>*)x)[i];
        sum += (p.item[0] + p.item[1]) + (p.item[2] + p.item[3]);
    }
    if (first < n % 4) sum += x[n / 4 * 4 + first];  // up to three elements are left over
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
