// The products of attention: a strip of queries meets the keys and values of a head, which are packed once.
//
// By vectors of float32 or float64 (matmul.h), or by AMX, in bfloat16 with sums in float32 (amx.h). No product is computed that
// the mask would hide, but for the ragged edge of a tile.
#pragma once
#include "amx.h"
#include "matmul.h"
#include "numbers.h"
#include <algorithm>

struct Sizes {
    long B, T, S, H, G, D;
    int causal;
    long seen(long t) const { return causal ? S - T + t + 1 : S; }  // how many keys query t sees
    long first_query(long s) const { return causal ? std::max(0L, s - (S - T)) : 0; }  // that sees key s
};

template <class R> struct ByVectors {
    typedef R Number;  // of what is packed
    static constexpr long LANES = Tile<R>::LANES, COLUMNS = LANES * NARROW;
    static constexpr long STRIP = 48;  // queries, a multiple of ROWS for each ROWS in matmul.h
    const Sizes &z;
    const long D, keys;    // padded: columns of a head, and rows of a gradient of keys
    const long line, row;  // from one row to the next, of scores and of what has D columns
    const long of_keys, of_strip, of_weights = 0;  // numbers that are packed: of keys or values, of a strip, of its weights

    explicit ByVectors(const Sizes &z)  // lines are no powers of two, for then all rows would share a few places of the cache
        : z(z), D(padded(z.D, COLUMNS)), keys(padded(z.S, ROWS)), line(padded(z.S, COLUMNS) + COLUMNS), row(D + LANES),
          of_keys(std::max(padded(z.S, COLUMNS) * z.D, z.S * row)), of_strip(STRIP * row) {}

    // How far weights are read of a strip that sees so many keys.
    static long end(long seen) { return padded(seen + ROWS - 1, LANES); }

    // Keys or values (S, D): for `scores`, and for `weigh`.
    void pack_transposed(const R *x, R *to) const { ::pack_transposed<NARROW>(x, z.G * z.D, z.S, z.D, to); }
    void pack(const R *x, R *to) const { pack_rows(x, z.G * z.D, z.S, z.D, to, row, z.S); }
    // A strip of queries, or of their gradients: for `scores`, and for `add_over_queries`.
    void pack_left(const R *x, long rows, R *to) const { pack_rows(x, z.H * z.D, rows, z.D, to, row, padded(rows, ROWS)); }
    const R *pack_right(const R *, long, const R *left, R *) const { return left; }

    // scores (strip, line) = a (strip, D) times packed keys (S, D) transposed, as far as any row of a tile sees.
    void scores(const R *a, const R *panels, long t0, long rows, R *scores) const {
        for (long s = 0; s < z.seen(t0 + rows - 1); s += COLUMNS)
            for (long i = 0; i < rows; i += ROWS) {
                const long seen = z.seen(std::min(t0 + i + ROWS, t0 + rows) - 1);
                const R *a_row = a + i * row, *panel = panels + s * z.D;
                if (seen > s + LANES)
                    tile<false, NARROW>(z.D, a_row, row, 1, panel, COLUMNS, scores + i * line + s, line);
                else if (seen > s)  // one vector is enough
                    tile<false, 1>(z.D, a_row, row, 1, panel, COLUMNS, scores + i * line + s, line);
            }
    }

    // out (strip, row) = weights (strip, line) times packed keys or values (S, D). Weights are 0 beyond what a row sees; where
    // they must be packed, there is `room`.
    void weigh(const R *weights, const R *b, long t0, long rows, R * /* room */, R *out) const {
        for (long d = 0; d < D; d += COLUMNS)
            for (long i = 0; i < rows; i += ROWS) {
                const long seen = z.seen(std::min(t0 + i + ROWS, t0 + rows) - 1);
                tile<false, NARROW>(seen, weights + i * line, line, 1, b + d, row, out + i * row + d, row);
            }
    }

    // gradient (keys, row) += a (strip, line) transposed times packed b (strip, D), from the first query that sees a key.
    void add_over_queries(const R *a, const R *b, long t0, long rows, R * /* room */, R *gradient) const {
        for (long d = 0; d < D; d += COLUMNS)
            for (long s = 0; s < z.seen(t0 + rows - 1); s += ROWS) {
                const long first = std::max(0L, z.first_query(s) - t0);
                tile<true, NARROW>(rows - first, a + first * line + s, 1, line, b + first * row + d, row,
                                   gradient + s * row + d, row);
            }
    }
};

#ifdef AMX_TILES
// The same by blocks of 2 x 2 tiles.
struct ByTiles {
    typedef amx::Pair Number;
    static constexpr long SIDE = 2 * amx::SIDE, STRIP = 2 * SIDE, TILE = amx::TILE;  // SIDE: of a block
    const Sizes &z;
    const long D, keys, line, row;
    const long by_D, by_S, by_T = STRIP / SIDE * TILE;  // pairs of 16 rows or columns along D, along the keys, along a strip
    const long of_keys, of_strip, of_weights;

    explicit ByTiles(const Sizes &z)
        : z(z), D(padded(z.D, SIDE)), keys(padded(z.S, SIDE)), line(keys + amx::SIDE), row(D + amx::SIDE), by_D(D / SIDE * TILE),
          by_S(keys / SIDE * TILE), of_keys(keys * D / 2), of_strip(STRIP * D / 2), of_weights(STRIP * keys / 2) {
        const amx::Shapes shapes;
        _tile_loadconfig(&shapes);
    }
    ~ByTiles() { _tile_release(); }

    static long end(long seen) { return padded(seen, SIDE); }

    void pack_transposed(const float *x, Number *to) const { amx::pack_rows_of_pairs<1>(x, z.G * z.D, z.S, z.D, to, by_D, true); }
    void pack(const float *x, Number *to) const { amx::pack_columns_of_pairs<1>(x, z.G * z.D, z.D, z.S, to, by_S, false); }
    void pack_left(const float *x, long rows, Number *to) const {
        amx::pack_rows_of_pairs<1>(x, z.H * z.D, rows, z.D, to, by_D, false);
    }
    const Number *pack_right(const float *x, long rows, const Number *, Number *to) const {
        amx::pack_columns_of_pairs<1>(x, z.H * z.D, z.D, rows, to, by_T, false);
        return to;
    }

    // c (32, columns) = or += packed a (32 rows) times packed b, along so many pairs.
    static void multiply(bool add, long pairs, const Number *a, long a_line, const Number *b, long b_line, long columns, float *c,
                         long stride) {
        for (long m = 0; m < columns; m += SIDE, b += 2 * b_line)
            amx::block<1>(add, pairs / TILE, a, a + a_line, b, b + b_line, c + m, stride);
    }

    void scores(const Number *a, const Number *b, long t0, long rows, float *scores) const {
        for (long i = 0; i < rows; i += SIDE)
            multiply(false, by_D, a + i / amx::SIDE * by_D, by_D, b, by_D, end(z.seen(t0 + std::min(i + SIDE, rows) - 1)),
                     scores + i * line, line);
    }

    void weigh(const float *weights, const Number *b, long t0, long rows, Number *room, float *out) const {
        for (long i = 0; i < rows; i += SIDE) {
            const long count = std::min(SIDE, rows - i), all = end(z.seen(t0 + i + count - 1));
            amx::pack_rows_of_pairs<1>(weights + i * line, line, count, all, room, by_S, false);
            multiply(false, all / SIDE * TILE, room, by_S, b, by_S, D, out + i * row, row);
        }
    }

    void add_over_queries(const float *a, const Number *b, long t0, long rows, Number *room, float *gradient) const {
        const long all = end(z.seen(t0 + rows - 1));
        amx::pack_columns_of_pairs<1>(a, line, all, rows, room, by_T, true);
        for (long s = 0; s < all; s += SIDE) {
            const long before = std::max(0L, z.first_query(s) - t0) / SIDE * TILE;  // of queries that see none of these keys
            multiply(true, padded(rows, SIDE) / SIDE * TILE - before, room + s / amx::SIDE * by_T + before, by_T, b + before,
                     by_T, D, gradient + s * row, row);
        }
    }
};
#endif
