// Keys and values in pages: new rows to their slots, the rows of one text in order, one query of each text over its rows.
//
// A text's row j lies in row j % N of page table[j / N]: its block table, as an operating system's page table, so that the memory of
// a text need not be in one piece. (Kwon et al. 2023, section 4) The attention is include/one_query.cuh's, for texts of unequal length.
//
// Promise: paged_append: rows slots[i] of the pages (P N, G, D) become k and v (n, G, D). paged_gather: y (count, G, D), the first rows
//   of the text with this block table. paged_attention: y (R, H, D) of q (R, H, D), text r over its rows 0 .. positions[r]. X is float
//   or __nv_bfloat16. paged_append_int8 and paged_attention_int8: the same with a head's row in W = (D + 3) / 4 + 1 words: codes
//   -127 .. 127, four to a word, the first in the lowest bits, then the bits of their scale, max |x| / 127.
//   The same bits on every run, and for a text the same whatever the others are.
// Limits: d at most D, which is 32, 64 or 128; slots, pages and positions inside (the launch code checks); no slot twice.
// Bytes: 8 G D for each row that a text sees, times H / G, and little else; of words 8 G W.   FLOPs: 4 H D for each row.
// Architectures: sm_75 and newer.
// Chapter: 22b, built. paged_attention itself is read here, and built in NumPy.
#include "one_query.cuh"

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

// Block (h, r) owns a query. M: pages in a row of `tables`.
template <class X, int D>
__global__ void __launch_bounds__(READER_THREADS)
paged_attention(const X* q, const X* k, const X* v, const int* tables, const int* positions, X* y, int M, int N, int H, int G, int d,
                float scale) {
    const int h = blockIdx.x, r = blockIdx.y, g = h / (H / G);
    const int* table = tables + (long long)r * M;
    const long long query = ((long long)r * H + h) * d;
    const auto row = [=](int s) { return (((long long)table[s / N] * N + s % N) * G + g) * d; };
    attend_one<D>(
        q + query, positions[r] + 1, d, scale, [=](int s) { return Row<X>{k + row(s)}; }, [=](int s) { return Row<X>{v + row(s)}; },
        [=](int i, float number) { store(&y[query + i], number); });
}

// region paged_append_int8
// The lanes of a warp: each packs a word of x (d), and the last word is the scale's.
__device__ __forceinline__ void pack_row(const float* x, unsigned* words, int d, int lane) {
    float largest = 0.0f;
    for (int i = lane; i < d; i += 32) largest = Max::of(largest, fabsf(x[i]));
    const float scale = warp_max<32>(largest) / 127.0f;
    const int last = (d + 3) / 4;
    for (int w = lane; w < last; w += 32) {
        unsigned word = 0;
        // yours: the codes of numbers 4w .. 4w + 3, as far as there are so many; a code is the number / scale, rounded
        for (int i = 0; i < 4 && 4 * w + i < d; i++)
            word |= (unsigned)((int)rintf(scale == 0.0f ? 0.0f : x[4 * w + i] / scale) & 255) << 8 * i;
        // end
        words[w] = word;
    }
    if (lane == 0) words[last] = __float_as_uint(scale);
}

// Warp i owns row i of k and of v: a head of a token.
__global__ void paged_append_int8(const float* k, const float* v, unsigned* k_pages, unsigned* v_pages, const int* slots, int rows,
                                  int G, int d) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, W = (d + 3) / 4 + 1;
    if (i >= rows) return;
    const long long at = ((long long)slots[i / G] * G + i % G) * W;
    pack_row(k + (long long)i * d, k_pages + at, d, lane);
    pack_row(v + (long long)i * d, v_pages + at, d, lane);
}
// endregion

// region paged_attention_int8
// A row in words.
struct Int8Row {
    const unsigned* words;
    float scale;
    __device__ __forceinline__ float operator[](int i) const {
        // yours: number i of the row; its code is a byte of a word, and has a sign
        return scale * (signed char)(words[i / 4] >> 8 * (i % 4));
        // instead
        // return 0.0f;
        // end
    }
};

// As paged_attention.
template <int D>
__global__ void __launch_bounds__(READER_THREADS)
paged_attention_int8(const float* q, const unsigned* k, const unsigned* v, const int* tables, const int* positions, float* y, int M,
                     int N, int H, int G, int d, float scale) {
    const int h = blockIdx.x, r = blockIdx.y, g = h / (H / G), W = (d + 3) / 4 + 1;
    const int* table = tables + (long long)r * M;
    const long long query = ((long long)r * H + h) * d;
    const auto row = [=](const unsigned* pages, int s) {
        const unsigned* words = pages + (((long long)table[s / N] * N + s % N) * G + g) * W;
        return Int8Row{words, __uint_as_float(words[W - 1])};
    };
    attend_one<D>(
        q + query, positions[r] + 1, d, scale, [=](int s) { return row(k, s); }, [=](int s) { return row(v, s); },
        [=](int i, float number) { store(&y[query + i], number); });
}
// endregion
