// half and half2, with their intrinsics.
#pragma once
#include "simulator/atomics.h"
#include "simulator/small_floats.h"
#include "simulator/small_pairs.h"
#include "simulator/entry.h"

SIM_SMALL_FLOAT(__half, __half2, sim::float_to_half, sim::half_to_float)
SIM_SMALL_CONVERSIONS(__half, __half2, half)
SIM_SMALL_REST(__half, __half2, half)
typedef __half half;
typedef __half2 half2;
namespace sim {
SIM_KIND(__half, 'h', 2) SIM_KIND(__half2, 'h', 2)
}
