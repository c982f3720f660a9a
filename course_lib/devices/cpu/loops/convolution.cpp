// A causal convolution of a few taps, each channel alone, in which the steps are rows: y_t = sum over j of taps_j x_(t + j).
// Contract: devices/contract.py.
#include "columns.h"

constexpr long ROWS = 32;  // in one piece: what a row adds to the next is still in the cache

// x (B, T + K - 1, C), taps (K, C), y (B, T, C)
extern "C" void convolution_forward(int wide, const void *x_, const void *taps_, void *y_, long B, long T, long C, long K) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(B * T, ROWS, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *x = (const R *)x_ + (row + row / T * (K - 1)) * C;
                R *__restrict y = (R *)y_ + row * C;
                for (long c = 0; c < C; c++) y[c] = 0;
                for (long j = 0; j < K; j++) {
                    const R *from = x + j * C, *tap = (const R *)taps_ + j * C;
                    for (long c = 0; c < C; c++) y[c] += tap[c] * from[c];
                }
            }
        });
    });
}

// dy (B, T, C); dx like x, dtaps like taps
extern "C" void convolution_backward(int wide, const void *dy_, const void *x_, const void *taps_, void *dx_, void *dtaps_, long B,
                                     long T, long C, long K) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const long S = T + K - 1;
        parallel_ranges(B * S, ROWS, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const long b = row / S, s = row % S;
                R *__restrict dx = (R *)dx_ + row * C;
                for (long c = 0; c < C; c++) dx[c] = 0;
                for (long j = 0; j < K; j++) {
                    if (s - j < 0 || s - j >= T) continue;
                    const R *dy = (const R *)dy_ + (b * T + s - j) * C, *tap = (const R *)taps_ + j * C;
                    for (long c = 0; c < C; c++) dx[c] += tap[c] * dy[c];
                }
            }
        });
        sum_columns(B * T, K * C, (R *)dtaps_, [=](long row, R *sums) {
            const R *dy = (const R *)dy_ + row * C, *x = (const R *)x_ + (row + row / T * (K - 1)) * C;
            for (long i = 0; i < K; i++)
                for (long c = 0; c < C; c++) sums[i * C + c] += dy[c] * x[i * C + c];
        });
    });
}
