// Flash attention, backward: dq, dk and dv without the score matrix. (Dao et al. 2022, section 3 and appendix B)
//
// The weights are recomputed from q, k and the logsumexp that the forward kept. In one kernel a block owns a tile of queries and
// accumulates dq, in the other a tile of keys, and accumulates dk and dv, so that no two blocks add to one element: two products more
// than with atomics (7 instead of 5), and the same bits on every run.
//
// Promise: gradients of y = attention(q, k, v) for all that flash_attention_forward.cu takes. First delta, then the other two in
//   any order. dk and dv are sums over the heads of a group, in order. Tiles that a causal mask hides are skipped.
// Limits: those of flash_attention_forward.cu.
// Bytes: q, dy, dq, k, v, dk and dv once, and the streamed side once per tile of the other: for TILE rows in a tile about
//   4 B H T D S / TILE for each of the two kernels, twice that without a mask.   FLOPs: 7 B H T S D causal, 14 B H T S D else.
// Architectures: sm_75 and newer.
// Chapter: 10b, built.
#include "attention_tile.cuh"
#include "numbers.cuh"
#include "reduce.cuh"

// delta[b][h][t] = sum over d of dy y: what the backward of softmax subtracts, the row sum of weights times their gradients.
// Eight lanes own a row.
template <class X>
__global__ void flash_attention_delta(const X* dy, const X* y, float* delta, int B, int T, int H, int d) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;  // row (b, h, t)
    const int b = row / (H * T), h = row / T % H, t = row % T;
    const long long first = (((long long)b * T + t) * H + h) * d;
    float sum = 0.0f;
    if (row < B * H * T)
        for (int i = lane; i < d; i += 8) sum += to_float(dy[first + i]) * to_float(y[first + i]);
    sum = warp_sum<8>(sum);
    if (row < B * H * T && lane == 0) delta[row] = sum;
}

// dq of TILE_T queries: their q and dy stay in shared memory, the keys are streamed in tiles. The products have a row for each
// key and a column for each query.
template <int D, int ROWS, int COLUMNS>
__global__ void __launch_bounds__(THREADS)
flash_attention_backward_q(const float* dy, const float* q, const float* k, const float* v, const float* logsumexp,
                           const float* delta, float* dq, int T, int S, int H, int G, int d, bool causal, float scale) {
    constexpr int TILE_S = GROUPS * ROWS, TILE_T = LANES * COLUMNS, OWN = TILE_T / GROUPS, C = D / LANES;
    typedef SharedLayout<D> Head;
    typedef SharedLayout<TILE_T> Queries;
    extern __shared__ __align__(16) float shared[];
    float *q_tile = shared, *dy_tile = q_tile + D * Queries::TRANSPOSED_STRIDE;                          // [d][query] both
    float *k_tile = dy_tile + D * Queries::TRANSPOSED_STRIDE, *v_tile = k_tile + TILE_S * Head::STRIDE;  // [key][d] both
    float* ds_tile = v_tile + TILE_S * Head::STRIDE;                                                     // [key][query]

    const int b = blockIdx.z, h = blockIdx.y, g = h / (H / G), group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int column = Queries::offset(lane * COLUMNS);  // where this thread's columns of a product begin
    const int own_row = Queries::offset(group * OWN), own_column = Head::offset(lane * C);  // and its part of the result
    const int first = (gridDim.x - 1 - blockIdx.x) * TILE_T;
    const int past = S - T, end = causal ? min(S, past + first + TILE_T) : S;
    const long long own = ((long long)b * T + first) * H * d + h * d, keys = (long long)b * S * G * d + g * d;
    load_transposed<TILE_T, D>(q_tile, q + own, H * d, T - first, d);
    load_transposed<TILE_T, D>(dy_tile, dy + own, H * d, T - first, d);
    float lse[COLUMNS], deltas[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int query = first + lane * COLUMNS + c;
        lse[c] = query < T ? logsumexp[((long long)b * H + h) * T + query] : 0.0f;
        deltas[c] = query < T ? delta[((long long)b * H + h) * T + query] : 0.0f;
    }

    float out[OWN][C] = {};
    for (int start = 0; start < end; start += TILE_S) {
        __syncthreads();
        load_rows<TILE_S, D>(k_tile, k + keys + (long long)start * G * d, G * d, S - start, d);
        load_rows<TILE_S, D>(v_tile, v + keys + (long long)start * G * d, G * d, S - start, d);
        __syncthreads();
        float p[ROWS][COLUMNS] = {}, ds[ROWS][COLUMNS] = {};
        multiply<ROWS, COLUMNS, D, Queries::TRANSPOSED_STRIDE>(p, k_tile + group * Head::STRIDE, q_tile + column);
        multiply<ROWS, COLUMNS, D, Queries::TRANSPOSED_STRIDE>(ds, v_tile + group * Head::STRIDE, dy_tile + column);
        const bool edge = start + TILE_S > S || (causal && start + TILE_S > past + first + 1);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int row = group + r * GROUPS, key = start + row, query = first + lane * COLUMNS;
            // yours: the gradients of this row's scores, 0 where they are hidden
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) p[r][c] = __expf(p[r][c] * scale - lse[c]);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) ds[r][c] = p[r][c] * (ds[r][c] - deltas[c]) * scale;
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                if (edge && (key >= S || (causal && key > past + query + c))) ds[r][c] = 0.0f;
            // end
            store_fragment(ds_tile + row * Queries::STRIDE + column, ds[r]);
        }
        __syncthreads();
        multiply_transposed<OWN, C, TILE_S, Queries::STRIDE, Head::STRIDE>(out, ds_tile + own_row, k_tile + own_column);
    }
    float* dq_tile = shared;  // [query][d], in place of q and dy, which all threads have finished with
#pragma unroll
    for (int r = 0; r < OWN; r++) store_fragment(dq_tile + (group * OWN + r) * Head::STRIDE + own_column, out[r]);
    __syncthreads();
    store_rows<TILE_T, D>(dq + own, H * d, T - first, d, dq_tile);
}

// dk and dv of TILE_S keys: their k and v stay in shared memory; the queries that attend to them are streamed in tiles, head
// after head of the group. The products have a row for each query and a column for each key.
template <int D, int ROWS, int COLUMNS>
__global__ void __launch_bounds__(THREADS)
flash_attention_backward_kv(const float* dy, const float* q, const float* k, const float* v, const float* logsumexp,
                            const float* delta, float* dk, float* dv, int T, int S, int H, int G, int d, bool causal,
                            float scale) {
    constexpr int TILE_T = GROUPS * ROWS, TILE_S = LANES * COLUMNS, OWN = TILE_S / GROUPS, C = D / LANES;
    typedef SharedLayout<D> Head;
    typedef SharedLayout<TILE_S> Keys;
    extern __shared__ __align__(16) float shared[];
    float *k_tile = shared, *v_tile = k_tile + D * Keys::TRANSPOSED_STRIDE;                          // [d][key] both
    float *q_tile = v_tile + D * Keys::TRANSPOSED_STRIDE, *dy_tile = q_tile + TILE_T * Head::STRIDE;  // [query][d] both
    float *p_tile = dy_tile + TILE_T * Head::STRIDE, *ds_tile = p_tile + TILE_T * Keys::STRIDE;      // [query][key] both

    const int b = blockIdx.z, g = blockIdx.y, group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int column = Keys::offset(lane * COLUMNS);  // where this thread's columns of a product begin
    const int own_row = Keys::offset(group * OWN), own_column = Head::offset(lane * C);  // and its part of the result
    const int first = blockIdx.x * TILE_S, past = S - T;
    int begin = 0;
    // yours: let the loop over the queries begin where a query attends to these keys
    if (causal) begin = max(0, first - past) / TILE_T * TILE_T;
    // end
    const long long own = ((long long)b * S + first) * G * d + g * d;
    load_transposed<TILE_S, D>(k_tile, k + own, G * d, S - first, d);
    load_transposed<TILE_S, D>(v_tile, v + own, G * d, S - first, d);

    float out_k[OWN][C] = {}, out_v[OWN][C] = {};
    for (int h = g * (H / G); h < (g + 1) * (H / G); h++)
        for (int start = begin; start < T; start += TILE_T) {
            const long long queries = ((long long)b * T + start) * H * d + h * d, row_of_t = ((long long)b * H + h) * T;
            __syncthreads();
            load_rows<TILE_T, D>(q_tile, q + queries, H * d, T - start, d);
            load_rows<TILE_T, D>(dy_tile, dy + queries, H * d, T - start, d);
            __syncthreads();
            float p[ROWS][COLUMNS] = {}, ds[ROWS][COLUMNS] = {};
            multiply<ROWS, COLUMNS, D, Keys::TRANSPOSED_STRIDE>(p, q_tile + group * Head::STRIDE, k_tile + column);
            multiply<ROWS, COLUMNS, D, Keys::TRANSPOSED_STRIDE>(ds, dy_tile + group * Head::STRIDE, v_tile + column);
            const bool edge = start + TILE_T > T || first + TILE_S > S || (causal && first + TILE_S > past + start + 1);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int row = group + r * GROUPS, query = start + row, key = first + lane * COLUMNS;
                const float lse = query < T ? logsumexp[row_of_t + query] : 0.0f;
                const float row_delta = query < T ? delta[row_of_t + query] : 0.0f;
                // yours: the weights of this row, 0 where they are hidden, and the gradients of its scores
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) p[r][c] = __expf(p[r][c] * scale - lse);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++)
                    if (edge && (query >= T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f;
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) ds[r][c] = p[r][c] * (ds[r][c] - row_delta) * scale;
                // end
                store_fragment(p_tile + row * Keys::STRIDE + column, p[r]);
                store_fragment(ds_tile + row * Keys::STRIDE + column, ds[r]);
            }
            __syncthreads();
            // yours: accumulate dv in out_v and dk in out_k
            multiply_transposed<OWN, C, TILE_T, Keys::STRIDE, Head::STRIDE>(out_v, p_tile + own_row, dy_tile + own_column);
            multiply_transposed<OWN, C, TILE_T, Keys::STRIDE, Head::STRIDE>(out_k, ds_tile + own_row, q_tile + own_column);
            // end
        }
    float *dk_tile = shared, *dv_tile = dk_tile + TILE_S * Head::STRIDE;  // [key][d] both, in place of k and v
    __syncthreads();
#pragma unroll
    for (int r = 0; r < OWN; r++) {
        store_fragment(dk_tile + (group * OWN + r) * Head::STRIDE + own_column, out_k[r]);
        store_fragment(dv_tile + (group * OWN + r) * Head::STRIDE + own_column, out_v[r]);
    }
    __syncthreads();
    store_rows<TILE_S, D>(dk + own, G * d, S - first, d, dk_tile);
    store_rows<TILE_S, D>(dv + own, G * d, S - first, d, dv_tile);
}
