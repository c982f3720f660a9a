// Attention of one query per text over keys and values in pages.
//
// One piece of work is one key-value head of one text: each key and value of it is read once, for all the query heads that share
// it. (Kwon et al. 2023)
#include "matmul.h"
#include "numbers.h"
#include "threads.h"
#include <algorithm>

constexpr long SOON = 16;  // rows that are asked for before they are needed; AHEAD is too far for short texts

// q, y (R, H, D), tables (R, M), positions (R): text r sees its rows 0 .. positions[r]. key and value give row s of page p and head
// g as D numbers of the type T; `room` has space for them.
template <class T, class Key, class Value>
void attend(const void *q, const void *tables, const void *positions, void *y, long R, long M, long N, long H, long G, long D,
            Key key, Value value) {
    parallel_for(R * G, [=](long piece) {
        const long text = piece / G, g = piece % G, shared = H / G, first = (text * H + g * shared) * D;
        const int *table = (const int *)tables + text * M;
        const long S = ((const int *)positions)[text] + 1;
        const auto each_row = [&](auto body) {  // page by page: a division for each row is a tenth of the time
            for (long page = 0, s = 0; s < S; page++)
                for (long row = table[page] * N; s < std::min(S, (page + 1) * N); s++, row++) body(s, row * G + g);
        };
        const T *query = (const T *)q + first;
        const T scale = 1 / std::sqrt(T(D));
        T *out = (T *)y + first, *scores = scratch<T>(shared * S + D), *room = scores + shared * S;
        each_row([&](long s, long row) {
            const T *numbers = key(row, room);
            for (long h = 0; h < shared; h++) {
                T sum = 0;
                for (long d = 0; d < D; d++) sum += query[h * D + d] * numbers[d];
                scores[h * S + s] = sum;
            }
        });
        for (long h = 0; h < shared; h++) {
            T *weights = scores + h * S;
            const T factor = 1 / exponentials(weights, scale, largest(weights, S), weights, S);
            for (long s = 0; s < S; s++) weights[s] *= factor;
            for (long d = 0; d < D; d++) out[h * D + d] = 0;
        }
        each_row([&](long s, long row) {
            const T *numbers = value(row, room);
            for (long h = 0; h < shared; h++) {
                const T weight = scores[h * S + s];
                for (long d = 0; d < D; d++) out[h * D + d] += weight * numbers[d];
            }
        });
    });
}

// k, v (P, N, G, D).
extern "C" void paged_attention(int wide, const void *q, const void *k, const void *v, const void *tables,
                                const void *positions, void *y, long R, long M, long N, long H, long G, long D) {
    with_type(wide, [=](auto r) {
        using T = decltype(r);
        const auto rows = [=](const void *pages) {
            return [=](long row, T *) {
                const T *numbers = (const T *)pages + row * D;
                ask_for(numbers + SOON * G * D, D);
                return numbers;
            };
        };
        attend<T>(q, tables, positions, y, R, M, N, H, G, D, rows(k), rows(v));
    });
}

// k, v (P, N, G, W): words of four codes, and at their end the bits of the scale.
extern "C" void paged_attention_int8(int wide, const void *q, const void *k, const void *v, const void *tables,
                                     const void *positions, void *y, long R, long M, long N, long H, long G, long D) {
    with_type(wide, [=](auto r) {
        using T = decltype(r);
        const long W = (D + 3) / 4 + 1;
        const auto rows = [=](const void *pages) {
            return [=](long row, T *room) {
                const std::int8_t *codes = (const std::int8_t *)((const std::uint32_t *)pages + row * W);
                float scale;
                std::memcpy(&scale, codes + 4 * (W - 1), sizeof scale);
                for (long d = 0; d < D; d++) room[d] = scale * codes[d];
                return (const T *)room;
            };
        };
        attend<T>(q, tables, positions, y, R, M, N, H, G, D, rows(k), rows(v));
    });
}
