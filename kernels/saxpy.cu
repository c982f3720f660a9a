// SAXPY, "single-precision a x plus y": one BLAS routine, two ways to assign its elements to threads.
//
// Promise: y[i] = a x[i] + y[i], in place. Bits the same on every run, whatever the grid.
// Limits: fewer than 2^30 elements.
// Bytes: 12 n.   FLOPs: 2 n.
// Architectures: sm_75 and newer.
// Chapter: 05, read, not built.

// Thread i owns element i: the grid must be as large as the array.
extern "C" __global__ void saxpy_1_element(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// A grid of any size: each thread loops over the array with a stride of all threads (a grid-stride loop). Gained: one launch
// configuration serves every length, and set-up is done once. Consecutive threads still read consecutive elements.
extern "C" __global__ void saxpy_2_grid_stride(float a, const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
