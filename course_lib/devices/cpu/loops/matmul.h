// A small matrix product for data that is already in the cache: C (N, M) = A (N, K) B (K, M).
//
// One tile of C, ROWS x COLUMNS, stays in vector registers while k runs; each step loads one row of B's tile and multiplies
// it by ROWS elements of A. The tile is as large as the registers allow, so that arithmetic, not loading, sets the pace.
// B comes in panels of COLUMNS columns, rows one after the other; buffers are padded, so a tile never has a ragged edge.
#pragma once
#include "numbers.h"

#if defined(__AVX512F__)  // 32 registers of 64 bytes
constexpr int VECTOR = 64, ROWS = 8, VECTORS = 2;
#elif defined(__AVX__)  // 16 of 32
constexpr int VECTOR = 32, ROWS = 6, VECTORS = 2;
#elif defined(__ARM_NEON)  // 32 of 16
constexpr int VECTOR = 16, ROWS = 6, VECTORS = 4;
#else
constexpr int VECTOR = 16, ROWS = 4, VECTORS = 2;
#endif

template <class R> struct Tile {
    typedef R Vector __attribute__((vector_size(VECTOR)));
    static constexpr long LANES = VECTOR / sizeof(R), COLUMNS = LANES * VECTORS;
};

inline long padded(long n, long step) { return (n + step - 1) / step * step; }

// One tile: element (i, k) of A is a[i * a_row + k * a_k]. ADD: on top of what is in C.
template <bool ADD, class R> inline void tile(long K, const R *a, long a_row, long a_k, const R *b, R *c, long c_row) {
    typedef typename Tile<R>::Vector Vector;
    constexpr long LANES = Tile<R>::LANES;
    Vector sum[ROWS][VECTORS];
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < VECTORS; v++) sum[i][v] = ADD ? *(const Vector *)(c + i * c_row + v * LANES) : Vector{};
    for (long k = 0; k < K; k++) {
        Vector row[VECTORS];
        for (int v = 0; v < VECTORS; v++) row[v] = *(const Vector *)(b + (k * VECTORS + v) * LANES);
        for (int i = 0; i < ROWS; i++) {
            const R factor = a[i * a_row + k * a_k];
            for (int v = 0; v < VECTORS; v++) sum[i][v] += row[v] * factor;
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int v = 0; v < VECTORS; v++) *(Vector *)(c + i * c_row + v * LANES) = sum[i][v];
}

// Panels of x (rows, width), rows `stride` apart: panel p holds columns p * COLUMNS .. of all rows; zeros fill the last.
template <class R> void pack(const R *x, long stride, long rows, long width, R *panels) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    for (long start = 0; start < width; start += COLUMNS) {
        const long count = width - start < COLUMNS ? width - start : COLUMNS;
        for (long row = 0; row < rows; row++, panels += COLUMNS) {
            for (long j = 0; j < count; j++) panels[j] = x[row * stride + start + j];
            for (long j = count; j < COLUMNS; j++) panels[j] = 0;
        }
    }
}

// The same of x transposed (width, rows): panel p holds rows p * COLUMNS .. of x, element by element of its width.
template <class R> void pack_transposed(const R *x, long stride, long rows, long width, R *panels) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    for (long start = 0; start < rows; start += COLUMNS, panels += COLUMNS * width) {
        const long count = rows - start < COLUMNS ? rows - start : COLUMNS;
        for (long row = 0; row < count; row++)
            for (long k = 0; k < width; k++) panels[k * COLUMNS + row] = x[(start + row) * stride + k];
        for (long row = count; row < COLUMNS; row++)
            for (long k = 0; k < width; k++) panels[k * COLUMNS + row] = 0;
    }
}

// x (rows, width), rows `stride` apart, to rows without gaps, followed by rows of zeros up to `all`.
template <class R> void pack_rows(const R *x, long stride, long rows, long width, R *to, long all) {
    for (long row = 0; row < rows; row++)
        for (long j = 0; j < width; j++) to[row * width + j] = x[row * stride + j];
    for (long i = rows * width; i < all * width; i++) to[i] = 0;
}
