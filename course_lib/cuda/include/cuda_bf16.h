// __nv_bfloat16 and its pair, with their intrinsics.
#pragma once
#include "simulator/atomics.h"
#include "simulator/small_floats.h"
#include "simulator/small_pairs.h"
#include "simulator/entry.h"

SIM_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, sim::float_to_bfloat16, sim::bfloat16_to_float)
SIM_SMALL_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
SIM_SMALL_REST(__nv_bfloat16, __nv_bfloat162, bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
namespace sim {
SIM_KIND(__nv_bfloat16, 'g', 2) SIM_KIND(__nv_bfloat162, 'g', 2)
}
