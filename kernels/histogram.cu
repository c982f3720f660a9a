// Histogram: how often each number 0 .. BINS - 1 occurs. Two versions.
//
// Promise: counts (BINS), zeros before, from x (n). Numbers outside are not counted. Integers do not round, so the
//   counts are the same in any order of the additions.
// Limits: BINS counts fit into shared memory in version 2; fewer than 2^31 elements.
// Bytes: 4 n, and 4 BINS for each block.   FLOPs: none.
// Architectures: sm_75 and newer.
// Chapter: 23, built. Its histogram_2_shared, that is; the other is read. Chapter 11 has one for 26 letters, with faults to find.

// Each number adds to its count in global memory: numbers that occur often are serialised across the whole grid.
template <int BINS> __global__ void histogram_1_global(const int* x, int* counts, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] >= 0 && x[i] < BINS) atomicAdd(&counts[x[i]], 1);
}

// A block counts in shared memory, and adds its counts to the result at the end. Gained: global memory is updated BINS times for
// each block instead of once for each number (privatisation).
template <int BINS> __global__ void histogram_2_shared(const int* x, int* counts, int n) {
    __shared__ int own[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) own[bin] = 0;
    // yours: count in own, once all its zeros are there, and wait until all have counted
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (x[i] >= 0 && x[i] < BINS) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    // end
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (own[bin]) atomicAdd(&counts[bin], own[bin]);
}
