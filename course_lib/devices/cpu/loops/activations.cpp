// GELU, GELU after a bias, and SwiGLU: forward and backward.
#include "columns.h"
#include "numbers.h"
#include "threads.h"

constexpr long PIECE = 1 << 14;  // elements that one thread takes at a time

// GELU in its tanh form is x * sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3), since (1 + tanh u) / 2 = sigmoid(2u).
constexpr double TWICE = 2 * 0.7978845608028654, CUBIC = 0.044715;

template <class R> inline R gelu(R x) { return x * sigmoid(R(TWICE) * x * (1 + R(CUBIC) * x * x)); }

template <class R> inline R gelu_grad(R x) {
    const R s = sigmoid(R(TWICE) * x * (1 + R(CUBIC) * x * x));
    return s + x * s * (1 - s) * R(TWICE) * (1 + 3 * R(CUBIC) * x * x);
}

extern "C" void gelu_forward(int wide, const void *x_, void *y_, long n) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *x = (const R *)x_;
        R *y = (R *)y_;
        parallel_ranges(n, PIECE, [=](long start, long stop) {
            for (long i = start; i < stop; i++) y[i] = gelu(x[i]);
        });
    });
}

extern "C" void gelu_backward(int wide, const void *dy_, const void *x_, void *dx_, long n) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *dy = (const R *)dy_, *x = (const R *)x_;
        R *dx = (R *)dx_;
        parallel_ranges(n, PIECE, [=](long start, long stop) {
            for (long i = start; i < stop; i++) dx[i] = dy[i] * gelu_grad(x[i]);
        });
    });
}

extern "C" void bias_gelu_forward(int wide, const void *x_, const void *bias_, void *y_, long n, long F) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *x = (const R *)x_, *bias = (const R *)bias_;
        R *y = (R *)y_;
        parallel_ranges(n, 1 + PIECE / F, [=](long start, long stop) {
            for (long row = start; row < stop; row++)
                for (long j = 0; j < F; j++) y[row * F + j] = gelu(x[row * F + j] + bias[j]);
        });
    });
}

// dbias is the sum of dx over the rows, gathered while each row is still in the cache.
extern "C" void bias_gelu_backward(int wide, const void *dy_, const void *x_, const void *bias_, void *dx_, void *dbias_,
                                   long n, long F) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        const R *dy = (const R *)dy_, *x = (const R *)x_, *bias = (const R *)bias_;
        R *dx = (R *)dx_;
        sum_columns(n, F, (R *)dbias_, [=](long row, R *sums) {
            for (long j = 0; j < F; j++) {
                const R d = dy[row * F + j] * gelu_grad(x[row * F + j] + bias[j]);
                dx[row * F + j] = d;
                sums[j] += d;
            }
        });
    });
}

// x (n, 2F) holds gate and up side by side; y (n, F) = gate * sigmoid(gate) * up.
extern "C" void swiglu_forward(int wide, const void *x_, void *y_, long n, long F) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(n, 1 + PIECE / F, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *gate = (const R *)x_ + row * 2 * F, *up = gate + F;
                R *y = (R *)y_ + row * F;
                for (long j = 0; j < F; j++) y[j] = gate[j] * sigmoid(gate[j]) * up[j];
            }
        });
    });
}

extern "C" void swiglu_backward(int wide, const void *dy_, const void *x_, void *dx_, long n, long F) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        parallel_ranges(n, 1 + PIECE / F, [=](long start, long stop) {
            for (long row = start; row < stop; row++) {
                const R *gate = (const R *)x_ + row * 2 * F, *up = gate + F, *dy = (const R *)dy_ + row * F;
                R *dgate = (R *)dx_ + row * 2 * F, *dup = dgate + F;
                for (long j = 0; j < F; j++) {
                    const R s = sigmoid(gate[j]);
                    dgate[j] = dy[j] * up[j] * s * (1 + gate[j] * (1 - s));
                    dup[j] = dy[j] * gate[j] * s;
                }
            }
        });
    });
}
