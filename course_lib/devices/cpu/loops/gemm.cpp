// C (N, M) = A (N, K) B (K, M), each of A and B as it is or transposed, by the tile of matmul.h.
//
// B is packed once, for all threads. A piece of work is a strip of C's rows in a group of its columns. K goes by blocks, so that
// a panel of B stays in the L1 cache while the tiles of a strip use it (Goto and van de Geijn 2008). How all this is cut
// depends on the shapes alone, and each sum runs over k in one order: the bits are the same for any number of threads.
#include "amx.h"
#include "matmul.h"
#include "numbers.h"
#include "threads.h"
#include <algorithm>

constexpr long DEPTH = 192, STRIP = 96;          // of K, rows of C; STRIP / 2 is a multiple of ROWS
constexpr long GROUP = 480;                      // columns of C, a multiple of COLUMNS
constexpr long PIECES = 16;                            // fewer, and several cores would not share them evenly

// Panels of x (rows, width), rows `stride` apart: panel p holds columns p * COLUMNS .. of all rows; zeros fill the last.
template <class R> void pack(const R *x, long stride, long rows, long width, R *panels) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    for (long row = 0; row < rows; row++, x += stride, panels += COLUMNS)
        for (long start = 0; start < width; start += COLUMNS) {
            R *to = panels + start * rows;
            const long count = std::min(COLUMNS, width - start);
            copy_row(x + start, count, to);
            std::fill(to + count, to + COLUMNS, R(0));
        }
}

// One tile of C that is cut off by its edge: by way of a whole one.
template <bool ADD, class R>
void edge_tile(long K, const R *a, long a_row, long a_k, const R *b, R *c, long c_row, long rows, long columns) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    alignas(VECTOR) R whole[ROWS * COLUMNS] = {};
    if (ADD)
        for (long i = 0; i < rows; i++) std::copy_n(c + i * c_row, columns, whole + i * COLUMNS);
    tile<ADD>(K, a, a_row, a_k, b, COLUMNS, whole, COLUMNS);
    for (long i = 0; i < rows; i++) std::copy_n(whole + i * COLUMNS, columns, c + i * c_row);
}

// c (rows, columns) = or += a times the panels of B, over K of one block.
template <bool ADD, class R>
void strip_of_tiles(long K, const R *a, long a_row, long a_k, const R *panels, R *c, long c_row, long rows, long columns) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    for (long j = 0; j < columns; j += COLUMNS, panels += K * COLUMNS)
        for (long i = 0; i < rows; i += ROWS) {
            const R *a_tile = a + i * a_row;
            R *c_tile = c + i * c_row + j;
            if (i + ROWS <= rows && j + COLUMNS <= columns)
                tile<ADD>(K, a_tile, a_row, a_k, panels, COLUMNS, c_tile, c_row);
            else
                edge_tile<ADD>(K, a_tile, a_row, a_k, panels, c_tile, c_row, std::min<long>(ROWS, rows - i),
                               std::min(COLUMNS, columns - j));
        }
}

template <class R> void gemm(bool turn_a, bool turn_b, long N, long K, long M, const R *a, const R *b, R *c) {
    const long depth = padded((K + pieces_of(K, DEPTH) - 1) / pieces_of(K, DEPTH), 8);
    const long groups = pieces_of(M, GROUP), width = padded(M, Tile<R>::COLUMNS);
    long strip = STRIP;
    while (pieces_of(N, strip) * groups < PIECES && strip > STRIP / 2) strip /= 2;
    const long strips = pieces_of(N, strip), blocks = pieces_of(K, depth);

    R *packed = scratch<R>(width * K);  // block by block of K, in each panel by panel
    parallel_for(blocks * groups, [=](long piece) {
        const long k = piece / groups * depth, j = piece % groups * GROUP, deep = std::min(depth, K - k);
        const long columns = std::min(GROUP, M - j);
        R *panels = packed + k * width + j * deep;
        if (turn_b)
            pack_transposed(b + j * K + k, K, columns, deep, panels);
        else
            pack(b + k * M + j, M, deep, columns, panels);
    });
    parallel_for(groups * strips, [=](long piece) {
        const long j = piece / strips * GROUP, n = piece % strips * strip;
        const long columns = std::min(GROUP, M - j), rows = std::min(strip, N - n), all = padded(rows, ROWS);
        R *room = scratch<R, 1>(all * depth + ROWS);
        for (long k = 0; k < K; k += depth) {
            const long deep = std::min(depth, K - k);
            const R *from = turn_a ? a + k * N + n : a + n * K + k;
            long a_row = K, a_k = 1;
            if (turn_a) {  // (deep, rows): what a tile reads beyond the last row ends in rows that are cut off
                pack_rows(from, N, deep, rows, room, rows, deep);
                a_row = 1, a_k = rows, from = room;
            } else if (rows < all) {
                pack_rows(from, K, rows, deep, room, deep, all);
                a_row = deep, from = room;
            }
            const R *panels = packed + k * width + j * deep;
            if (k)
                strip_of_tiles<true>(deep, from, a_row, a_k, panels, c + n * M + j, M, rows, columns);
            else
                strip_of_tiles<false>(deep, from, a_row, a_k, panels, c + n * M + j, M, rows, columns);
        }
    });
}

// The same for a few rows and B (M, K) transposed, as in generation: to pack B would cost more than to read it once.
template <class R> void gemm_few_rows(long N, long K, long M, const R *a, const R *b, R *c) {
    parallel_ranges(M, 1 + (1 << 17) / K, [=](long start, long stop) {
        for (long m = start; m < stop; m++)
            for (long n = 0; n < N; n++) {
                R sum = 0;
                for (long k = 0; k < K; k++) sum += a[n * K + k] * b[m * K + k];
                c[n * M + m] = sum;
            }
    });
}

constexpr long BY_TILES = 1 << 27;  // multiply-adds; below, to cut numbers into parts for AMX costs more than it saves

// `count` products of matrices that lie one behind the other. A few share each one's work among the threads.
extern "C" void gemm(int wide, int turn_a, int turn_b, long count, long N, long K, long M, const void *a, const void *b,
                     void *c) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const auto one = [=](long i) {
            const R *left = (const R *)a + i * N * K, *right = (const R *)b + i * K * M;
            R *to = (R *)c + i * N * M;
            if (!wide && N * M * K >= BY_TILES && amx::granted() &&
                amx::product<3>(turn_a, turn_b, (const float *)left, (const float *)right, (float *)to, N, K, M))
                return;
            if (N < ROWS && turn_b && !turn_a)
                gemm_few_rows<R>(N, K, M, left, right, to);
            else
                gemm<R>(turn_a, turn_b, N, K, M, left, right, to);
        };
        if (count >= PIECES)
            parallel_for(count, one);
        else
            for (long i = 0; i < count; i++) one(i);
    });
}
