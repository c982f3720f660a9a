// Attention of one query per text over keys and values in pages.
//
// One piece of work is one key-value head of one text: each key and value of it is read once, for all the query heads that share
// it. (Kwon et al. 2023)
#include "numbers.h"
#include "threads.h"

// q, y (R, H, D), k, v (P, N, G, D), tables (R, M), positions (R): text r sees its rows 0 .. positions[r].
extern "C" void paged_attention(int wide, const void *q, const void *k, const void *v, const void *tables,
                                const void *positions, void *y, long R, long M, long N, long H, long G, long D) {
    with_type(wide, [=](auto r) {
        using T = decltype(r);
        parallel_for(R * G, [=](long piece) {
            const long text = piece / G, g = piece % G, shared = H / G, first = (text * H + g * shared) * D;
            const int *table = (const int *)tables + text * M;
            const long S = ((const int *)positions)[text] + 1;
            const auto row = [&](const void *pages, long s) { return (const T *)pages + ((table[s / N] * N + s % N) * G + g) * D; };
            const T *query = (const T *)q + first;
            const T scale = 1 / std::sqrt(T(D));
            T *out = (T *)y + first, *scores = scratch<T>(shared * S);
            for (long s = 0; s < S; s++) {
                const T *key = row(k, s);
                for (long h = 0; h < shared; h++) {
                    T sum = 0;
                    for (long d = 0; d < D; d++) sum += query[h * D + d] * key[d];
                    scores[h * S + s] = sum;
                }
            }
            for (long h = 0; h < shared; h++) {
                T *weights = scores + h * S;
                const T factor = 1 / exponentials(weights, scale, largest(weights, S), weights, S);
                for (long s = 0; s < S; s++) weights[s] *= factor;
                for (long d = 0; d < D; d++) out[h * D + d] = 0;
            }
            for (long s = 0; s < S; s++) {
                const T *value = row(v, s);
                for (long h = 0; h < shared; h++) {
                    const T weight = scores[h * S + s];
                    for (long d = 0; d < D; d++) out[h * D + d] += weight * value[d];
                }
            }
        });
    });
}
