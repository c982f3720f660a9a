// CUDA's special functions. What is not simple is computed in double, and rounded for the float forms.
#pragma once
#include "language.h"

SIM_OPERATION double sim_sinpi(double x) {
    double r = remainder(x, 2.0);  // -1 .. 1, exactly
    return sin(3.14159265358979323846 * (fabs(r) > 0.5 ? copysign(1.0, r) - r : r));
}
SIM_OPERATION double sim_cospi(double x) {
    double r = fabs(remainder(x, 2.0));
    return r < 0.25 ? cos(3.14159265358979323846 * r) : sin(3.14159265358979323846 * (0.5 - r));
}
SIM_INLINE float sim_sinpif(float x) { return (float)sim_sinpi(x); }
SIM_INLINE float sim_cospif(float x) { return (float)sim_cospi(x); }
#define sinpi sim_sinpi
#define cospi sim_cospi
#define sinpif sim_sinpif
#define cospif sim_cospif
SIM_INLINE void sincospi(double x, double* s, double* c) { *s = sim_sinpi(x), *c = sim_cospi(x); }
SIM_INLINE void sincospif(float x, float* s, float* c) { *s = sim_sinpif(x), *c = sim_cospif(x); }

SIM_OPERATION double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
SIM_OPERATION double norm4d(double a, double b, double c, double d) { return hypot(hypot(a, b), hypot(c, d)); }
SIM_INLINE double norm(int n, const double* p) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum = hypot(sum, p[i]);
    return sum;
}
SIM_INLINE float normf(int n, const float* p) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (double)p[i] * p[i];
    return (float)sqrt(sum);
}
SIM_OPERATION float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
SIM_OPERATION float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
SIM_OPERATION double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
SIM_OPERATION double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
SIM_OPERATION float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
SIM_OPERATION float rnorm4df(float a, float b, float c, float d) { return (float)rnorm4d(a, b, c, d); }
SIM_INLINE double rnorm(int n, const double* p) { return 1.0 / norm(n, p); }
SIM_INLINE float rnormf(int n, const float* p) { return 1.0f / normf(n, p); }
SIM_OPERATION double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
SIM_OPERATION float rhypotf(float a, float b) { return (float)rhypot(a, b); }
SIM_OPERATION double rcbrt(double x) { return 1.0 / cbrt(x); }
SIM_OPERATION float rcbrtf(float x) { return (float)rcbrt(x); }

// A first approximation to two digits (Winitzki), then Halley's method on erfc, which is accurate where it is small.
SIM_OPERATION double erfcinv(double y) {
    if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? INFINITY : y == 2.0 ? -INFINITY : NAN;
    double q = fmin(y, 2.0 - y), l = log(q) + log(2.0 - q), t = 4.33 + 0.5 * l, x = sqrt(fmax(0.0, sqrt(t * t - 6.8 * l) - t));
    for (int i = 0; i < 4; i++) {
        double off = erfc(x) - q;
        x += off / (1.12837916709551257390 * exp(-x * x) - x * off);
    }
    return y < 1.0 ? x : -x;
}
SIM_OPERATION double erfinv(double y) {
    if (!(fabs(y) <= 0.5)) return y > 0.0 ? erfcinv(1.0 - y) : -erfcinv(1.0 + y);
    double x = 0.88622692545275801365 * y;
    for (int i = 0; i < 4; i++) {
        double off = erf(x) - y;
        x -= off / (1.12837916709551257390 * exp(-x * x) + x * off);
    }
    return x;
}
SIM_OPERATION float erfinvf(float y) { return (float)erfinv(y); }
SIM_OPERATION float erfcinvf(float y) { return (float)erfcinv(y); }
SIM_OPERATION double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
SIM_OPERATION float normcdff(float x) { return (float)normcdf(x); }
SIM_OPERATION double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2.0 * y); }
SIM_OPERATION float normcdfinvf(float y) { return (float)normcdfinv(y); }

// exp(x * x) * erfc(x): beyond 25 by its asymptotic series, before by the product, corrected for the rounding of x * x.
SIM_OPERATION double erfcx(double x) {
    if (x < 25.0) {
        double square = x * x;
        return square > 1e3 ? INFINITY : exp(square) * erfc(x) * (1.0 + fma(x, x, -square));
    }
    double sum = 1.0, term = 1.0;
    for (int i = 1; i < 9; i++) sum += term *= -(i - 0.5) / (x * x);
    return sum * 0.56418958354775628695 / x;
}
SIM_OPERATION float erfcxf(float x) { return (float)erfcx(x); }

// The modified Bessel functions' power series: all terms are positive, so none of their digits cancel.
SIM_INLINE double sim_bessel_series(double quarter_square, int order) {
    double sum = 1.0, term = 1.0;
    for (int k = 1; term > 1e-17 * sum && sum < INFINITY; k++) sum += term *= quarter_square / ((double)k * (k + order));
    return sum;
}
SIM_OPERATION double cyl_bessel_i0(double x) { return sim_bessel_series(0.25 * x * x, 0); }
SIM_OPERATION double cyl_bessel_i1(double x) { return 0.5 * x * sim_bessel_series(0.25 * x * x, 1); }
SIM_OPERATION float cyl_bessel_i0f(float x) { return (float)cyl_bessel_i0(x); }
SIM_OPERATION float cyl_bessel_i1f(float x) { return (float)cyl_bessel_i1(x); }
