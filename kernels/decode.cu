// A step of generation: the new key and value go to the end of the cache, and one query attends to all of it.
//
// With one query per sequence a key is read once and used once, so reading the cache is the bottleneck. Groups of 8 lanes each
// take every 16th key and keep an online softmax of their own (running maximum m, running sum l, output); at the end the 16 of
// them are merged in order.
//
// Promise: cache_append: rows length[0] of the caches (B, N, G, D) become k and v (B, 1, G, D). decode_attention: y (B, 1, H, D)
//   and logsumexp (B, H, 1) of q (B, 1, H, D) over the first S rows of caches (B, N, G, D), or over length[0] + 1 rows if `length`
//   is given: read on the device, so that one captured graph serves every step. X is float or __nv_bfloat16. The same bits on
//   every run.
// Limits: d at most D, which is 32, 64 or 128; at least one row to attend to; length[0] < N.
// Bytes: 8 B S G D times H / G for reading keys and values in float, and little else.   FLOPs: 4 B H S D.
// Architectures: sm_75 and newer.
// Chapter: 17, read, not built.
#include "numbers.cuh"
#include "reduce.cuh"

// Thread i owns element i of k and of v.
template <class X>
__global__ void cache_append(const X* k, const X* v, X* k_cache, X* v_cache, const int* length, int n, int N, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // row: the G D numbers of one position
    if (i >= n) return;
    long long at = ((long long)(i / row) * N + length[0]) * row + i % row;
    k_cache[at] = k[i];
    v_cache[at] = v[i];
}

constexpr int DECODERS = 16, DECODER_LANES = 8;  // groups of a block, lanes of a group

// Block (h, b) owns a query; lane l of a group owns the numbers l, l + 8, ... of the head.
template <class X, int D>
__global__ void __launch_bounds__(DECODERS * DECODER_LANES)
decode_attention(const X* q, const X* k, const X* v, const int* length, X* y, float* logsumexp, int S, int N, int H, int G, int d,
                 float scale) {
    constexpr int OWN = D / DECODER_LANES;
    __shared__ float ms[DECODERS], ls[DECODERS], outs[DECODERS][D];
    const int h = blockIdx.x, b = blockIdx.y, g = h / (H / G);
    const int group = threadIdx.x / DECODER_LANES, lane = threadIdx.x % DECODER_LANES;
    if (length) S = length[0] + 1;
    q += ((long long)b * H + h) * d;
    k += ((long long)b * N * G + g) * d;
    v += ((long long)b * N * G + g) * d;
    float own[OWN], out[OWN] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; i++) own[i] = lane + i * DECODER_LANES < d ? to_float(q[lane + i * DECODER_LANES]) * scale : 0.0f;

    for (int first = 0; first < S; first += DECODERS) {
        const int s = first + group;
        const long long row = (long long)min(s, S - 1) * G * d;  // a group without a key reads the last one and ignores it
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (lane + i * DECODER_LANES < d) score += own[i] * to_float(k[row + lane + i * DECODER_LANES]);
        score = warp_sum<DECODER_LANES>(score);
        if (s >= S) continue;
        const float new_m = fmaxf(m, score), rescale = __expf(m - new_m), p = __expf(score - new_m);
        m = new_m;
        l = l * rescale + p;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (lane + i * DECODER_LANES < d) out[i] = fmaf(p, to_float(v[row + lane + i * DECODER_LANES]), out[i] * rescale);
    }
    if (lane == 0) ms[group] = m;
    __syncthreads();
    float all_m = ms[0], all_l = 0.0f;
    for (int j = 1; j < DECODERS; j++) all_m = fmaxf(all_m, ms[j]);
    const float rescale = __expf(m - all_m);  // 0 for a group without keys
    if (lane == 0) ls[group] = l * rescale;
#pragma unroll
    for (int i = 0; i < OWN; i++) outs[group][lane + i * DECODER_LANES] = out[i] * rescale;
    __syncthreads();

    for (int j = 0; j < DECODERS; j++) all_l += ls[j];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float value = 0.0f;
        for (int j = 0; j < DECODERS; j++) value += outs[j][c];
        store(&y[((long long)b * H + h) * d + c], value / all_l);
    }
    if (threadIdx.x == 0) logsumexp[(long long)b * H + h] = all_m + logf(all_l);
}
