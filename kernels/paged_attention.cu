// Keys and values in pages: new rows to their slots, the rows of one text in order, one query of each text over its rows.
//
// A text's row j lies in row j % N of page table[j / N]: its block table, as an operating system's page table, so that the memory of
// a text need not be in one piece. (Kwon et al. 2023, section 4) The attention is decode.cu's, for texts of unequal length: groups of
// 8 lanes each take every 16th key and keep an online softmax of their own (running maximum m, running sum l, output); at the end
// the 16 of them are merged in order.
//
// Promise: paged_append: rows slots[i] of the pages (P N, G, D) become k and v (n, G, D). paged_gather: y (count, G, D), the first rows
//   of the text with this block table. paged_attention: y (R, H, D) of q (R, H, D), text r over its rows 0 .. positions[r]. X is float
//   or __nv_bfloat16. The same bits on every run, and for a text the same whatever the others are.
// Limits: d at most D, which is 32, 64 or 128; slots, pages and positions inside (the launch code checks); no slot twice.
// Bytes: 8 G D for each row that a text sees, times H / G, and little else.   FLOPs: 4 H D for each row.
// Architectures: sm_75 and newer.
// Chapter: 22b, built. paged_attention itself is read here, and built in NumPy.
#include "numbers.cuh"
#include "reduce.cuh"

// Thread i owns element i of k and of v.
template <class X>
__global__ void paged_append(const X* k, const X* v, X* k_pages, X* v_pages, const int* slots, int n, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // row: the G D numbers of one token
    if (i >= n * row) return;
    long long at = (long long)slots[i / row] * row + i % row;
    k_pages[at] = k[i];
    v_pages[at] = v[i];
}

// Thread i owns element i of y.
template <class X> __global__ void paged_gather(const X* pages, const int* table, X* y, int count, int N, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * row) return;
    int j = i / row;
    y[i] = pages[((long long)table[j / N] * N + j % N) * row + i % row];
}

constexpr int READERS = 16, READER_LANES = 8;  // groups of a block, lanes of a group

// Block (h, r) owns a query; lane l of a group owns the numbers l, l + 8, ... of the head. M: pages in a row of `tables`.
template <class X, int D>
__global__ void __launch_bounds__(READERS * READER_LANES)
paged_attention(const X* q, const X* k, const X* v, const int* tables, const int* positions, X* y, int M, int N, int H, int G, int d,
                float scale) {
    constexpr int OWN = D / READER_LANES;
    __shared__ float ms[READERS], ls[READERS], outs[READERS][D];
    const int h = blockIdx.x, r = blockIdx.y, g = h / (H / G);
    const int group = threadIdx.x / READER_LANES, lane = threadIdx.x % READER_LANES;
    const int* table = tables + (long long)r * M;
    const int S = positions[r] + 1;
    q += ((long long)r * H + h) * d;
    float own[OWN], out[OWN] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; i++) own[i] = lane + i * READER_LANES < d ? to_float(q[lane + i * READER_LANES]) * scale : 0.0f;

    for (int first = 0; first < S; first += READERS) {
        const int s = first + group, read = min(s, S - 1);  // a group without a key reads the last one and ignores it
        const long long row = (((long long)table[read / N] * N + read % N) * G + g) * d;
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (lane + i * READER_LANES < d) score += own[i] * to_float(k[row + lane + i * READER_LANES]);
        score = warp_sum<READER_LANES>(score);
        if (s >= S) continue;
        const float new_m = fmaxf(m, score), rescale = __expf(m - new_m), p = __expf(score - new_m);
        m = new_m;
        l = l * rescale + p;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (lane + i * READER_LANES < d) out[i] = fmaf(p, to_float(v[row + lane + i * READER_LANES]), out[i] * rescale);
    }
    if (lane == 0) ms[group] = m;
    __syncthreads();
    float all_m = ms[0], all_l = 0.0f;
    for (int j = 1; j < READERS; j++) all_m = fmaxf(all_m, ms[j]);
    const float rescale = __expf(m - all_m);  // 0 for a group without keys
    if (lane == 0) ls[group] = l * rescale;
#pragma unroll
    for (int i = 0; i < OWN; i++) outs[group][lane + i * READER_LANES] = out[i] * rescale;
    __syncthreads();

    for (int j = 0; j < READERS; j++) all_l += ls[j];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float value = 0.0f;
        for (int j = 0; j < READERS; j++) value += outs[j][c];
        store(&y[((long long)r * H + h) * d + c], value / all_l);
    }
}
