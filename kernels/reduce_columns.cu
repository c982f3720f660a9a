// Sums or maxima along an axis that is not the last: down the columns.
//
// Promise: x (outer, K, inner); the K elements of each column are cut into `parts` of `each`, and y (outer, parts, inner) holds
//   the sum or the largest of each part; nan counts as larger than all. Long columns are reduced twice. No atomics: the
//   bits are the same on every run.
// Limits: fewer than 2^31 elements. Below 32 columns most lanes of a warp are idle.
// Bytes: 4 outer K inner, and 4 for each part.   FLOPs: outer K inner.
// Architectures: sm_75 and newer.
// Chapter: 06, built.
#include "ops.cuh"

// Thread i owns part blockIdx.y of column i; consecutive threads own consecutive columns, so reads are coalesced.
template <class Op, class T, class A>
__global__ void reduce_columns(const T* x, A* y, A nothing, int outer, int K, int inner, int parts, int each) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner) return;
    const T* column = x + (long long)(i / inner) * K * inner + i % inner;
    for (int part = blockIdx.y; part < parts; part += gridDim.y) {
        A result = nothing;  // 0 for sums, the lowest number for maxima
        const int end = min((part + 1) * each, K);
        for (int k = part * each; k < end; k++) result = Op::of(result, (A)column[(long long)k * inner]);
        y[((long long)(i / inner) * parts + part) * inner + i % inner] = result;
    }
}
