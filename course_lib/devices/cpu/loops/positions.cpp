// RoPE; updates added to the rows of a table; dropout.
#include "numbers.h"
#include "threads.h"

// x, y (B, T, H, D), cos and sin (T, D/2): element i is rotated with element i + D/2, by minus the angle if `inverse`.
extern "C" void rope(int wide, const void *x_, const void *cos_, const void *sin_, void *y_, long B, long T, long H, long D,
                     int inverse) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const long half = D / 2;
        parallel_ranges(B * T, 1 + (1 << 14) / (H * D), [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *cos = (const R *)cos_ + row % T * half, *sin = (const R *)sin_ + row % T * half, sign = inverse ? -1 : 1;
                for (long h = 0; h < H; h++) {
                    const R *x = (const R *)x_ + (row * H + h) * D;
                    R *y = (R *)y_ + (row * H + h) * D;
                    for (long i = 0; i < half; i++) {
                        y[i] = x[i] * cos[i] - x[i + half] * (sign * sin[i]);
                        y[i + half] = x[i + half] * cos[i] + x[i] * (sign * sin[i]);
                    }
                }
            }
        });
    });
}

// result (rows, width) gains updates (n, width) at its rows `indices`, in their order. Threads share the columns.
extern "C" void scatter_add(int wide, const void *updates_, const int64_t *indices, void *result_, long n, long width) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(width, 64, [=](long start, long stop) {
            for (long i = 0; i < n; i++) {
                const R *update = (const R *)updates_ + i * width;
                R *row = (R *)result_ + indices[i] * width;
                for (long j = start; j < stop; j++) row[j] += update[j];
            }
        });
    });
}

// Philox4x32-10: ten rounds that mix a counter of four words by a key of two. Four random words for each counter.
struct Words {
    uint32_t word[4];
};

static inline Words philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0, uint32_t k1) {
    for (int round = 0; round < 10; round++) {
        const uint64_t a = uint64_t(0xD2511F53) * c0, b = uint64_t(0xCD9E8D57) * c2;
        c0 = uint32_t(b >> 32) ^ c1 ^ k0;
        c2 = uint32_t(a >> 32) ^ c3 ^ k1;
        c1 = uint32_t(b);
        c3 = uint32_t(a);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return {{c0, c1, c2, c3}};
}

// Element i is kept if its word is at least `threshold`, and then divided by 1 - probability.
extern "C" void dropout(int wide, const void *x_, void *y_, long n, double threshold, double kept_share,
                        const uint32_t *random, uint32_t site) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *x = (const R *)x_;
        R *y = (R *)y_;
        const R share = kept_share;
        parallel_ranges((n + 3) / 4, 1 << 12, [=](long start, long stop) {
            for (long four = start; four < stop; four++) {
                const Words words = philox(uint32_t(four), 0, random[2], site, random[0], random[1]);
                for (long i = 4 * four; i < 4 * four + 4 && i < n; i++)
                    y[i] = words.word[i % 4] >= threshold ? x[i] / share : 0;
            }
        });
    });
}
