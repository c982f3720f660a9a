// Vector types (float4, int2, ...): plain structs with CUDA's names, sizes and alignments.
#pragma once
#include "language.h"

#define SIM_VECTORS(T, NAME)                                                                           \
    struct NAME##1 { T x; };                                                                           \
    struct alignas(sizeof(T) * 2) NAME##2 { T x, y; };                                                 \
    struct NAME##3 { T x, y, z; };                                                                     \
    struct alignas(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) NAME##4 { T x, y, z, w; };                 \
    SIM_INLINE NAME##1 make_##NAME##1(T x) { return NAME##1{x}; }                                      \
    SIM_INLINE NAME##2 make_##NAME##2(T x, T y) { return NAME##2{x, y}; }                              \
    SIM_INLINE NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3{x, y, z}; }                      \
    SIM_INLINE NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4{x, y, z, w}; }

SIM_VECTORS(signed char, char)
SIM_VECTORS(unsigned char, uchar)
SIM_VECTORS(short, short)
SIM_VECTORS(unsigned short, ushort)
SIM_VECTORS(int, int)
SIM_VECTORS(unsigned, uint)
SIM_VECTORS(long, long)
SIM_VECTORS(unsigned long, ulong)
SIM_VECTORS(long long, longlong)
SIM_VECTORS(unsigned long long, ulonglong)
SIM_VECTORS(float, float)
SIM_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
