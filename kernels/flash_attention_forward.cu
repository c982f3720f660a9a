// Flash attention, forward: softmax(q k^T / sqrt(D)) v without ever storing the score matrix. (Dao et al. 2022)
//
// A block owns a tile of queries and loops over the keys, tile by tile. For each query it keeps the running maximum m of the
// scores, the running sum l of exp(score - m) and the unnormalised output; when m grows, l and the output are rescaled. What
// the backward needs of all this is one number per query, logsumexp = m + log(l).
//
// Promise: y (B, T, H, D) and logsumexp (B, H, T) from q (B, T, H, D), k and v (B, S, G, D), any T and S; query head h reads
//   key-value head h / (H / G). causal: query t sees keys 0 .. S - T + t, and tiles that none of a block's queries sees are
//   skipped. The same bits on every run.
// Limits: d at most D, and D is 32, 64 or 128 (smaller heads are filled up with zeros); S at least 1.
// Bytes: 4 B T H D (2 + S / TILE_T) causal, 4 B T H D (2 + 2 S / TILE_T) else: q and y once, k and v once per
//   tile of queries.   FLOPs: 2 B H T S D causal, 4 B H T S D else.
// Architectures: sm_75 and newer.
// Chapter: 10a, built.
#include "attention_tile.cuh"
#include "reduce.cuh"

// Block (i, h, b) owns TILE_T queries of head h, and a group of 4 lanes ROWS of them. Of each tile of keys a lane owns a quarter,
// and of y a quarter of the columns.
template <int D, int ROWS, int KEYS>
__global__ void __launch_bounds__(THREADS)
flash_attention_forward(const float* q, const float* k, const float* v, float* y, float* logsumexp, int T, int S, int H, int G,
                        int d, bool causal, float scale) {
    constexpr int TILE_T = GROUPS * ROWS, TILE_S = LANES * KEYS, C = D / LANES;
    typedef SharedLayout<D> Head;
    typedef SharedLayout<TILE_S> Keys;
    extern __shared__ __align__(16) float shared[];
    float *q_tile = shared, *k_tile = q_tile + TILE_T * Head::STRIDE;                                // [query][d], [d][key]
    float *v_tile = k_tile + D * Keys::TRANSPOSED_STRIDE, *p_tile = v_tile + TILE_S * Head::STRIDE;  // [key][d], [query][key]

    const int b = blockIdx.z, h = blockIdx.y, g = h / (H / G), group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int first = (gridDim.x - 1 - blockIdx.x) * TILE_T;  // the long rows of a causal mask start first
    const int past = S - T, end = causal ? min(S, past + first + TILE_T) : S;
    q += ((long long)b * T + first) * H * d + h * d;
    y += ((long long)b * T + first) * H * d + h * d;
    k += (long long)b * S * G * d + g * d;
    v += (long long)b * S * G * d + g * d;
    load_rows<TILE_T, D>(q_tile, q, H * d, T - first, d);

    float out[ROWS][C] = {}, m[ROWS], l[ROWS] = {};
#pragma unroll
    for (int r = 0; r < ROWS; r++) m[r] = -INFINITY;
    for (int start = 0; start < end; start += TILE_S) {
        __syncthreads();  // all threads have finished with the previous tiles
        load_transposed<TILE_S, D>(k_tile, k + (long long)start * G * d, G * d, S - start, d);
        load_rows<TILE_S, D>(v_tile, v + (long long)start * G * d, G * d, S - start, d);
        __syncthreads();

        float score[ROWS][KEYS] = {};
        multiply<ROWS, KEYS, D, Keys::TRANSPOSED_STRIDE>(score, q_tile + group * Head::STRIDE, k_tile + Keys::offset(lane * KEYS));
        const bool edge = start + TILE_S > S || (causal && start + TILE_S > past + first + 1);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int row = group + r * GROUPS, seen = (causal ? min(S, past + first + row + 1) : S) - start - lane * KEYS;
#pragma unroll
            for (int c = 0; c < KEYS; c++) score[r][c] = edge && c >= seen ? -INFINITY : score[r][c] * scale;
            // yours: scores to weights; rescale the sums so far, and add the new weights
            float new_m = -INFINITY;
#pragma unroll
            for (int c = 0; c < KEYS; c++) new_m = score[r][c] > new_m ? score[r][c] : new_m;
            new_m = fmaxf(warp_max<LANES>(new_m), m[r]);
            const float rescale = __expf(m[r] - new_m);
            m[r] = new_m;
#pragma unroll
            for (int c = 0; c < KEYS; c++) score[r][c] = __expf(score[r][c] - new_m);
            float sum = 0.0f;
#pragma unroll
            for (int c = 0; c < KEYS; c++) sum += score[r][c];
            l[r] = l[r] * rescale + sum;
#pragma unroll
            for (int c = 0; c < C; c++) out[r][c] *= rescale;
            // end
            store_fragment(p_tile + row * Keys::STRIDE + Keys::offset(lane * KEYS), score[r]);
        }
        __syncwarp();  // a row of p is written and read by the four lanes of one group
        multiply<ROWS, C, TILE_S, Head::STRIDE>(out, p_tile + group * Keys::STRIDE, v_tile + Head::offset(lane * C));
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int row = group + r * GROUPS;
        const float sum = warp_sum<LANES>(l[r]), inverse = 1.0f / sum;
#pragma unroll
        for (int c = 0; c < C; c++) out[r][c] *= inverse;
        store_fragment(q_tile + row * Head::STRIDE + Head::offset(lane * C), out[r]);  // only this warp reads these rows of q
        if (lane == 0 && first + row < T) logsumexp[((long long)b * H + h) * T + first + row] = m[r] + __logf(sum);
    }
    __syncthreads();
    store_rows<TILE_T, D>(y, H * d, T - first, d, q_tile);
}
