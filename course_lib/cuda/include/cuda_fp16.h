// half and half2, with their intrinsics.
#pragma once
#include "simulator/atomics.h"
#include "simulator/small_floats.h"
#include "simulator/small_pairs.h"
#include "simulator/entry.h"

SIM_SMALL_FLOAT(__half, __half2, sim::float_to_half, sim::half_to_float)
SIM_SMALL_REST(__half, __half2, half)
typedef __half half;
typedef __half2 half2;
namespace sim {
SIM_KIND(__half, 'h', 2) SIM_KIND(__half2, 'h', 2)
}

SIM_INLINE float __half2float(__half h) { return h; }
SIM_INLINE __half __float2half(float x) { return __half(x); }
SIM_INLINE __half __float2half_rn(float x) { return __half(x); }
SIM_INLINE __half __double2half(double x) { return __half(x); }
SIM_INLINE __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
SIM_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
SIM_INLINE __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
SIM_INLINE float2 __half22float2(__half2 h) { return make_float2(h.x, h.y); }
SIM_INLINE __half2 __half2half2(__half h) { return __half2(h, h); }
SIM_INLINE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
SIM_INLINE __half2 make_half2(__half a, __half b) { return __half2(a, b); }
SIM_INLINE __half __low2half(__half2 h) { return h.x; }
SIM_INLINE __half __high2half(__half2 h) { return h.y; }
SIM_INLINE float __low2float(__half2 h) { return h.x; }
SIM_INLINE float __high2float(__half2 h) { return h.y; }
SIM_INLINE __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
SIM_INLINE __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
SIM_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
SIM_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
SIM_INLINE __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
SIM_INLINE unsigned short __half_as_ushort(__half h) { return h.bits; }
SIM_INLINE short __half_as_short(__half h) { return (short)h.bits; }
SIM_INLINE __half __ushort_as_half(unsigned short bits) {
    __half h;
    h.bits = bits;
    return h;
}
SIM_INLINE __half __short_as_half(short bits) { return __ushort_as_half((unsigned short)bits); }
