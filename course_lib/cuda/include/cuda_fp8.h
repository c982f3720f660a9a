// Numbers of 8 bits: e4m3 (largest 448, no infinity) and e5m2 (largest 57344), and pairs and fours of them.
//
// Conversions round to the nearest, ties to even ("FP8 Formats for Deep Learning", Micikevicius et al. 2022, table 1). Types'
// constructors saturate, as CUDA's do (CUDA Math API, "FP8 Intrinsics"): what is too large, infinity among it, becomes the
// largest number, NaN stays NaN.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

SIM_NO_OPERATION SIM_UNCHECKED __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    const int mantissa = kind == __NV_E4M3 ? 3 : 2, lowest = kind == __NV_E4M3 ? -6 : -14;
    const double largest = kind == __NV_E4M3 ? 448.0 : 57344.0, size = fabs(x);
    const unsigned char nan = 0x7f, infinite = kind == __NV_E4M3 ? nan : 0x7c, sign = __builtin_signbit(x) ? 0x80 : 0;
    if (size != size) return nan;
    int exponent = size > 0 ? ilogb(fmin(size, 1e9)) : lowest;
    if (exponent < lowest) exponent = lowest;
    const double step = ldexp(1.0, exponent - mantissa), rounded = rint(size / step) * step;  // the quotient is exact
    if (rounded > largest) return sign | (saturate == __NV_SATFINITE ? (kind == __NV_E4M3 ? 0x7e : 0x7b) : infinite);
    if (rounded < ldexp(1.0, lowest)) return sign | (unsigned char)(rounded / step);
    exponent = ilogb(rounded);
    return sign | (unsigned char)((exponent - lowest + 1) << mantissa | int(rounded / ldexp(1.0, exponent - mantissa)) - (1 << mantissa));
}
SIM_NO_OPERATION SIM_UNCHECKED float sim_fp8_to_float(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
    const int mantissa = kind == __NV_E4M3 ? 3 : 2, lowest = kind == __NV_E4M3 ? -6 : -14, size = bits & 0x7f;
    const float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (kind == __NV_E4M3 ? size == 0x7f : size > 0x7c) return __builtin_nanf("");
    if (kind == __NV_E5M2 && size == 0x7c) return sign * __builtin_inff();
    const int exponent = size >> mantissa, fraction = size & ((1 << mantissa) - 1);
    return sign * ldexpf(exponent ? (1 << mantissa) + fraction : fraction, (exponent ? exponent - 1 : 0) + lowest - mantissa);
}
SIM_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(x, saturate, kind);
}
SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(x.x, saturate, kind) | __nv_cvt_float_to_fp8(x.y, saturate, kind) << 8;
}
SIM_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(sim::half_to_float(x.x), saturate, kind);
}
SIM_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return {sim::float_to_half(sim_fp8_to_float(x, kind))};
}
SIM_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return {__nv_cvt_fp8_to_halfraw(x & 0xff, kind).x, __nv_cvt_fp8_to_halfraw(x >> 8, kind).x};
}

#define SIM_FP8(NAME, KIND)                                                                                                     \
    struct __nv_fp8_##NAME {                                                                                                    \
        __nv_fp8_storage_t __x;                                                                                                 \
        __nv_fp8_##NAME() = default;                                                                                            \
        template <class T, class = std::enable_if_t<std::is_convertible<T, float>::value>>                                      \
        explicit __nv_fp8_##NAME(T x) : __x(__nv_cvt_double_to_fp8(sim_widened(x), __NV_SATFINITE, KIND)) {}                    \
        explicit operator float() const { return sim_fp8_to_float(__x, KIND); }                                                 \
        explicit operator double() const { return float(*this); }                                                               \
        explicit operator int() const { return int(float(*this)); }                                                             \
        explicit operator bool() const { return float(*this) != 0; }                                                            \
        explicit operator __half() const { return __half(float(*this)); }                                                       \
        explicit operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); }                                         \
    };                                                                                                                          \
    struct alignas(2) __nv_fp8x2_##NAME {                                                                                       \
        __nv_fp8x2_storage_t __x;                                                                                               \
        __nv_fp8x2_##NAME() = default;                                                                                          \
        explicit __nv_fp8x2_##NAME(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, KIND)) {}                        \
        explicit __nv_fp8x2_##NAME(__half2 x) : __nv_fp8x2_##NAME(__half22float2(x)) {}                                         \
        explicit operator float2() const { return {sim_fp8_to_float(__x & 0xff, KIND), sim_fp8_to_float(__x >> 8, KIND)}; }     \
        explicit operator __half2() const { return __float22half2_rn(float2(*this)); }                                          \
    };                                                                                                                          \
    struct alignas(4) __nv_fp8x4_##NAME {                                                                                       \
        __nv_fp8x4_storage_t __x;                                                                                               \
        __nv_fp8x4_##NAME() = default;                                                                                          \
        explicit __nv_fp8x4_##NAME(float4 v)                                                                                    \
            : __x(__nv_cvt_float2_to_fp8x2({v.x, v.y}, __NV_SATFINITE, KIND) |                                                  \
                  unsigned(__nv_cvt_float2_to_fp8x2({v.z, v.w}, __NV_SATFINITE, KIND)) << 16) {}                                \
        explicit operator float4() const {                                                                                      \
            return {sim_fp8_to_float(__x & 0xff, KIND), sim_fp8_to_float(__x >> 8 & 0xff, KIND),                                \
                    sim_fp8_to_float(__x >> 16 & 0xff, KIND), sim_fp8_to_float(__x >> 24, KIND)};                               \
        }                                                                                                                       \
    };
SIM_INLINE double sim_widened(double x) { return x; }
SIM_INLINE double sim_widened(float x) { return x; }
SIM_INLINE double sim_widened(int x) { return x; }
SIM_INLINE double sim_widened(unsigned x) { return x; }
SIM_INLINE double sim_widened(long long x) { return double(x); }
SIM_INLINE double sim_widened(__half x) { return float(x); }
SIM_INLINE double sim_widened(__nv_bfloat16 x) { return float(x); }
SIM_FP8(e4m3, __NV_E4M3)
SIM_FP8(e5m2, __NV_E5M2)
