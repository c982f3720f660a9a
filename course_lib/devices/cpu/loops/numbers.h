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
// Without a branch or a call the compiler does 16 of them at once; the C library's does one.
inline float fast_exp(float x) {
    const float limited = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;  // NaN stays NaN
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
    const float y = series * power;
    return x < -87.0f ? 0.0f : x > 88.0f ? HUGE_VALF : y;
}
inline double fast_exp(double x) { return std::exp(x); }

template <class R> inline R sigmoid(R z) { return 1 / (1 + fast_exp(-z)); }

// The largest of a row, by 16 running maxima that fit a vector register.
template <class R> inline R largest(const R *x, long n) {
    R best[16];
    for (int i = 0; i < 16; i++) best[i] = x[0];
    long i = 0;
    for (; i + 16 <= n; i += 16)
        for (int lane = 0; lane < 16; lane++) best[lane] = x[i + lane] > best[lane] ? x[i + lane] : best[lane];
    for (; i < n; i++) best[0] = x[i] > best[0] ? x[i] : best[0];
    for (int lane = 1; lane < 16; lane++) best[0] = best[lane] > best[0] ? best[lane] : best[0];
    return best[0];
}

// Memory of this thread that is kept from call to call.
template <class R> inline R *scratch(size_t count) {
    static thread_local std::vector<R> kept;
    if (kept.size() < count + 16) kept.resize(count + 16);
    return reinterpret_cast<R *>((reinterpret_cast<uintptr_t>(kept.data()) + 63) & ~uintptr_t(63));  // 64-byte aligned
}
