// Linear layers with quantised weights, y (n, N) = x (n, K) weight (N, K)^T + bias, for a few rows, as in generation; and the weights
// written out as floats, for many rows, which then go through the ordinary product.
//
// With one row a weight is read once and used once, so what counts is bytes: 4 bits in place of 32. Words of codes are read as a
// vector and shifted, all lanes alike, so code j of each word comes at once; x was put into that order before, once for all outputs.
// Scales multiply sums, not codes. Zero points leave the loop too: sum s (c - z) x = sum s c x - sum s z x.
#include "numbers.h"
#include "threads.h"
#include <algorithm>

constexpr long LANES = 8, GROUP = 32, GROUP_WORDS = 4;  // words of a vector; codes and words of a group of int4
constexpr long WEIGHTS = 1 << 16;                       // of a piece of work

typedef uint32_t Words __attribute__((vector_size(4 * LANES)));
typedef int32_t Whole __attribute__((vector_size(4 * LANES)));
template <class R> struct Of {
    typedef R Lanes __attribute__((vector_size(LANES * sizeof(R))));
};

template <class R> inline R sum_of(typename Of<R>::Lanes lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// Code J of each word: of 8 bits with a sign, of 4 without.
template <int BITS, int J> inline Whole words_of(Words words) {
    if (BITS == 8) return (Whole)(words << (24 - 8 * J)) >> 24;
    return (Whole)(words >> 4 * J & 15);
}

// sum += code j of each word times the j-th vector of x, for all j of a word.
template <int BITS, class R, int J = 0>
inline void add_products(Words words, const R *x, typename Of<R>::Lanes &sum) {
    typedef typename Of<R>::Lanes Lanes;
    if constexpr (J < 32 / BITS) {
        Lanes values;
        std::memcpy(&values, x + J * LANES, sizeof values);
        sum += __builtin_convertvector(words_of<BITS, J>(words), Lanes) * values;
        add_products<BITS, R, J + 1>(words, x, sum);
    }
}

// The words from `from` on; zeros beyond `count`.
inline Words words_at(const uint32_t *from, long count) {
    Words words = {};
    if (count >= LANES)
        std::memcpy(&words, from, sizeof words);
    else
        for (long i = 0; i < count; i++) words[i] = from[i];
    return words;
}

// A row of x (K), zeros behind it, in the order in which a vector of words has its codes.
template <int BITS, class R> void ordered(const R *x, long K, R *to) {
    constexpr long CODES = 32 / BITS;
    for (long k = 0; k < K; k += LANES * CODES, to += LANES * CODES)
        for (long i = 0; i < LANES * CODES; i++) to[i % CODES * LANES + i / CODES] = k + i < K ? x[k + i] : 0;
}

// int8, one scale for each output.
template <class R>
void int8_rows(long n, long K, long N, const R *x, const uint32_t *words, const R *scales, const R *bias, R *y) {
    typedef typename Of<R>::Lanes Lanes;
    const long line = pieces_of(K, 4), room = pieces_of(line, LANES) * LANES * 4;
    R *rows = scratch<R>(n * room);
    for (long row = 0; row < n; row++) ordered<8>(x + row * K, K, rows + row * room);
    parallel_ranges(N, 1 + WEIGHTS / K, [=](long start, long stop) {
        for (long m = start; m < stop; m++)
            for (long row = 0; row < n; row++) {
                const R *from = rows + row * room;
                Lanes lanes = {}, others = {};  // two sums, so that one need not wait for the other
                for (long w = 0; w < line; w += LANES, from += LANES * 4) {
                    add_products<8>(words_at(words + m * line + w, line - w), from, lanes);
                    std::swap(lanes, others);
                }
                y[row * N + m] = sum_of<R>(lanes + others) * scales[m] + (bias ? bias[m] : 0);
            }
    });
}

// int4, a scale for each group of 32 along K, and a zero point, 8 where there are none.
template <class R>
void int4_rows(long n, long K, long N, const R *x, const uint32_t *words, const R *scales, const R *zeros, const R *bias, R *y) {
    typedef typename Of<R>::Lanes Lanes;
    const long groups = pieces_of(K, GROUP), line = groups * GROUP_WORDS, room = (groups + 1) / 2 * 2 * GROUP;
    R *rows = scratch<R>(n * (room + groups)), *sums = rows + n * room;  // sums: of x over each group
    for (long row = 0; row < n; row++) {
        ordered<4>(x + row * K, K, rows + row * room);
        for (long g = 0; g < groups; g++) {
            R sum = 0;
            for (long k = g * GROUP; k < std::min(K, (g + 1) * GROUP); k++) sum += x[row * K + k];
            sums[row * groups + g] = sum;
        }
    }
    parallel_ranges(N, 1 + WEIGHTS / K, [=](long start, long stop) {
        for (long m = start; m < stop; m++)
            for (long row = 0; row < n; row++) {
                const R *from = rows + row * room, *scale = scales + m * groups, *sum = sums + row * groups;
                Lanes lanes = {};
                for (long g = 0; g < groups; g += 2, from += 2 * GROUP) {
                    const R first = scale[g], second = g + 1 < groups ? scale[g + 1] : 0;
                    const Lanes factors = {first, first, first, first, second, second, second, second};
                    Lanes products = {};
                    add_products<4>(words_at(words + m * line + g * GROUP_WORDS, (groups - g) * GROUP_WORDS), from, products);
                    lanes += products * factors;
                }
                R shift = 0;
                if (zeros)
                    for (long g = 0; g < groups; g++) shift += scale[g] * zeros[m * groups + g] * sum[g];
                else
                    for (long g = 0; g < groups; g++) shift += scale[g] * 8 * sum[g];
                y[row * N + m] = sum_of<R>(lanes) - shift + (bias ? bias[m] : 0);
            }
    });
}

extern "C" void linear_int8(int wide, const void *x, const void *words, const void *scales, const void *bias, void *y, long n,
                            long K, long N) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        int8_rows<R>(n, K, N, (const R *)x, (const uint32_t *)words, (const R *)scales, (const R *)bias, (R *)y);
    });
}

extern "C" void linear_int4(int wide, const void *x, const void *words, const void *scales, const void *zeros, const void *bias,
                            void *y, long n, long K, long N) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        int4_rows<R>(n, K, N, (const R *)x, (const uint32_t *)words, (const R *)scales, (const R *)zeros, (const R *)bias,
                     (R *)y);
    });
}

// weight (N, K)
extern "C" void dequantise_int8(int wide, const void *words_, const void *scales_, void *weight_, long N, long K) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const long line = (K + 3) / 4 * 4;
        parallel_ranges(N, 1 + WEIGHTS / K, [=](long start, long stop) {
            for (long m = start; m < stop; m++) {
                const int8_t *code = (const int8_t *)words_ + m * line;
                const R scale = ((const R *)scales_)[m];
                R *weight = (R *)weight_ + m * K;
                for (long k = 0; k < K; k++) weight[k] = code[k] * scale;
            }
        });
    });
}

extern "C" void dequantise_int4(int wide, const void *words_, const void *scales_, const void *zeros_, void *weight_, long N,
                                long K) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const long groups = pieces_of(K, GROUP);
        parallel_ranges(N, 1 + WEIGHTS / K, [=](long start, long stop) {
            for (long at = start * groups; at < stop * groups; at++) {
                const uint32_t *words = (const uint32_t *)words_ + at * GROUP_WORDS;
                const R scale = ((const R *)scales_)[at], zero = zeros_ ? ((const R *)zeros_)[at] : 8;
                const long first = at % groups * GROUP, count = std::min(GROUP, K - first);
                R *weight = (R *)weight_ + at / groups * K + first;
                for (long k = 0; k < count; k++) weight[k] = (int(words[k / 8] >> k % 8 * 4 & 15) - zero) * scale;
            }
        });
    });
}
