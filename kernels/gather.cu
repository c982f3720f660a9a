// Rows picked by index.
//
// Promise: y[i] = x[indices[i]], a row of C elements each. Bits the same on every run.
// Limits: indices inside 0 .. R - 1 (the launch code checks); fewer than 2^31 elements.
// Bytes: 8 n C, and the n indices.   FLOPs: none.
// Architectures: sm_75 and newer.
// Chapter: 11, built.

// Thread i owns element i of y (n, C): column i % C of row i / C. T is any type of its size.
template <class T, class I> __global__ void gather(const T* x, const I* indices, T* y, int n, int C) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)n * C) return;
    int row = i / C, column = i % C;
    y[i] = x[(long long)indices[row] * C + column];
}
