// Arithmetic and conversions that say how they round: _rn to nearest, _rz to zero, _ru up, _rd down.
//
// By the processor's rounding mode. What is volatile is not moved across the two calls that set it; clang moves a conversion to
// nearest in between if it is not.
#pragma once
#include <fenv.h>

#include "language.h"

#if defined(__wasm__)
#define SIM_ROUNDED(RESULT, NAME, MODE, PARAMETERS, COPIES, EXPRESSION)                                              \
    RESULT NAME PARAMETERS __attribute__((unavailable("WebAssembly rounds to nearest only")));
#else
#define SIM_ROUNDED(RESULT, NAME, MODE, PARAMETERS, COPIES, EXPRESSION)                                              \
    SIM_OPERATION SIM_UNCHECKED RESULT NAME PARAMETERS {                                                             \
        volatile COPIES;                                                                                             \
        fesetround(MODE);                                                                                            \
        volatile RESULT result = (RESULT)(EXPRESSION);                                                               \
        fesetround(FE_TONEAREST);                                                                                    \
        return result;                                                                                               \
    }
#endif
#define SIM_DIRECTED(RESULT, NAME, PARAMETERS, COPIES, EXPRESSION)                                                   \
    SIM_ROUNDED(RESULT, NAME##_rz, FE_TOWARDZERO, PARAMETERS, COPIES, EXPRESSION)                                    \
    SIM_ROUNDED(RESULT, NAME##_ru, FE_UPWARD, PARAMETERS, COPIES, EXPRESSION)                                        \
    SIM_ROUNDED(RESULT, NAME##_rd, FE_DOWNWARD, PARAMETERS, COPIES, EXPRESSION)
#define SIM_COPIES_1(T) T x = a
#define SIM_COPIES_2(T) T x = a; volatile T y = b
#define SIM_COPIES_3(T) T x = a; volatile T y = b; volatile T z = c
#define SIM_ARITHMETIC(T, P, FMA, FUSED, ROOT)                                                                       \
    SIM_DIRECTED(T, __##P##add, (T a, T b), SIM_COPIES_2(T), x + y)                                                  \
    SIM_DIRECTED(T, __##P##sub, (T a, T b), SIM_COPIES_2(T), x - y)                                                  \
    SIM_DIRECTED(T, __##P##mul, (T a, T b), SIM_COPIES_2(T), x * y)                                                  \
    SIM_DIRECTED(T, __##P##div, (T a, T b), SIM_COPIES_2(T), x / y)                                                  \
    SIM_DIRECTED(T, __##P##rcp, (T a), SIM_COPIES_1(T), (T)1 / x)                                                    \
    SIM_DIRECTED(T, __##P##sqrt, (T a), SIM_COPIES_1(T), ROOT(x))                                                    \
    SIM_DIRECTED(T, FMA, (T a, T b, T c), SIM_COPIES_3(T), FUSED(x, y, z))                                           \
    SIM_INLINE T __##P##add_rn(T a, T b) { volatile T r = a + b; return r; } /* never fused into an fma */           \
    SIM_INLINE T __##P##sub_rn(T a, T b) { volatile T r = a - b; return r; }                                         \
    SIM_INLINE T __##P##mul_rn(T a, T b) { volatile T r = a * b; return r; }                                         \
    SIM_INLINE T __##P##div_rn(T a, T b) { return a / b; }                                                           \
    SIM_INLINE T __##P##rcp_rn(T a) { return (T)1 / a; }                                                             \
    SIM_INLINE T __##P##sqrt_rn(T a) { return ROOT(a); }                                                             \
    SIM_INLINE T FMA##_rn(T a, T b, T c) { return FUSED(a, b, c); }
SIM_ARITHMETIC(float, f, __fmaf, fmaf, sqrtf)
SIM_ARITHMETIC(double, d, __fma, fma, sqrt)

// To a shorter float: from double, and from integers of more bits than it has.
#define SIM_TO_FLOAT(NAME, FROM, TO)                                                                                 \
    SIM_DIRECTED(TO, NAME, (FROM a), SIM_COPIES_1(FROM), x)                                                          \
    SIM_OPERATION SIM_UNCHECKED TO NAME##_rn(FROM a) { volatile FROM x = a; volatile TO result = (TO)x; return result; }
SIM_TO_FLOAT(__double2float, double, float) SIM_TO_FLOAT(__int2float, int, float) SIM_TO_FLOAT(__uint2float, unsigned, float)
SIM_TO_FLOAT(__ll2float, long long, float) SIM_TO_FLOAT(__ull2float, unsigned long long, float)
SIM_TO_FLOAT(__ll2double, long long, double) SIM_TO_FLOAT(__ull2double, unsigned long long, double)
SIM_INLINE double __int2double_rn(int x) { return x; }
SIM_INLINE double __uint2double_rn(unsigned x) { return x; }

// To an integer: what does not fit becomes the nearest that there is, as on a GPU.
#define SIM_TO_INTEGER(NAME, FROM, TO, LEAST, MOST, NOT_A_NUMBER, SUFFIX)                                            \
    SIM_INLINE TO sim##NAME(FROM x) {                                                                                \
        return x >= (FROM)MOST ? MOST : x > (FROM)LEAST ? (TO)x : x == x ? LEAST : NOT_A_NUMBER;                     \
    }                                                                                                                \
    SIM_INLINE TO NAME##_rn(FROM x) { return sim##NAME(rint##SUFFIX(x)); }                                                \
    SIM_INLINE TO NAME##_rz(FROM x) { return sim##NAME(trunc##SUFFIX(x)); }                                               \
    SIM_INLINE TO NAME##_ru(FROM x) { return sim##NAME(ceil##SUFFIX(x)); }                                                \
    SIM_INLINE TO NAME##_rd(FROM x) { return sim##NAME(floor##SUFFIX(x)); }
#define SIM_TO_INTEGERS(NAME, FROM, SUFFIX)                                                                          \
    SIM_TO_INTEGER(NAME##2int, FROM, int, INT_MIN, INT_MAX, 0, SUFFIX)                                               \
    SIM_TO_INTEGER(NAME##2uint, FROM, unsigned, 0u, UINT_MAX, 0u, SUFFIX)                                            \
    SIM_TO_INTEGER(NAME##2ll, FROM, long long, LLONG_MIN, LLONG_MAX, LLONG_MIN, SUFFIX)                              \
    SIM_TO_INTEGER(NAME##2ull, FROM, unsigned long long, 0ull, ULLONG_MAX, 1ull << 63, SUFFIX)
SIM_TO_INTEGERS(__float, float, f)
SIM_TO_INTEGERS(__double, double, )
