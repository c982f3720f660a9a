// Causal grouped-query attention, forward and backward, without a (T, S) matrix in memory.
//
// One piece of work is one head: its keys and values are packed once, then a strip of queries at a time meets the keys that
// it can see. The scores of a strip stay in the cache. The backward computes the scores again from the saved logsumexp.
// (Dao et al. 2022, without their blocks of keys: a strip's scores over all keys fit the cache of a CPU core.)
#include "softmax_rows.h"
#include "strips.h"
#include "threads.h"

template <class Products, class R>
void forward_head(const Sizes &z, const R *q, const R *k, const R *v, R *y, R *logsumexp) {
    typedef typename Products::Number Number;
    constexpr long STRIP = Products::STRIP;
    const Products by(z);
    Number *keys = scratch<Number>(2 * by.of_keys + by.of_strip + by.of_weights), *values = keys + by.of_keys;
    Number *queries = values + by.of_keys, *room = queries + by.of_strip;
    R *scores = scratch<R, 1>(STRIP * (by.line + by.row)), *out = scores + STRIP * by.line;
    by.pack_transposed(k, keys);
    by.pack(v, values);
    const long step = z.H * z.D;  // from one query to the next
    const R scale = 1 / std::sqrt(R(z.D));
    for (long t0 = 0; t0 < z.T; t0 += STRIP) {
        const long rows = std::min(STRIP, z.T - t0);
        by.pack_left(q + t0 * step, rows, queries);
        ask_to_write(y + t0 * step, step, rows, z.D);
        by.scores(queries, keys, t0, rows, scores);  // (strip, S)
        alignas(VECTOR) R m[STRIP], l[STRIP];
        softmax_rows(scores, by.line, rows, scale, [&](long i) { return z.seen(t0 + i); }, by.end(z.seen(t0 + rows - 1)), m, l);
        for (long i = 0; i < rows; i++) logsumexp[t0 + i] = scale * m[i] + std::log(l[i]);
        by.weigh(scores, values, t0, rows, room, out);
        for (long i = 0; i < rows; i++) {
            const R factor = 1 / l[i];
            for (long d = 0; d < z.D; d++) y[(t0 + i) * step + d] = out[i * by.row + d] * factor;
        }
    }
}

// One key-value head and the H / G query heads that read it.
template <class Products, class R>
void backward_group(const Sizes &z, const R *dy, const R *q, const R *k, const R *v, const R *y, const R *logsumexp, R *dq,
                    R *dk, R *dv) {
    typedef typename Products::Number Number;
    constexpr long STRIP = Products::STRIP;
    const Products by(z);
    const long gradient = by.keys * by.row, strip = STRIP * by.line;
    Number *keys_t = scratch<Number>(3 * by.of_keys + 4 * by.of_strip + by.of_weights), *values_t = keys_t + by.of_keys;
    Number *keys = values_t + by.of_keys, *queries = keys + by.of_keys, *dys = queries + by.of_strip;
    Number *room = dys + 3 * by.of_strip;
    R *dkeys = scratch<R, 1>(2 * gradient + 2 * strip + STRIP * by.row), *dvalues = dkeys + gradient;
    R *weights = dvalues + gradient, *dscores = weights + strip, *out = dscores + strip;
    by.pack_transposed(k, keys_t);
    by.pack_transposed(v, values_t);
    by.pack(k, keys);
    std::fill(dkeys, dkeys + 2 * gradient, R(0));
    const long step = z.H * z.D;  // from one query to the next
    const R scale = 1 / std::sqrt(R(z.D));
    for (long head = 0; head < z.H / z.G; head++, q += z.D, dy += z.D, y += z.D, dq += z.D, logsumexp += z.T)
        for (long t0 = 0; t0 < z.T; t0 += STRIP) {
            const long rows = std::min(STRIP, z.T - t0), end = by.end(z.seen(t0 + rows - 1));
            by.pack_left(q + t0 * step, rows, queries);
            by.pack_left(dy + t0 * step, rows, dys);
            ask_to_write(dq + t0 * step, step, rows, z.D);
            by.scores(queries, keys_t, t0, rows, weights);  // q k^T
            by.scores(dys, values_t, t0, rows, dscores);    // dy v^T
            softmax_rows_backward(weights, dscores, by.line, rows, scale, [&](long i) { return z.seen(t0 + i); }, end,
                                  logsumexp + t0, dy + t0 * step, y + t0 * step, step, z.D);
            const Number *right = by.pack_right(dy + t0 * step, rows, dys, dys + by.of_strip);
            by.add_over_queries(weights, right, t0, rows, room, dvalues);  // dv += weights^T dy
            right = by.pack_right(q + t0 * step, rows, queries, dys + 2 * by.of_strip);
            by.add_over_queries(dscores, right, t0, rows, room, dkeys);  // dk += dscores^T q
            by.weigh(dscores, keys, t0, rows, room, out);                // dq = dscores k
            for (long i = 0; i < rows; i++) copy_row(out + i * by.row, z.D, dq + (t0 + i) * step);
        }
    ask_to_write(dk, z.G * z.D, z.S, z.D);
    ask_to_write(dv, z.G * z.D, z.S, z.D);
    for (long s = 0; s < z.S; s++) {
        copy_row(dkeys + s * by.row, z.D, dk + s * z.G * z.D);
        copy_row(dvalues + s * by.row, z.D, dv + s * z.G * z.D);
    }
}

template <class P> struct Kind {
    typedef P Products;
};

// work(kind, number): what multiplies, and the type of what is multiplied. In bfloat16 if `rounded`, where AMX is.
template <class Work> void with_products(int wide, int rounded, Work work) {
#ifdef AMX_TILES
    if (!wide && rounded && amx::granted()) return work(Kind<ByTiles>(), float());
#endif
    (void)rounded;
    with_type(wide, [=](auto r) { work(Kind<ByVectors<decltype(r)>>(), r); });
}

// q, y (B, T, H, D), k, v (B, S, G, D), logsumexp (B, H, T)
extern "C" void attention_forward(int wide, int rounded, const void *q, const void *k, const void *v, void *y, void *logsumexp,
                                  long B, long T, long S, long H, long G, long D, int causal) {
    with_products(wide, rounded, [=](auto kind, auto r) {
        using R = decltype(r);
        const Sizes z{B, T, S, H, G, D, causal};
        parallel_for(B * H, [=](long piece) {
            const long b = piece / H, h = piece % H, query = (b * T * H + h) * D, key = (b * S * G + h / (H / G)) * D;
            forward_head<typename decltype(kind)::Products>(z, (const R *)q + query, (const R *)k + key, (const R *)v + key,
                                                            (R *)y + query, (R *)logsumexp + piece * T);
        });
    });
}

extern "C" void attention_backward(int wide, int rounded, const void *dy, const void *q, const void *k, const void *v,
                                   const void *y, const void *logsumexp, void *dq, void *dk, void *dv, long B, long T, long S,
                                   long H, long G, long D, int causal) {
    with_products(wide, rounded, [=](auto kind, auto r) {
        using R = decltype(r);
        const Sizes z{B, T, S, H, G, D, causal};
        parallel_for(B * G, [=](long piece) {
            const long b = piece / G, g = piece % G, h = g * (H / G), query = (b * T * H + h) * D, key = (b * S * G + g) * D;
            backward_group<typename decltype(kind)::Products>(
                z, (const R *)dy + query, (const R *)q + query, (const R *)k + key, (const R *)v + key, (const R *)y + query,
                (const R *)logsumexp + (b * H + h) * T, (R *)dq + query, (R *)dk + key, (R *)dv + key);
        });
    });
}
