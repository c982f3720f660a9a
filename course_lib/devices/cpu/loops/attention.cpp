// Causal attention with grouped heads, forward and backward, without a (T, S) matrix in memory.
//
// One piece of work is one head: its keys and values are packed once, then a strip of queries at a time meets the keys that
// it can see. The scores of a strip stay in the cache, and no product is computed that the mask would hide, but for the
// ragged edge of a tile. The backward computes the scores again from the saved logsumexp. (Dao et al. 2022, without their
// blocks of keys: a strip's scores over all keys fit the cache of a CPU core.)
#include "matmul.h"
#include "numbers.h"
#include "threads.h"
#include <algorithm>

constexpr long STRIP = 48;  // queries of a strip, a multiple of ROWS for each ROWS in matmul.h

struct Sizes {
    long B, T, S, H, G, D;
    int causal;
    long seen(long t) const { return causal ? S - T + t + 1 : S; }  // how many keys query t sees
};

template <class R> struct Room {  // lengths of the padded buffers
    static constexpr long COLUMNS = Tile<R>::COLUMNS;
    long D, S, keys, line;
    explicit Room(const Sizes &z)
        : D(padded(z.D, COLUMNS)), S(padded(z.S, COLUMNS)), keys(padded(z.S, ROWS)), line(S + COLUMNS) {}
};

// scores (strip, line) = a (strip, D) times the panels of a transposed matrix, as far as any row of a tile sees.
template <class R> void strip_scores(const Sizes &z, const R *a, const R *panels, long t0, long rows, R *scores, long line) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    for (long i = 0; i < rows; i += ROWS) {
        const long seen = z.seen(std::min(t0 + i + ROWS, z.T) - 1);
        for (long s = 0; s < seen; s += COLUMNS)
            tile<false>(z.D, a + i * z.D, z.D, 1, panels + s * z.D, scores + i * line + s, line);
    }
}

template <class R>
void forward_head(const Sizes &z, const R *q, const R *k, const R *v, R *y, R *logsumexp) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    const Room<R> room(z);
    R *keys = scratch<R>(room.S * z.D + z.S * room.D + STRIP * (z.D + room.line + room.D));
    R *values = keys + room.S * z.D, *scores = values + z.S * room.D, *out = scores + STRIP * room.line;
    R *queries = out + STRIP * room.D;
    pack_transposed(k, z.G * z.D, z.S, z.D, keys);
    pack(v, z.G * z.D, z.S, z.D, values);
    const R scale = 1 / std::sqrt(R(z.D));
    for (long t0 = 0; t0 < z.T; t0 += STRIP) {
        const long rows = std::min(STRIP, z.T - t0), all = padded(rows, ROWS);
        pack_rows(q + t0 * z.H * z.D, z.H * z.D, rows, z.D, queries, all);
        strip_scores(z, queries, keys, t0, rows, scores, room.line);  // (strip, S)
        R factor[STRIP];
        for (long i = 0; i < rows; i++) {
            R *row = scores + i * room.line;
            const long seen = z.seen(t0 + i);
            const R top = largest(row, seen), total = exponentials(row, scale, top, row, seen);
            factor[i] = 1 / total;
            logsumexp[t0 + i] = scale * top + std::log(total);
        }
        for (long i = 0; i < rows; i += ROWS) {  // what all rows of a tile see by tiles, the triangle beyond row by row
            const long common = z.seen(t0 + i);
            for (long d = 0; d < room.D; d += COLUMNS)
                tile<false>(common, scores + i * room.line, room.line, 1, values + d * z.S, out + i * room.D + d, room.D);
            for (long j = i + 1; j < std::min(i + ROWS, rows); j++)
                for (long s = common; s < z.seen(t0 + j); s++)
                    for (long d = 0; d < room.D; d += COLUMNS)
                        for (long c = 0; c < COLUMNS; c++)
                            out[j * room.D + d + c] += scores[j * room.line + s] * values[d * z.S + s * COLUMNS + c];
        }
        for (long i = 0; i < rows; i++)
            for (long d = 0; d < z.D; d++) y[(t0 + i) * z.H * z.D + d] = out[i * room.D + d] * factor[i];
    }
}

// dweights and weights: from the scores and the products dy v^T of a strip to the gradient of the scores, in place.
template <class R>
void strip_softmax_backward(const Sizes &z, long t0, long rows, const R *dy, const R *y, const R *logsumexp, R *weights,
                            R *dscores, long line) {
    const R scale = 1 / std::sqrt(R(z.D));
    const long end = z.seen(t0 + rows - 1) + ROWS;
    for (long i = 0; i < rows; i++) {
        R *w = weights + i * line, *d = dscores + i * line, along = 0;
        const R *dy_row = dy + i * z.H * z.D, *y_row = y + i * z.H * z.D;
        for (long j = 0; j < z.D; j++) along += dy_row[j] * y_row[j];  // the row sum of weights * dweights
        const long seen = z.seen(t0 + i);
        const R lse = logsumexp[t0 + i];
        for (long s = 0; s < seen; s++) {
            const R weight = fast_exp(scale * w[s] - lse);
            w[s] = weight;
            d[s] = weight * (d[s] - along) * scale;
        }
        for (long s = seen; s < std::min(seen + ROWS, end); s++) w[s] = d[s] = 0;  // as far as tiles look beyond
    }
    for (long i = rows; i < padded(rows, ROWS); i++)
        for (long s = 0; s < end; s++) weights[i * line + s] = dscores[i * line + s] = 0;
}

// gradient (keys, D in panels) += a (strip, S) transposed times b (strip, D in panels), from the first query that sees a key.
template <class R>
void add_over_queries(const Sizes &z, long t0, long rows, const R *a, long line, const R *b, R *gradient, const Room<R> &room) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    const long seen = z.seen(t0 + rows - 1);
    for (long d = 0; d < room.D; d += COLUMNS)
        for (long s = 0; s < seen; s += ROWS) {
            const long first = z.causal ? std::max(0L, s - (z.S - z.T) - t0) : 0;
            tile<true>(rows - first, a + first * line + s, 1, line, b + d * rows + first * COLUMNS,
                       gradient + d * room.keys + s * COLUMNS, COLUMNS);
        }
}

// One key-value head and the H / G query heads that read it.
template <class R>
void backward_group(const Sizes &z, const R *dy, const R *q, const R *k, const R *v, const R *y, const R *logsumexp, R *dq,
                    R *dk, R *dv) {
    constexpr long COLUMNS = Tile<R>::COLUMNS;
    const Room<R> room(z);
    const long part = room.S * z.D, gradient = room.keys * room.D, strip = STRIP * room.line, rows_d = STRIP * room.D;
    R *keys_t = scratch<R>(2 * part + z.S * room.D + 2 * gradient + 2 * strip + 5 * rows_d);
    R *values_t = keys_t + part, *keys = values_t + part, *dkeys = keys + z.S * room.D, *dvalues = dkeys + gradient;
    R *weights = dvalues + gradient, *dscores = weights + strip, *queries = dscores + strip;
    R *queries_p = queries + rows_d, *dys = queries_p + rows_d, *dys_p = dys + rows_d, *out = dys_p + rows_d;
    pack_transposed(k, z.G * z.D, z.S, z.D, keys_t);
    pack_transposed(v, z.G * z.D, z.S, z.D, values_t);
    pack(k, z.G * z.D, z.S, z.D, keys);
    std::fill(dkeys, dkeys + 2 * gradient, R(0));
    const long step = z.H * z.D;  // from one query to the next
    for (long head = 0; head < z.H / z.G; head++, q += z.D, dy += z.D, y += z.D, dq += z.D, logsumexp += z.T)
        for (long t0 = 0; t0 < z.T; t0 += STRIP) {
            const long rows = std::min(STRIP, z.T - t0), all = padded(rows, ROWS);
            pack_rows(q + t0 * step, step, rows, z.D, queries, all);
            pack_rows(dy + t0 * step, step, rows, z.D, dys, all);
            pack(q + t0 * step, step, rows, z.D, queries_p);
            pack(dy + t0 * step, step, rows, z.D, dys_p);
            strip_scores(z, queries, keys_t, t0, rows, weights, room.line);  // q k^T
            strip_scores(z, dys, values_t, t0, rows, dscores, room.line);    // dy v^T
            strip_softmax_backward(z, t0, rows, dy + t0 * step, y + t0 * step, logsumexp, weights, dscores, room.line);
            add_over_queries(z, t0, rows, weights, room.line, dys_p, dvalues, room);    // dv += weights^T dy
            add_over_queries(z, t0, rows, dscores, room.line, queries_p, dkeys, room);  // dk += dscores^T q
            for (long i = 0; i < rows; i += ROWS) {  // dq = dscores k
                const long seen = z.seen(std::min(t0 + i + ROWS, z.T) - 1);
                for (long d = 0; d < room.D; d += COLUMNS)
                    tile<false>(seen, dscores + i * room.line, room.line, 1, keys + d * z.S, out + i * room.D + d, room.D);
            }
            for (long i = 0; i < rows; i++)
                for (long d = 0; d < z.D; d++) dq[(t0 + i) * step + d] = out[i * room.D + d];
        }
    for (long s = 0; s < z.S; s++)
        for (long d = 0; d < z.D; d++) {
            const long from = d / COLUMNS * COLUMNS * room.keys + s * COLUMNS + d % COLUMNS, to = s * z.G * z.D + d;
            dk[to] = dkeys[from];
            dv[to] = dvalues[from];
        }
}

// q, y (B, T, H, D), k, v (B, S, G, D), logsumexp (B, H, T)
extern "C" void attention_forward(int wide, const void *q, const void *k, const void *v, void *y, void *logsumexp, long B,
                                  long T, long S, long H, long G, long D, int causal) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const Sizes z{B, T, S, H, G, D, causal};
        parallel_for(B * H, [=](long piece) {
            const long b = piece / H, h = piece % H, query = (b * T * H + h) * D, key = (b * S * G + h / (H / G)) * D;
            forward_head(z, (const R *)q + query, (const R *)k + key, (const R *)v + key, (R *)y + query,
                         (R *)logsumexp + piece * T);
        });
    });
}

extern "C" void attention_backward(int wide, const void *dy, const void *q, const void *k, const void *v, const void *y,
                                   const void *logsumexp, void *dq, void *dk, void *dv, long B, long T, long S, long H,
                                   long G, long D, int causal) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const Sizes z{B, T, S, H, G, D, causal};
        parallel_for(B * G, [=](long piece) {
            const long b = piece / G, g = piece % G, h = g * (H / G), query = (b * T * H + h) * D, key = (b * S * G + g) * D;
            backward_group(z, (const R *)dy + query, (const R *)q + query, (const R *)k + key, (const R *)v + key,
                           (const R *)y + query, (const R *)logsumexp + (b * H + h) * T, (R *)dq + query, (R *)dk + key,
                           (R *)dv + key);
        });
    });
}
