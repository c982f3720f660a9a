// Complex numbers as pairs: cuFloatComplex (also cuComplex) and cuDoubleComplex, with their functions.
#pragma once
#include "simulator/vectors.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// A quotient is scaled by the size of its divisor, so that squares neither overflow nor vanish.
#define SIM_COMPLEX(C, T, MAKE, S, ABS, HYPOT)                                                                       \
    SIM_INLINE C MAKE(T real, T imaginary) { return C{real, imaginary}; }                                            \
    SIM_INLINE T cuCreal##S(C a) { return a.x; }                                                                     \
    SIM_INLINE T cuCimag##S(C a) { return a.y; }                                                                     \
    SIM_INLINE C cuConj##S(C a) { return C{a.x, -a.y}; }                                                             \
    SIM_INLINE C cuCadd##S(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                             \
    SIM_INLINE C cuCsub##S(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                             \
    SIM_INLINE C cuCmul##S(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                     \
    SIM_INLINE C cuCdiv##S(C a, C b) {                                                                               \
        const T size = ABS(b.x) + ABS(b.y), p = b.x / size, q = b.y / size, square = (p * p + q * q) * size;         \
        return C{(a.x * p + a.y * q) / square, (a.y * p - a.x * q) / square};                                        \
    }                                                                                                                \
    SIM_INLINE T cuCabs##S(C a) { return HYPOT(a.x, a.y); }                                                          \
    SIM_INLINE C cuCfma##S(C a, C b, C c) { return cuCadd##S(cuCmul##S(a, b), c); }
SIM_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, f, fabsf, hypotf)
SIM_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, , fabs, hypot)
SIM_INLINE cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
SIM_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_cuDoubleComplex(a.x, a.y); }
SIM_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return make_cuFloatComplex((float)a.x, (float)a.y); }
