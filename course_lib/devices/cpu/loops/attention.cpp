// Causal grouped-query attention, forward and backward, without a (T, S) matrix in memory.
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
    static constexpr long COLUMNS = Tile<R>::LANES * NARROW;
    long D, S, keys, line, row;
    explicit Room(const Sizes &z)
        : D(padded(z.D, COLUMNS)), S(padded(z.S, COLUMNS)), keys(padded(z.S, ROWS)), line(S + COLUMNS),
          row(D + Tile<R>::LANES) {}  // not a power of two, for then all rows would share a few places of the cache
};

// scores (strip, line) = a (strip, D) times the panels of a transposed matrix, as far as any row of a tile sees.
template <class R>
void strip_scores(const Sizes &z, const Room<R> &room, const R *a, const R *panels, long t0, long rows, R *scores) {
    constexpr long COLUMNS = Room<R>::COLUMNS, LANES = Tile<R>::LANES;
    for (long s = 0; s < z.seen(t0 + rows - 1); s += COLUMNS)
        for (long i = 0; i < rows; i += ROWS) {
            const long seen = z.seen(std::min(t0 + i + ROWS, t0 + rows) - 1);
            const R *row = a + i * room.row, *panel = panels + s * z.D;
            if (seen > s + LANES)
                tile<false, NARROW>(z.D, row, room.row, 1, panel, COLUMNS, scores + i * room.line + s, room.line);
            else if (seen > s)  // one vector is enough
                tile<false, 1>(z.D, row, room.row, 1, panel, COLUMNS, scores + i * room.line + s, room.line);
        }
}

// How many columns tiles and vectors cover of a row of which a query sees so many.
template <class R> long covered(long seen) { return padded(seen + ROWS - 1, Tile<R>::LANES); }

// What the queries of a strip do not see, as far as it is covered.
template <class R> void hide(const Sizes &z, long t0, long rows, R value, R *strip, long line) {
    for (long i = 0; i < rows; i++) {
        const long seen = z.seen(t0 + i);
        for (long s = seen; s < covered<R>(seen); s++) strip[i * line + s] = value;
    }
}

// out (strip, row) = weights (strip, line) times rows of keys or values (S, row). Weights are 0 beyond what a row sees.
template <class R>
void weigh_rows(const Sizes &z, const Room<R> &room, const R *weights, const R *b, long t0, long rows, R *out) {
    for (long d = 0; d < room.D; d += room.COLUMNS)
        for (long i = 0; i < rows; i += ROWS) {
            const long seen = z.seen(std::min(t0 + i + ROWS, t0 + rows) - 1);
            tile<false, NARROW>(seen, weights + i * room.line, room.line, 1, b + d, room.row, out + i * room.row + d, room.row);
        }
}

template <class R>
void forward_head(const Sizes &z, const R *q, const R *k, const R *v, R *y, R *logsumexp) {
    const Room<R> room(z);
    R *keys = scratch<R>(room.S * z.D + z.S * room.row + STRIP * (2 * room.row + room.line));
    R *values = keys + room.S * z.D, *scores = values + z.S * room.row, *out = scores + STRIP * room.line;
    R *queries = out + STRIP * room.row;
    pack_transposed<NARROW>(k, z.G * z.D, z.S, z.D, keys);
    pack_rows(v, z.G * z.D, z.S, z.D, values, room.row, z.S);
    const R scale = 1 / std::sqrt(R(z.D));
    for (long t0 = 0; t0 < z.T; t0 += STRIP) {
        const long rows = std::min(STRIP, z.T - t0);
        pack_rows(q + t0 * z.H * z.D, z.H * z.D, rows, z.D, queries, room.row, padded(rows, ROWS));
        ask_to_write(y + t0 * z.H * z.D, z.H * z.D, rows, z.D);
        strip_scores(z, room, queries, keys, t0, rows, scores);  // (strip, S)
        hide(z, t0, rows, -R(INFINITY), scores, room.line);  // a weight of 0
        R m[STRIP], l[STRIP];  // found row after row, so that one need not wait for the sum of the other
        for (long i = 0; i < rows; i++) m[i] = largest(scores + i * room.line, covered<R>(z.seen(t0 + i)));
        for (long i = 0; i < rows; i++) {
            R *row = scores + i * room.line;
            l[i] = exponentials(row, scale, m[i], row, covered<R>(z.seen(t0 + i)));
        }
        for (long i = 0; i < rows; i++) logsumexp[t0 + i] = scale * m[i] + std::log(l[i]);
        weigh_rows(z, room, scores, values, t0, rows, out);
        for (long i = 0; i < rows; i++) {
            const R factor = 1 / l[i];
            for (long d = 0; d < z.D; d++) y[(t0 + i) * z.H * z.D + d] = out[i * room.row + d] * factor;
        }
    }
}

// dweights and weights: from the scores and the products dy v^T of a strip to the gradient of the scores, in place.
template <class R>
void strip_softmax_backward(const Sizes &z, long t0, long rows, const R *dy, const R *y, const R *logsumexp, R *weights,
                            R *dscores, long line) {
    const R scale = 1 / std::sqrt(R(z.D));
    const long end = covered<R>(z.seen(t0 + rows - 1));
    hide(z, t0, rows, -R(INFINITY), weights, line);  // a weight of 0
    hide(z, t0, rows, R(0), dscores, line);
    for (long i = 0; i < rows; i++) {
        R *w = weights + i * line, *d = dscores + i * line, along = 0;
        const R *dy_row = dy + i * z.H * z.D, *y_row = y + i * z.H * z.D;
        ask_for(y_row + AHEAD * z.H * z.D, z.D);
        for (long j = 0; j < z.D; j++) along += dy_row[j] * y_row[j];  // the row sum of weights * dweights
        const R lse = logsumexp[t0 + i];
        const long count = covered<R>(z.seen(t0 + i));
        for (long s = 0; s < count; s++) {
            const R weight = fast_exp(scale * w[s] - lse);
            w[s] = weight;
            d[s] = weight * (d[s] - along) * scale;
        }
    }
    for (long i = rows; i < padded(rows, ROWS); i++)
        for (long s = 0; s < end; s++) weights[i * line + s] = dscores[i * line + s] = 0;
}

// gradient (keys, row) += a (strip, line) transposed times b (strip, row), from the first query that sees a key.
template <class R>
void add_over_queries(const Sizes &z, const Room<R> &room, const R *a, const R *b, long t0, long rows, R *gradient) {
    for (long d = 0; d < room.D; d += room.COLUMNS)
        for (long s = 0; s < z.seen(t0 + rows - 1); s += ROWS) {
            const long first = z.causal ? std::max(0L, s - (z.S - z.T) - t0) : 0;
            tile<true, NARROW>(rows - first, a + first * room.line + s, 1, room.line, b + first * room.row + d, room.row,
                       gradient + s * room.row + d, room.row);
        }
}

// One key-value head and the H / G query heads that read it.
template <class R>
void backward_group(const Sizes &z, const R *dy, const R *q, const R *k, const R *v, const R *y, const R *logsumexp, R *dq,
                    R *dk, R *dv) {
    const Room<R> room(z);
    const long part = room.S * z.D, gradient = room.keys * room.row, strip = STRIP * room.line, rows_d = STRIP * room.row;
    R *keys_t = scratch<R>(2 * part + z.S * room.row + 2 * gradient + 2 * strip + 3 * rows_d);
    R *values_t = keys_t + part, *keys = values_t + part, *dkeys = keys + z.S * room.row, *dvalues = dkeys + gradient;
    R *weights = dvalues + gradient, *dscores = weights + strip, *queries = dscores + strip, *dys = queries + rows_d;
    R *out = dys + rows_d;
    pack_rows(k, z.G * z.D, z.S, z.D, keys, room.row, z.S);
    pack_transposed<NARROW>(k, z.G * z.D, z.S, z.D, keys_t);
    pack_transposed<NARROW>(v, z.G * z.D, z.S, z.D, values_t);
    std::fill(dkeys, dkeys + 2 * gradient, R(0));
    const long step = z.H * z.D;  // from one query to the next
    for (long head = 0; head < z.H / z.G; head++, q += z.D, dy += z.D, y += z.D, dq += z.D, logsumexp += z.T)
        for (long t0 = 0; t0 < z.T; t0 += STRIP) {
            const long rows = std::min(STRIP, z.T - t0), all = padded(rows, ROWS);
            pack_rows(q + t0 * step, step, rows, z.D, queries, room.row, all);
            pack_rows(dy + t0 * step, step, rows, z.D, dys, room.row, all);
            ask_to_write(dq + t0 * step, step, rows, z.D);
            strip_scores(z, room, queries, keys_t, t0, rows, weights);  // q k^T
            strip_scores(z, room, dys, values_t, t0, rows, dscores);    // dy v^T
            strip_softmax_backward(z, t0, rows, dy + t0 * step, y + t0 * step, logsumexp, weights, dscores, room.line);
            add_over_queries(z, room, weights, dys, t0, rows, dvalues);    // dv += weights^T dy
            add_over_queries(z, room, dscores, queries, t0, rows, dkeys);  // dk += dscores^T q
            weigh_rows(z, room, dscores, keys, t0, rows, out);             // dq = dscores k
            for (long i = 0; i < rows; i++) copy_row(out + i * room.row, z.D, dq + (t0 + i) * step);
        }
    ask_to_write(dk, z.G * z.D, z.S, z.D);
    ask_to_write(dv, z.G * z.D, z.S, z.D);
    for (long s = 0; s < z.S; s++) {
        copy_row(dkeys + s * room.row, z.D, dk + s * z.G * z.D);
        copy_row(dvalues + s * room.row, z.D, dv + s * z.G * z.D);
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
