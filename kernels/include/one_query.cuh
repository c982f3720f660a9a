// Attention of one query over rows that lie anywhere: a block is 16 groups of 8 lanes.
//
//   attend_one<D>(q, S, d, scale, key, value, store_y) -> logsumexp    key(s)[i], value(s)[i] are number i of row s, as a float;
//                                                                      store_y(i, number) writes number i of the result
//
// A key is read once and used once, so reading is the bottleneck. Each group takes every 16th row and keeps an online softmax of its
// own (running maximum m, running sum l, output); at the end the 16 of them are merged in order: the same bits on every run. Lane l
// of a group owns the numbers l, l + 8, ... of the head.
// Limits: all READER_THREADS threads call together; d at most D, a multiple of 8; at least one row.
// Architectures: all.
#pragma once
#include "numbers.cuh"
#include "reduce.cuh"

constexpr int READERS = 16, READER_LANES = 8, READER_THREADS = READERS * READER_LANES;  // groups of a block, lanes of a group

// A row of numbers of the type X.
template <class X> struct Row {
    const X* at;
    __device__ __forceinline__ float operator[](int i) const { return to_float(at[i]); }
};

template <int D, class X, class Key, class Value, class Store>
__device__ __forceinline__ float attend_one(const X* q, int S, int d, float scale, Key key, Value value, Store store_y) {
    constexpr int OWN = D / READER_LANES;
    __shared__ float ms[READERS], ls[READERS], outs[READERS][D];
    const int group = threadIdx.x / READER_LANES, lane = threadIdx.x % READER_LANES;
    float own[OWN], out[OWN] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN; i++) own[i] = lane + i * READER_LANES < d ? to_float(q[lane + i * READER_LANES]) * scale : 0.0f;

    for (int first = 0; first < S; first += READERS) {
        const int s = first + group, read = min(s, S - 1);  // a group without a row reads the last one and ignores it
        const auto k = key(read);
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (lane + i * READER_LANES < d) score += own[i] * k[lane + i * READER_LANES];
        score = warp_sum<READER_LANES>(score);
        if (s >= S) continue;
        const float new_m = fmaxf(m, score), rescale = __expf(m - new_m), p = __expf(score - new_m);
        m = new_m;
        l = l * rescale + p;
        const auto v = value(read);
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (lane + i * READER_LANES < d) out[i] = fmaf(p, v[lane + i * READER_LANES], out[i] * rescale);
    }
    if (lane == 0) ms[group] = m;
    __syncthreads();
    float all_m = ms[0], all_l = 0.0f;
    for (int j = 1; j < READERS; j++) all_m = fmaxf(all_m, ms[j]);
    const float rescale = __expf(m - all_m);  // 0 for a group without rows
    if (lane == 0) ls[group] = l * rescale;
#pragma unroll
    for (int i = 0; i < OWN; i++) outs[group][lane + i * READER_LANES] = out[i] * rescale;
    __syncthreads();

    for (int j = 0; j < READERS; j++) all_l += ls[j];
    for (int c = threadIdx.x; c < d; c += READER_THREADS) {
        float sum = 0.0f;
        for (int j = 0; j < READERS; j++) sum += outs[j][c];
        store_y(c, sum / all_l);
    }
    return all_m + logf(all_l);
}
