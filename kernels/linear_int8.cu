// A linear layer with weights of 8 bits, one scale for each output, for a few rows, as in generation.
//
// Promise: y (n, M) = x (n, K) weight (M, K)^T + bias, with weight[m, k] = scales[m] code[m, k]. Codes are -128 .. 127, four to a word,
//   the first in the lowest bits; a row of them begins with a word of its own. bias may be null. The same bits on every run.
// Limits: N = 4 needs K divisible by 4 and an x that begins at a multiple of 16 bytes.
// Bytes: M K of codes for each row; x comes from the cache.   FLOPs: 2 n M K.
// Architectures: sm_75 and newer.
// Chapter: 22a, built.
#include "eight.cuh"
#include "reduce.cuh"

// region linear_int8
// Warp (threadIdx.x / 32) of block (blockIdx.x, row) owns an output; its lanes share the words of that row of weights, two at a time.
template <int N>
__global__ void linear_int8(const float* x, const unsigned* words, const float* scales, const float* bias, float* y, int n, int K,
                            int M) {
    const int m = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, line = (K + 3) / 4;
    if (m >= M) return;
    for (int row = blockIdx.y; row < n; row += gridDim.y) {
        float sum = 0.0f;
        // yours: the products of this lane's codes with x; a code is a byte of a word, and has a sign
        for (int w = 2 * lane; w < line; w += 64) {
            const unsigned* pair = words + (long long)m * line + w;
            const Eight<N> values(x + (long long)row * K, 4 * w, K);
#pragma unroll
            for (int i = 0; i < 4; i++) sum += (signed char)(pair[0] >> 8 * i) * values[i];
            if (w + 1 < line) {
#pragma unroll
                for (int i = 0; i < 4; i++) sum += (signed char)(pair[1] >> 8 * i) * values[4 + i];
            }
        }
        // end
        sum = warp_sum<32>(sum);
        if (lane == 0) y[(long long)row * M + m] = sum * scales[m] + (bias ? bias[m] : 0.0f);
    }
}
// endregion
