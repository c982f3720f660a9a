// A linear layer with weights of 4 bits in groups of 32, for a few rows, as in generation.
//
// A weight is read once for each row of x and used once, so reading weights is the bottleneck: a word of 32 bits holds eight of them.
//
// Promise: y (n, M) = x (n, K) weight (M, K)^T + bias, with weight[m, k] = scales[m, j] (code[m, k] - zeros[m, j]), j = k / 32. Codes
//   are 0 .. 15, eight to a word, the first in the lowest bits; rows of words, scales and zeros hold whole groups. zeros may be null
//   (then they are 8), bias too. The same bits on every run.
// Limits: N = 4 needs K divisible by 4 and an x that begins at a multiple of 16 bytes.
// Bytes: M K / 2 of codes and M K / 8 of scales for each row, of zeros as many; x comes from the cache.   FLOPs: 2 n M K.
// Architectures: sm_75 and newer.
// Chapter: 22a, built.
#include "eight.cuh"
#include "reduce.cuh"

// region linear_int4
constexpr int ZERO = 8, GROUP_WORDS = 4;  // the zero point where there is none of its own; words of a group

// Warp (threadIdx.x / 32) of block (blockIdx.x, row) owns an output; its lanes share the words of that row of weights.
template <int N>
__global__ void linear_int4(const float* x, const unsigned* words, const float* scales, const float* zeros, const float* bias,
                            float* y, int n, int K, int M) {
    const int m = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int groups = (K + 31) / 32, line = groups * GROUP_WORDS;
    if (m >= M) return;
    for (int row = blockIdx.y; row < n; row += gridDim.y) {
        float sum = 0.0f;
        // yours: for each word of this lane, add scale * sum of (code - zero) * x over its eight codes
        for (int w = lane; w < line; w += 32) {
            const unsigned word = words[(long long)m * line + w];
            const long long group = (long long)m * groups + w / GROUP_WORDS;
            const Eight<N> values(x + (long long)row * K, 8 * w, K);
            const float zero = zeros ? zeros[group] : ZERO;
            float part = 0.0f;
#pragma unroll
            for (int i = 0; i < 8; i++) part += ((word >> 4 * i & 15) - zero) * values[i];
            sum += scales[group] * part;
        }
        // end
        sum = warp_sum<32>(sum);
        if (lane == 0) y[(long long)row * M + m] = sum + (bias ? bias[m] : 0.0f);
    }
}
// endregion
