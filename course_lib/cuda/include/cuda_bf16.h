// __nv_bfloat16 and its pair, with their intrinsics.
#pragma once
#include "simulator/atomics.h"
#include "simulator/small_floats.h"
#include "simulator/small_pairs.h"
#include "simulator/entry.h"

SIM_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, sim::float_to_bfloat16, sim::bfloat16_to_float)
SIM_SMALL_REST(__nv_bfloat16, __nv_bfloat162, bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
namespace sim {
SIM_KIND(__nv_bfloat16, 'g', 2) SIM_KIND(__nv_bfloat162, 'g', 2)
}

SIM_INLINE float __bfloat162float(__nv_bfloat16 h) { return h; }
SIM_INLINE __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
SIM_INLINE __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
SIM_INLINE __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
SIM_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x)); }
SIM_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y)); }
SIM_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
SIM_INLINE float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2(h.x, h.y); }
SIM_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
SIM_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIM_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIM_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
SIM_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
SIM_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
SIM_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
SIM_INLINE __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
SIM_INLINE __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
SIM_INLINE __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.x); }
SIM_INLINE float __low2float(__nv_bfloat162 h) { return h.x; }
SIM_INLINE float __high2float(__nv_bfloat162 h) { return h.y; }
SIM_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
SIM_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    __nv_bfloat16 h;
    h.bits = bits;
    return h;
}
