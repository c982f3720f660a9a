// Linear recurrences on tensor cores, forward: linear_recurrence.cu with the products of a chunk and a state in bfloat16.
//
// A warp owns 16 columns of the state. It holds them transposed, as the accumulator fragments of mma, in float from the first step to
// the last: rounded to bfloat16 they are the A fragments of what a chunk reads, S^T (q decay)^T and S^T (k decay)^T. What the steps
// write is found for all 16 at once, by the inverse of a triangle of 16 x 16: the WY form of the delta rule. The scores of a chunk stay
// on CUDA cores: each channel has a decay of its own, so e^(G_t - G_s) is one product of matrices only with e^(-G_s), which overflows
// (Yang et al. 2024, "Gated linear attention transformers", equation 4 and section 4.3).
//
// Promise: as recurrence_forward of linear_recurrence.cu. Inputs and results are float, sums and the state too; q and k with their
//   decays, the state where it is read, and what is written are rounded to bfloat16. The same bits on every run.
// Limits: d at most D, which is 32 or 64; 128 threads for 64 columns.
// Bytes: forward 4 heads T (3 d + 2 E) for each 64 columns, and d E / 4 for each step that a backward needs.
// FLOPs: about 6 d E for each step of a head, 8 d E with the delta rule, on tensor cores; 32 d for the scores, on CUDA cores.
// Architectures: sm_80 and newer.
// Chapter: 23, read, not built.
#include <cuda_bf16.h>

#include "ptx.cuh"
#include "recurrence_chunk.cuh"

typedef __nv_bfloat16 bf16;
constexpr int WARP_COLUMNS = 16, BLOCK_COLUMNS = WARP_COLUMNS * CHUNK_THREADS / 32;

__device__ __forceinline__ unsigned pack(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *(const unsigned*)&pair;
}

// Columns 16 j .. 16 j + 15 of a warp's accumulators (16 x N), as an A fragment.
template <int TILES> __device__ __forceinline__ void round_to(unsigned (&left)[4], const float (&sum)[TILES][4], int j) {
    left[0] = pack(sum[2 * j][0], sum[2 * j][1]), left[1] = pack(sum[2 * j][2], sum[2 * j][3]);
    left[2] = pack(sum[2 * j + 1][0], sum[2 * j + 1][1]), left[3] = pack(sum[2 * j + 1][2], sum[2 * j + 1][3]);
}

// Rows of bfloat16 in shared memory, with 8 numbers of padding: the eight rows that ldmatrix reads at once lie in different banks.
template <int WIDTH> struct Rows {
    alignas(16) bf16 at[STEPS][WIDTH + 8];

    // sum (16 x STEPS) += left (16 x 16) times columns 16 j .. 16 j + 15 of these rows, transposed.
    __device__ __forceinline__ void times_transposed(float (&sum)[2][4], const unsigned (&left)[4], int j) const {
        const int lane = threadIdx.x % 32;
        unsigned four[4];
        ptx::ldmatrix_x4(four, &at[lane % 8 + lane / 16 * 8][16 * j + lane / 8 % 2 * 8]);
        const unsigned first[2] = {four[0], four[1]}, second[2] = {four[2], four[3]};
        ptx::mma_m16n8k16_bf16(sum[0], left, first, sum[0]);
        ptx::mma_m16n8k16_bf16(sum[1], left, second, sum[1]);
    }

    // sum (16 x WIDTH) += left (16 x STEPS) times these rows.
    __device__ __forceinline__ void times(float (&sum)[WIDTH / 8][4], const unsigned (&left)[4]) const {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int c = 0; c < WIDTH / 8; c += 2) {
            unsigned four[4];
            ptx::ldmatrix_x4_trans(four, &at[lane % 16][8 * c + lane / 16 * 8]);
            const unsigned first[2] = {four[0], four[1]}, second[2] = {four[2], four[3]};
            ptx::mma_m16n8k16_bf16(sum[c], left, first, sum[c]);
            ptx::mma_m16n8k16_bf16(sum[c + 1], left, second, sum[c + 1]);
        }
    }
};

template <int K, int D>
__global__ void __launch_bounds__(CHUNK_THREADS)
recurrence_bf16_forward(const float* q, const float* k, const float* v, const float* g, const float* rate, const float* weight,
                        const float* state, float* y, float* last, float* kept, float* errors, int T, int d, int E) {
    constexpr Kind KIND = (Kind)K;
    __shared__ ScoredChunk<KIND, D> chunk;
    __shared__ Rows<D> from_q, from_k, to_end;
    __shared__ Rows<STEPS> A, X;
    const long long head = blockIdx.y;
    const int lane = threadIdx.x % 32, chunks = (T + STEPS - 1) / STEPS;
    // Number i of tile c of an accumulator: column `first`, or 8 further on for i = 2, 3; row or step 8 c + `second` + i % 2.
    const int first = blockIdx.x * BLOCK_COLUMNS + threadIdx.x / 32 * WARP_COLUMNS + lane / 4, second = lane % 4 * 2;
    const Inputs in = Inputs{q, k, v, g, rate, weight, T, d, E}.of(KIND, head);
    if (state) state += head * d * E;
    auto each_of_state = [&](auto visit) {  // visit(number, offset in a state (d, E)) for all that are inside
#pragma unroll
        for (int c = 0; c < D / 8; c++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = 8 * c + second + i % 2, column = first + i / 2 * 8;
                if (row < d && column < E) visit(c, i, (long long)row * E + column);
            }
    };
    auto each_of_steps = [&](int start, auto visit) {  // the same, with the offset in (heads, T, E)
#pragma unroll
        for (int c = 0; c < 2; c++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int t = start + 8 * c + second + i % 2, column = first + i / 2 * 8;
                if (t < T && column < E) visit(c, i, (head * T + t) * E + column);
            }
    };
    float S[D / 8][4] = {};  // transposed: columns first
    if (state) each_of_state([&](int c, int i, long long at) { S[c][i] = state[at]; });

    for (int n = 0; n < chunks; n++) {
        const int start = n * STEPS;
        each_of_state([&](int c, int i, long long at) { kept[(head * chunks + n) * d * E + at] = S[c][i]; });
        chunk.load(in, start);
        chunk.scores();
        chunk.decay();
        for (int i = threadIdx.x; i < STEPS * D; i += CHUNK_THREADS) {
            const int t = i / D, c = i % D;
            from_q.at[t][c] = __float2bfloat16(chunk.q[t][c]);
            to_end.at[t][c] = __float2bfloat16(chunk.to_end[t][c]);
            if (KIND == Delta) from_k.at[t][c] = __float2bfloat16(chunk.k[t][c]);
        }
        for (int i = threadIdx.x; i < STEPS * STEPS; i += CHUNK_THREADS) {
            const int t = i / STEPS, s = i % STEPS;
            A.at[t][s] = __float2bfloat16(s <= t ? chunk.A[t][s] : 0.0f);
        }
        if (KIND == Delta && threadIdx.x < STEPS) {  // X = (I + L diag(beta))^-1, thread s its column s
            const int s = threadIdx.x;
            float x[STEPS];
#pragma unroll
            for (int t = 0; t < STEPS; t++) {
                x[t] = t == s ? 1.0f : 0.0f;
#pragma unroll
                for (int r = 0; r < t; r++) x[t] -= chunk.L[t][r] * chunk.rate[r] * x[r];
                X.at[t][s] = __float2bfloat16(x[t]);
            }
        }
        __syncthreads();

        float read[2][4] = {}, stored[2][4] = {}, u[2][4] = {};  // of this warp's columns and 16 steps
#pragma unroll
        for (int j = 0; j < D / 16; j++) {
            unsigned rounded[4];
            round_to(rounded, S, j);
            from_q.times_transposed(read, rounded, j);
            if (KIND == Delta) from_k.times_transposed(stored, rounded, j);
        }
        each_of_steps(start, [&](int c, int i, long long at) { u[c][i] = v[at] - stored[c][i]; });
        unsigned rounded[4];
        if (KIND == Delta) {
            float error[2][4] = {};
            round_to(rounded, u, 0);
            X.times_transposed(error, rounded, 0);
            each_of_steps(start, [&](int c, int i, long long at) { errors[at] = error[c][i]; });
#pragma unroll
            for (int c = 0; c < 2; c++)
#pragma unroll
                for (int i = 0; i < 4; i++) u[c][i] = error[c][i] * chunk.rate[8 * c + second + i % 2];
        }
        round_to(rounded, u, 0);
        A.times_transposed(read, rounded, 0);
        each_of_steps(start, [&](int c, int i, long long at) { y[at] = read[c][i]; });
#pragma unroll
        for (int c = 0; c < D / 8; c++)
#pragma unroll
            for (int i = 0; i < 4; i++) S[c][i] *= chunk.over[8 * c + second + i % 2];
        to_end.times(S, rounded);
        __syncthreads();  // the next chunk overwrites this one
    }
    each_of_state([&](int c, int i, long long at) { last[head * d * E + at] = S[c][i]; });
}
