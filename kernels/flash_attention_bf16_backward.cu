// Flash attention on tensor cores, backward: flash_attention_backward.cu for bfloat16.
//
// In one kernel a block owns 64 queries and accumulates dq, in the other 64 keys, and accumulates dk and dv; a warp owns 16 rows
// of them. Weights and their gradients stay in registers from one product to the next. delta is computed by
// flash_attention_backward.cu.
//
// Promise: as flash_attention_backward.cu, for bfloat16; sums are float, weights and their gradients are rounded to bfloat16 for
//   the second products. dk and dv are sums over the heads of a group, in order. The same bits on every run.
// Limits: d at most D, and D is 64 or 128. shared_mem: (2 64 + 2 STREAMED) D 2 bytes, and 8 STREAMED more for dk and dv.
// Bytes: q, dy, dq, k, v, dk and dv once, and 2 B T H D S / 64 for each of the two kernels, twice that without a mask.
//   FLOPs: 7 B H T S D causal, 14 B H T S D else.
// Architectures: sm_80 and newer.
// Chapter: 10b, read, not built.
#include "attention_mma.cuh"

// dq: the rows of a product are queries, its columns keys.
template <int D, int STREAMED>
__global__ void __launch_bounds__(MMA_THREADS)
flash_attention_bf16_backward_q(const bf16* dy, const bf16* q, const bf16* k, const bf16* v, const float* logsumexp,
                                const float* delta, bf16* dq, int T, int S, int H, int G, int d, bool causal, float scale) {
    extern __shared__ __align__(128) bf16 tiles[];
    bf16 *q_tile = tiles, *dy_tile = q_tile + BLOCK_ROWS * D, *k_tile = dy_tile + BLOCK_ROWS * D, *v_tile = k_tile + STREAMED * D;
    const int b = blockIdx.z, h = blockIdx.y, g = h / (H / G), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = (gridDim.x - 1 - blockIdx.x) * BLOCK_ROWS;
    const int past = S - T, end = causal ? min(S, past + first + BLOCK_ROWS) : S;
    const long long queries = (long long)b * T * H * d + h * d, row_of_t = ((long long)b * H + h) * T;
    k += (long long)b * S * G * d + g * d;
    v += (long long)b * S * G * d + g * d;
    const bool aligned_q = (size_t)(q + queries) % 16 == 0 && (size_t)(dy + queries) % 16 == 0 && H * d % 8 == 0;
    const bool aligned = (size_t)k % 16 == 0 && (size_t)v % 16 == 0 && G * d % 8 == 0;
    copy_slice<BLOCK_ROWS, D, MMA_THREADS>(q_tile, q + queries, H * d, first, 0, T, d, aligned_q);
    copy_slice<BLOCK_ROWS, D, MMA_THREADS>(dy_tile, dy + queries, H * d, first, 0, T, d, aligned_q);

    int query[2];
    float lse[2], deltas[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        query[r] = first + warp * WARP_ROWS + lane / 4 + 8 * r;
        lse[r] = query[r] < T ? logsumexp[row_of_t + query[r]] : 0.0f;
        deltas[r] = query[r] < T ? delta[row_of_t + query[r]] : 0.0f;
    }
    float out[D / 8][4] = {};
    for (int start = 0; start < end; start += STREAMED) {
        __syncthreads();  // all threads have finished with the previous tiles
        copy_slice<STREAMED, D, MMA_THREADS>(k_tile, k, G * d, start, 0, S, d, aligned);
        copy_slice<STREAMED, D, MMA_THREADS>(v_tile, v, G * d, start, 0, S, d, aligned);
        ptx::cp_async_wait_all();
        __syncthreads();
        float p[STREAMED / 8][4] = {}, ds[STREAMED / 8][4] = {};
        warp_mma_transposed<D, STREAMED>(p, q_tile + warp * WARP_ROWS * D, k_tile);
        warp_mma_transposed<D, STREAMED>(ds, dy_tile + warp * WARP_ROWS * D, v_tile);
        const bool edge = start + STREAMED > S || (causal && start + STREAMED > past + first + 1);
#pragma unroll
        for (int c = 0; c < STREAMED / 8; c++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int key = start + 8 * c + lane % 4 * 2 + e % 2;
                const bool hidden = edge && (key >= S || (causal && key > past + query[e / 2]));
                const float weight = __expf(p[c][e] * scale - lse[e / 2]);
                ds[c][e] = hidden ? 0.0f : weight * (ds[c][e] - deltas[e / 2]);
            }
        warp_mma<D, STREAMED>(out, ds, k_tile);
    }
    __syncwarp();  // only this warp reads these rows of q
    store_fragment<D>(q_tile + warp * WARP_ROWS * D, out, scale, scale);
    __syncthreads();
    store_tile<D>(dq + queries + (long long)first * H * d, H * d, T - first, d, q_tile);
}

// dk and dv: the rows of a product are keys, its columns queries, head after head of the group.
template <int D, int STREAMED>
__global__ void __launch_bounds__(MMA_THREADS)
flash_attention_bf16_backward_kv(const bf16* dy, const bf16* q, const bf16* k, const bf16* v, const float* logsumexp,
                                 const float* delta, bf16* dk, bf16* dv, int T, int S, int H, int G, int d, bool causal,
                                 float scale) {
    extern __shared__ __align__(128) bf16 tiles[];
    bf16 *k_tile = tiles, *v_tile = k_tile + BLOCK_ROWS * D, *q_tile = v_tile + BLOCK_ROWS * D, *dy_tile = q_tile + STREAMED * D;
    float *lse = (float*)(dy_tile + STREAMED * D), *deltas = lse + STREAMED;  // logsumexp and delta of the streamed queries
    const int b = blockIdx.z, g = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = blockIdx.x * BLOCK_ROWS, past = S - T;
    const int begin = causal ? max(0, first - past) / STREAMED * STREAMED : 0;  // no query before it sees these keys
    const long long keys = (long long)b * S * G * d + g * d;
    const bool aligned = (size_t)(k + keys) % 16 == 0 && (size_t)(v + keys) % 16 == 0 && G * d % 8 == 0;
    copy_slice<BLOCK_ROWS, D, MMA_THREADS>(k_tile, k + keys, G * d, first, 0, S, d, aligned);
    copy_slice<BLOCK_ROWS, D, MMA_THREADS>(v_tile, v + keys, G * d, first, 0, S, d, aligned);

    float out_k[D / 8][4] = {}, out_v[D / 8][4] = {};
    for (int h = g * (H / G); h < (g + 1) * (H / G); h++) {
        const long long queries = (long long)b * T * H * d + h * d, row_of_t = ((long long)b * H + h) * T;
        const bool aligned_q = (size_t)(q + queries) % 16 == 0 && (size_t)(dy + queries) % 16 == 0 && H * d % 8 == 0;
        for (int start = begin; start < T; start += STREAMED) {
            __syncthreads();  // all threads have finished with the previous tiles
            copy_slice<STREAMED, D, MMA_THREADS>(q_tile, q + queries, H * d, start, 0, T, d, aligned_q);
            copy_slice<STREAMED, D, MMA_THREADS>(dy_tile, dy + queries, H * d, start, 0, T, d, aligned_q);
            for (int i = threadIdx.x; i < STREAMED; i += MMA_THREADS) {
                lse[i] = start + i < T ? logsumexp[row_of_t + start + i] : 0.0f;
                deltas[i] = start + i < T ? delta[row_of_t + start + i] : 0.0f;
            }
            ptx::cp_async_wait_all();
            __syncthreads();
            float p[STREAMED / 8][4] = {}, ds[STREAMED / 8][4] = {};
            warp_mma_transposed<D, STREAMED>(p, k_tile + warp * WARP_ROWS * D, q_tile);
            warp_mma_transposed<D, STREAMED>(ds, v_tile + warp * WARP_ROWS * D, dy_tile);
            const bool edge = start + STREAMED > T || (causal && first + BLOCK_ROWS > past + start + 1);
#pragma unroll
            for (int c = 0; c < STREAMED / 8; c++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const int key = first + warp * WARP_ROWS + lane / 4 + e / 2 * 8, i = 8 * c + lane % 4 * 2 + e % 2;
                    const bool hidden = edge && (start + i >= T || (causal && key > past + start + i));
                    p[c][e] = hidden ? 0.0f : __expf(p[c][e] * scale - lse[i]);
                    ds[c][e] = p[c][e] * (ds[c][e] - deltas[i]);
                }
            warp_mma<D, STREAMED>(out_v, p, dy_tile);
            warp_mma<D, STREAMED>(out_k, ds, q_tile);
        }
    }
    __syncwarp();  // only this warp reads these rows of k and of v
    store_fragment<D>(k_tile + warp * WARP_ROWS * D, out_k, scale, scale);
    store_fragment<D>(v_tile + warp * WARP_ROWS * D, out_v, 1.0f, 1.0f);
    __syncthreads();
    store_tile<D>(dk + keys + (long long)first * G * d, G * d, S - first, d, k_tile);
    store_tile<D>(dv + keys + (long long)first * G * d, G * d, S - first, d, v_tile);
}
