// Vector addition: the first kernel.
//
// Promise: c[i] = a[i] + b[i]; c may be a or b. Bits the same on every run.
// Limits: fewer than 2^31 elements, one thread for each.
// Bytes: 12 n.   FLOPs: n.
// Architectures: sm_75 and newer.
// Chapter: 04, read, not built.

// Thread i owns element i. The last block may have idle threads.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
