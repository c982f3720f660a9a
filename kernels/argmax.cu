// The index of the largest element along one axis.
//
// Promise: the first index of the largest; nan counts as larger than all. Bits the same on every run.
// Limits: one thread reads the whole axis: for short axes, or many results. Fewer than 2^31 elements.
// Bytes: 4 n, and 8 for each result.   FLOPs: n comparisons.
// Architectures: sm_75 and newer.
// Chapter: 06, built.

// Thread i owns one result: it loops over the n elements of its axis, `inner` apart.
template <class T> __global__ void argmax(const T* x, long long* y, int results, int n, int inner) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= results) return;
    const T* own = x + i / inner * n * inner + i % inner;
    T largest = own[0];
    int where = 0;
    for (int k = 1; k < n; k++) {
        T value = own[(long long)k * inner];
        if (value > largest || (value != value && largest == largest)) {
            largest = value;
            where = k;
        }
    }
    y[i] = where;
}
