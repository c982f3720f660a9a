// Copies between contiguous memory and a strided view, both ways; and fill.
//
// Promise: y[i] = element i of the view of x, or the reverse, written or added. Bits the same on every run.
// Limits: fewer than 2^31 elements; views of up to 6 axes; to write, no two elements of the view may have the same address.
// Bytes: 8 n for 4-byte elements where the view's last axis is contiguous; a transposed view reads a sector per element.
//   FLOPs: none, n to add.
// Architectures: sm_75 and newer.
// Chapter: 05, built. All but strided_copy and strided_add, that is; these are read.
#include "view.cuh"

// Thread i owns element i of the contiguous side. T is any type of its size, since nothing is computed.
template <class T> __global__ void strided_copy(const T* x, T* y, View view, long long offset, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[offset + offset_of(view, i)];
}

template <class T> __global__ void strided_write(T* x, const T* values, View view, long long offset, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[offset + offset_of(view, i)] = values[i];
}

template <class T> __global__ void strided_add(T* x, const T* values, View view, long long offset, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[offset + offset_of(view, i)] += values[i];
}

// Between two matrices whose rows are contiguous but not adjacent, as in a slice of columns: no division is needed to find an
// element. Thread (x, y) owns column x, and row y with every row a whole grid further down.
template <class T>
__global__ void copy_rows(const T* x, T* y, long long x_row, long long y_row, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y)
        y[row * y_row + column] = x[row * x_row + column];
}

// Thread i owns N consecutive elements from N i on.
template <class T, int N> __global__ void copy(const T* x, T* y, int n) {
    long long i = N * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + N <= n) {
        *(Pack<T, N>*)(y + i) = *(const Pack<T, N>*)(x + i);
    } else {
        for (; i < n; i++) y[i] = x[i];
    }
}

template <class T> __global__ void fill(T* y, T value, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = value;
}
