// A small matrix product for data that is already in the cache: C (N, M) = A (N, K) B (K, M).
//
// One tile of C, ROWS x COLUMNS, stays in vector registers while k runs; each step loads one row of B's tile and multiplies
// it by ROWS elements of A. The tile is as large as the registers allow, so that arithmetic, not loading, sets the pace.
// Buffers are padded, so a tile never has a ragged edge. Below stands what brings matrices into that form.
#pragma once
#include "numbers.h"
#include <algorithm>
#include <utility>

#ifndef __has_builtin  // before GCC 10
#define __has_builtin(name) 0
#endif

#if defined(__AVX512F__)  // 32 registers of 64 bytes
constexpr int VECTOR = 64, ROWS = 8, VECTORS = 3;
#elif defined(__AVX__)  // 16 of 32
constexpr int VECTOR = 32, ROWS = 6, VECTORS = 2;
#elif defined(__ARM_NEON)  // 32 of 16
constexpr int VECTOR = 16, ROWS = 6, VECTORS = 4;
#else
constexpr int VECTOR = 16, ROWS = 4, VECTORS = 2;
#endif
constexpr int NARROW = VECTORS == 3 ? 2 : VECTORS;  // for heads, whose 32, 64 or 128 columns three would fill up with zeros

template <class E> struct Tile {  // of elements E
    typedef E Vector __attribute__((vector_size(VECTOR)));
    typedef E Sum;
    static constexpr long LANES = VECTOR / sizeof(E), COLUMNS = LANES * VECTORS;
    static Vector add_product(Vector sum, Vector row, E factor) { return sum + row * factor; }
};

inline long padded(long n, long step) { return (n + step - 1) / step * step; }

// One tile, or its first N vectors of columns: element (i, k) of A is a[i * a_row + k * a_k]. ADD: on top of what is in C.
// Inlined, so that the compiler knows which of the two steps is 1.
template <bool ADD, int N = VECTORS, class E>
inline __attribute__((always_inline)) void tile(long K, const E *a, long a_row, long a_k, const E *b, long b_row,
                                                typename Tile<E>::Sum *c, long c_row) {
    typedef typename Tile<E>::Sum Sum;
    typedef typename Tile<E>::Vector Vector;
    typedef typename Tile<Sum>::Vector Sums;
    typedef Sum Anywhere __attribute__((vector_size(VECTOR), aligned(sizeof(Sum))));  // C may lie as it likes
    constexpr long LANES = Tile<E>::LANES;
    Sums sum[ROWS][N];
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < N; v++) sum[i][v] = ADD ? *(const Anywhere *)(c + i * c_row + v * LANES) : Sums{};
    for (long k = 0; k < K; k++) {
        Vector row[N];
        for (int v = 0; v < N; v++) row[v] = *(const Vector *)(b + k * b_row + v * LANES);
        for (int i = 0; i < ROWS; i++) {
            const E factor = a[i * a_row + k * a_k];
            for (int v = 0; v < N; v++) sum[i][v] = Tile<E>::add_product(sum[i][v], row[v], factor);
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < N; v++) *(Anywhere *)(c + i * c_row + v * LANES) = sum[i][v];
}

// a and b are rows of blocks of HALF lanes: every second block of a changes places with the block before it in b.
template <int HALF, class Vector, size_t... LANE>
inline void exchange(Vector &a, Vector &b, std::index_sequence<LANE...>) {
    constexpr int LANES = sizeof...(LANE);
    const Vector first = a, second = b;
#if __has_builtin(__builtin_shufflevector)
    a = __builtin_shufflevector(first, second, (LANE & HALF ? LANES + LANE - HALF : LANE)...);
    b = __builtin_shufflevector(first, second, (LANE & HALF ? LANES + LANE : LANE + HALF)...);
#else
    ((a[LANE] = LANE & HALF ? second[LANE - HALF] : first[LANE]), ...);
    ((b[LANE] = LANE & HALF ? second[LANE] : first[LANE + HALF]), ...);
#endif
}

// Transpose a square: blocks of half its side first, single lanes last.
template <int HALF, class Vector, size_t LANES> inline void transpose(Vector (&square)[LANES]) {
    if constexpr (HALF > 0) {
        for (size_t i = 0; i < LANES; i++)
            if (!(i & HALF)) exchange<HALF>(square[i], square[i + HALF], std::make_index_sequence<LANES>());
        transpose<HALF / 2>(square);
    }
}

// Memory is slower than a product, so rows are asked for before they are needed. (No harm in rows that do not exist.)
constexpr long AHEAD = 48;

template <class R> inline void ask_for(const R *row, long width) {
    for (long j = 0; j < width; j += 64 / sizeof(R)) __builtin_prefetch(row + j);
}

template <class R> inline void ask_to_write(const R *rows, long stride, long count, long width) {
    for (long row = 0; row < count; row++)
        for (long j = 0; j < width; j += 64 / sizeof(R)) __builtin_prefetch(rows + row * stride + j, 1);
}

template <class R> inline void copy_row(const R *x, long width, R *to) {
    constexpr long LANES = Tile<R>::LANES;
    long j = 0;
    for (; j + LANES <= width; j += LANES) std::memcpy(to + j, x + j, LANES * sizeof(R));  // one move each
    for (; j < width; j++) to[j] = x[j];
}

// x (rows, width), rows `stride` apart, to rows `line` apart, filled up with zeros, as are the rows up to `all`.
template <class R> void pack_rows(const R *x, long stride, long rows, long width, R *to, long line, long all) {
    for (long row = 0; row < rows; row++, x += stride, to += line) {
        ask_for(x + AHEAD * stride, width);
        copy_row(x, width, to);
        for (long j = width; j < line; j++) to[j] = 0;
    }
    std::fill(to, to + (all - rows) * line, R(0));
}

// Panels of x (rows, width) transposed, rows `stride` apart: panel p is (width, COLUMNS) and holds rows p * COLUMNS .. of x.
template <int N = VECTORS, class R> void pack_transposed(const R *x, long stride, long rows, long width, R *panels) {
    typedef typename Tile<R>::Vector Vector;
    constexpr long LANES = Tile<R>::LANES, COLUMNS = LANES * N;
    for (long start = 0; start < padded(rows, COLUMNS); start += LANES) {
        R *panel = panels + start / COLUMNS * COLUMNS * width + start % COLUMNS;
        for (long k = 0; k < width; k += LANES) {
            const long count = width - k < LANES ? width - k : LANES;
            Vector square[LANES] = {};
            for (long i = 0; i < LANES && start + i < rows; i++) {
                const R *from = x + (start + i) * stride + k;
                __builtin_prefetch(from + AHEAD * stride);
                if (count == LANES)
                    std::memcpy(&square[i], from, sizeof(Vector));
                else
                    for (long j = 0; j < count; j++) square[i][j] = from[j];
            }
            transpose<LANES / 2>(square);
            for (long j = 0; j < count; j++) *(Vector *)(panel + (k + j) * COLUMNS) = square[j];
        }
    }
}
