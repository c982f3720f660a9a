// Flash attention on tensor cores, forward: flash_attention_forward.cu for bfloat16. (Dao 2023, "FlashAttention-2", section 3)
//
// A warp owns 16 queries and all keys of a tile, so the maximum and the sum of a row take a reduction over four lanes only. The
// weights never leave the registers: the accumulator fragments of the first product are the A fragments of the second. While a tile
// of keys is in use the next one is copied.
//
// Promise: as flash_attention_forward.cu, for bfloat16 q, k, v and y. Scores, sums and logsumexp are float; the weights are rounded
//   to bfloat16 for the second product. The same bits on every run.
// Limits: d at most D, and D is 64 or 128; S at least 1. shared_mem: (64 + 4 KEYS) D 2 bytes. Only rows that begin at multiples of
//   16 bytes are copied asynchronously.
// Bytes: 2 B T H D (2 + S / 64) causal, 2 B T H D (2 + 2 S / 64) else.   FLOPs: 2 B H T S D causal, 4 B H T S D else.
// Architectures: sm_80 and newer.
// Chapter: 10a, read, not built.
#include "attention_mma.cuh"
#include "reduce.cuh"

template <int D, int KEYS>
__global__ void __launch_bounds__(MMA_THREADS)
flash_attention_bf16_forward(const bf16* q, const bf16* k, const bf16* v, bf16* y, float* logsumexp, int T, int S, int H, int G,
                             int d, bool causal, float scale) {
    extern __shared__ __align__(128) bf16 tiles[];
    bf16 *q_tile = tiles, *k_tiles = q_tile + BLOCK_ROWS * D, *v_tiles = k_tiles + 2 * KEYS * D;  // double-buffered
    const int b = blockIdx.z, h = blockIdx.y, g = h / (H / G), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = (gridDim.x - 1 - blockIdx.x) * BLOCK_ROWS;  // the long rows of a causal mask start first
    const int past = S - T, end = causal ? min(S, past + first + BLOCK_ROWS) : S;
    q += (long long)b * T * H * d + h * d;
    k += (long long)b * S * G * d + g * d;
    v += (long long)b * S * G * d + g * d;
    const bool aligned_q = (size_t)q % 16 == 0 && H * d % 8 == 0;
    const bool aligned = (size_t)k % 16 == 0 && (size_t)v % 16 == 0 && G * d % 8 == 0;

    auto fetch = [&](int stage, int start) {
        copy_slice<KEYS, D, MMA_THREADS>(k_tiles + stage * KEYS * D, k, G * d, start, 0, S, d, aligned);
        copy_slice<KEYS, D, MMA_THREADS>(v_tiles + stage * KEYS * D, v, G * d, start, 0, S, d, aligned);
        ptx::cp_async_commit();
    };
    copy_slice<BLOCK_ROWS, D, MMA_THREADS>(q_tile, q, H * d, first, 0, T, d, aligned_q);
    fetch(0, 0);

    // This lane's two rows: lane / 4 and 8 further down.
    const int rows[2] = {warp * WARP_ROWS + lane / 4, warp * WARP_ROWS + lane / 4 + 8};
    float out[D / 8][4] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {};
    for (int start = 0, stage = 0; start < end; start += KEYS, stage ^= 1) {
        ptx::cp_async_wait_all();
        __syncthreads();  // this tile is complete, and all threads have finished with the other one
        if (start + KEYS < end) fetch(stage ^ 1, start + KEYS);
        float score[KEYS / 8][4] = {};
        warp_mma_transposed<D, KEYS>(score, q_tile + warp * WARP_ROWS * D, k_tiles + stage * KEYS * D);
        const bool edge = start + KEYS > S || (causal && start + KEYS > past + first + 1);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int seen = (causal ? min(S, past + first + rows[r] + 1) : S) - start - lane % 4 * 2;
            float new_m = -INFINITY, sum = 0.0f;
#pragma unroll
            for (int c = 0; c < KEYS / 8; c++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float& x = score[c][2 * r + e];
                    x = edge && 8 * c + e >= seen ? -INFINITY : x * scale;
                    new_m = x > new_m ? x : new_m;
                }
            new_m = fmaxf(warp_max<4>(new_m), m[r]);
            const float rescale = __expf(m[r] - new_m);
            m[r] = new_m;
#pragma unroll
            for (int c = 0; c < KEYS / 8; c++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float& x = score[c][2 * r + e];
                    x = __expf(x - new_m);
                    sum += x;
                }
            l[r] = l[r] * rescale + sum;
#pragma unroll
            for (int c = 0; c < D / 8; c++) out[c][2 * r] *= rescale, out[c][2 * r + 1] *= rescale;
        }
        warp_mma<D, KEYS>(out, score, v_tiles + stage * KEYS * D);
    }

    float sum[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        sum[r] = warp_sum<4>(l[r]);
        if (lane % 4 == 0 && first + rows[r] < T)
            logsumexp[((long long)b * H + h) * T + first + rows[r]] = m[r] + __logf(sum[r]);
    }
    __syncwarp();  // only this warp reads these rows of q
    store_fragment<D>(q_tile + warp * WARP_ROWS * D, out, 1.0f / sum[0], 1.0f / sum[1]);
    __syncthreads();
    store_tile<D>(y + ((long long)b * T + first) * H * d + h * d, H * d, T - first, d, q_tile);
}
