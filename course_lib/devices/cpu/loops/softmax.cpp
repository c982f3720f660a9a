// Softmax and cross-entropy, forward and backward, a row at a time.
#include "numbers.h"
#include "threads.h"

constexpr long PIECE = 1 << 13;  // elements that one thread takes at a time

// x, y (n, S). With causal, rows come in matrices of T, and row t of each sees the columns 0 .. S - T + t.
extern "C" void softmax_forward(int wide, const void *x_, void *y_, long n, long T, long S, int causal) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(n, 1 + PIECE / S, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *x = (const R *)x_ + row * S;
                R *y = (R *)y_ + row * S;
                const long seen = causal ? S - T + row % T + 1 : S;
                const R scale = 1 / exponentials(x, R(1), largest(x, seen), y, seen);
                for (long j = 0; j < seen; j++) y[j] *= scale;
                for (long j = seen; j < S; j++) y[j] = 0;
            }
        });
    });
}

extern "C" void softmax_backward(int wide, const void *dy_, const void *y_, void *dx_, long n, long S) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(n, 1 + PIECE / S, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *dy = (const R *)dy_ + row * S, *y = (const R *)y_ + row * S;
                R *dx = (R *)dx_ + row * S, along = 0;
                for (long j = 0; j < S; j++) along += dy[j] * y[j];
                for (long j = 0; j < S; j++) dx[j] = y[j] * (dy[j] - along);
            }
        });
    });
}

// losses (n): -log softmax(logits)[target], 0 where the target is ignored. Targets were checked before.
extern "C" void cross_entropy_forward(int wide, const void *logits_, const int64_t *targets, int64_t ignored, void *losses_,
                                      void *logsumexp_, long n, long V) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(n, 1 + PIECE / V, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *x = (const R *)logits_ + row * V;
                const R m = largest(x, V);
                R l = 0, block[256];  // the exponentials themselves are not needed
                for (long j = 0; j < V; j += 256) l += exponentials(x + j, R(1), m, block, V - j < 256 ? V - j : 256);
                const R logsumexp = m + std::log(l);
                ((R *)logsumexp_)[row] = logsumexp;
                ((R *)losses_)[row] = targets[row] == ignored ? 0 : logsumexp - x[targets[row]];
            }
        });
    });
}

// dlogits = (softmax - one-hot) * factor, 0 where the target is ignored.
extern "C" void cross_entropy_backward(int wide, const void *logits_, const int64_t *targets, int64_t ignored,
                                       const void *logsumexp_, void *dlogits_, double factor, long n, long V) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(n, 1 + PIECE / V, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *x = (const R *)logits_ + row * V;
                R *dx = (R *)dlogits_ + row * V;
                if (targets[row] == ignored) {
                    for (long j = 0; j < V; j++) dx[j] = 0;
                    continue;
                }
                const R logsumexp = ((const R *)logsumexp_)[row];
                for (long j = 0; j < V; j++) dx[j] = fast_exp(x[j] - logsumexp) * R(factor);
                dx[targets[row]] -= R(factor);
            }
        });
    });
}
