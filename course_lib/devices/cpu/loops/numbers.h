// Numbers: exp and sigmoid that a compiler can turn into vector instructions, and what every file needs.
//
// Functions are templates over R, float or double. Python calls them through extern "C" functions that take `wide`
// (whether R is double) and untyped pointers; `with_type` picks the R.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

template <class Body> void with_type(int wide, Body body) {
    if (wide)
        body(double());
    else
        body(float());
}

// e^x = 2^n e^r with n = round(x / log 2) and |r| <= log(2) / 2, where eight terms of the Taylor series reach the last bit.
// Without a branch or a call the compiler does 16 of them at once; the C library's does one. NaN stays NaN.
inline float fast_exp(float x) {
    const float limited = x < -88.0f ? -88.0f : x > 89.0f ? 89.0f : x;  // there 2^n is 0, and infinity
    const float n = __builtin_rintf(limited * 1.44269504f);
    const float r = limited - n * 0.693147181f;
    float series = 1.0f / 5040;
    series = series * r + 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;  // 2^n: n is the exponent, biased by 127
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return series * power;
}
inline double fast_exp(double x) { return std::exp(x); }

template <class R> inline R sigmoid(R z) { return 1 / (1 + fast_exp(-z)); }

// y = exp(scale (x - m)) for a row; y may be x. Returns the sum.
template <class R> inline R exponentials(const R *x, R scale, R m, R *y, long n) {
    for (long i = 0; i < n; i++) y[i] = fast_exp(scale * (x[i] - m));
    R sum = 0;
    for (long i = 0; i < n; i++) sum += y[i];  // a loop of its own: in one, compilers fail to vectorise both
    return sum;
}

// The largest of a row, which has at least one element: 64 bytes at a time, each lane with its own maximum.
// Not inlined: clang fails to vectorise what follows it in one function.
template <class R> __attribute__((noinline)) R largest(const R *x, long n) {
    typedef R Vector __attribute__((vector_size(64)));
    constexpr long LANES = 64 / sizeof(R);
    R best = x[0];
    long i = 0;
    if (n >= LANES) {
        Vector lanes, next;
        std::memcpy(&lanes, x, sizeof lanes);
        for (i = LANES; i + LANES <= n; i += LANES) {
            std::memcpy(&next, x + i, sizeof next);
            lanes = next > lanes ? next : lanes;
        }
        for (long lane = 0; lane < LANES; lane++) best = lanes[lane] > best ? lanes[lane] : best;
    }
    for (; i < n; i++) best = x[i] > best ? x[i] : best;
    return best;
}

// Memory of this thread that is kept from call to call; a caller that needs two at once takes a second SLOT.
template <class R, int SLOT = 0> inline R *scratch(size_t count) {
    static thread_local std::vector<R> kept;
    if (kept.size() < count + 16) kept.resize(count + 16);
    return reinterpret_cast<R *>((reinterpret_cast<uintptr_t>(kept.data()) + 63) & ~uintptr_t(63));  // 64-byte aligned
}
