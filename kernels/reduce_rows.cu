// Sums or maxima along the last axis.
//
// Promise: x (rows, K); each row is cut into `parts` of `each` elements, and y (rows, parts) holds the sum or the largest of each
//   part; nan counts as larger than all. A long row is reduced twice. No atomics: the bits are the same on every run.
// Limits: fewer than 2^31 elements. N = 4 needs K and `each` divisible by 4 and an x that begins at a multiple of 16 bytes.
// Bytes: 4 rows K, and 4 for each part.   FLOPs: rows K.
// Architectures: sm_75 and newer.
// Chapter: 06, built.
#include "reduce.cuh"
#include "vector.cuh"

// LANES consecutive lanes own one part, and read it interleaved, N elements each. T: type of x, A: type of the result.
template <class Op, class T, class A, int N, int LANES>
__global__ void reduce_rows(const T* x, A* y, A nothing, int rows, int K, int parts, int each) {
    const long long own = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / LANES;  // part own % parts of row own / parts
    const int lane = threadIdx.x % LANES, begin = own % parts * each;
    A result = nothing;  // 0 for sums, the lowest number for maxima
    if (own < (long long)rows * parts) {
        const T* row = x + own / parts * K;
        const int end = min(begin + each, K);
        for (int k = begin + N * lane; k < end; k += N * LANES) {
            const Pack<T, N> p = *(const Pack<T, N>*)(row + k);
            for (int j = 0; j < N; j++) result = Op::of(result, (A)p.item[j]);
        }
    }
    result = warp_reduce<LANES, Op>(result);  // all lanes take part, also those without elements
    if (lane == 0 && own < (long long)rows * parts) y[own] = result;
}
