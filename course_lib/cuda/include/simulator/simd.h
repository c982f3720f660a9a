// SIMD intrinsics: a word holds two halfwords (names with 2) or four bytes (4), its lanes, signed (s) or unsigned (u).
// Every kernel includes this file: a name is a macro for a template, which costs next to nothing to compile until it is used.
#pragma once
#include "language.h"

enum sim_lane_operation {
    sim_add, sim_add_saturating, sim_sub, sim_sub_saturating, sim_abs_diff, sim_abs_diff_saturating, sim_average, sim_average_down,
    sim_max, sim_min, sim_eq, sim_ne, sim_ge, sim_gt, sim_le, sim_lt
};

// A lane of the result, before it is truncated to its bits.
template <sim_lane_operation OPERATION> SIM_INLINE int64_t sim_lane(int64_t x, int64_t y, int64_t low, int64_t high) {
    const int64_t sum = x + y, difference = x < y ? y - x : x - y;
    switch (OPERATION) {
        case sim_add: return sum;
        case sim_add_saturating: return sum < low ? low : sum > high ? high : sum;
        case sim_sub: return x - y;
        case sim_sub_saturating: return x - y < low ? low : x - y > high ? high : x - y;
        case sim_abs_diff: return difference;
        case sim_abs_diff_saturating: return difference > high ? high : difference;
        case sim_average: return (sum + (sum >= 0)) >> 1;  // a half goes away from zero
        case sim_average_down: return sum >> 1;
        case sim_max: return x < y ? y : x;
        case sim_min: return y < x ? y : x;
        case sim_eq: return x == y;
        case sim_ne: return x != y;
        case sim_ge: return x >= y;
        case sim_gt: return x > y;
        case sim_le: return x <= y;
        case sim_lt: return x < y;
    }
}
template <sim_lane_operation OPERATION, class LANE> SIM_INLINE unsigned sim_lanes(unsigned a, unsigned b) {
    const int bits = 8 * sizeof(LANE);
    const int64_t values = 1ll << bits, low = LANE(-1) < LANE(0) ? -(values >> 1) : 0;
    unsigned lanes = 0;
    for (int i = 0; i < 32; i += bits) {
        int64_t lane = sim_lane<OPERATION>((LANE)(a >> i), (LANE)(b >> i), low, low + values - 1);
        lanes |= (unsigned)(lane & (values - 1)) << i;
    }
    return lanes;
}
template <sim_lane_operation OPERATION, class LANE> SIM_INLINE unsigned sim_lanes_unary(unsigned a) {
    return sim_lanes<OPERATION, LANE>(0, a);
}
template <sim_lane_operation OPERATION, class LANE> SIM_INLINE unsigned sim_lanes_all_bits(unsigned a, unsigned b) {
    return sim_lanes<OPERATION, LANE>(a, b) * ((1u << 8 * sizeof(LANE)) - 1);
}
template <class LANE> SIM_INLINE unsigned sim_sum_of_abs_diffs(unsigned a, unsigned b) {
    const int bits = 8 * sizeof(LANE);
    unsigned sum = 0;
    for (int i = 0; i < 32; i += bits) sum += sim_lanes<sim_abs_diff, LANE>(a, b) >> i & ((1u << bits) - 1);
    return sum;
}

#define __vadd2      sim_lanes<sim_add, uint16_t>
#define __vadd4      sim_lanes<sim_add, uint8_t>
#define __vaddss2    sim_lanes<sim_add_saturating, int16_t>
#define __vaddss4    sim_lanes<sim_add_saturating, int8_t>
#define __vaddus2    sim_lanes<sim_add_saturating, uint16_t>
#define __vaddus4    sim_lanes<sim_add_saturating, uint8_t>
#define __vsub2      sim_lanes<sim_sub, uint16_t>
#define __vsub4      sim_lanes<sim_sub, uint8_t>
#define __vsubss2    sim_lanes<sim_sub_saturating, int16_t>
#define __vsubss4    sim_lanes<sim_sub_saturating, int8_t>
#define __vsubus2    sim_lanes<sim_sub_saturating, uint16_t>
#define __vsubus4    sim_lanes<sim_sub_saturating, uint8_t>
#define __vabsdiffs2 sim_lanes<sim_abs_diff, int16_t>
#define __vabsdiffs4 sim_lanes<sim_abs_diff, int8_t>
#define __vabsdiffu2 sim_lanes<sim_abs_diff, uint16_t>
#define __vabsdiffu4 sim_lanes<sim_abs_diff, uint8_t>
#define __vavgs2     sim_lanes<sim_average, int16_t>
#define __vavgs4     sim_lanes<sim_average, int8_t>
#define __vavgu2     sim_lanes<sim_average, uint16_t>
#define __vavgu4     sim_lanes<sim_average, uint8_t>
#define __vhaddu2    sim_lanes<sim_average_down, uint16_t>
#define __vhaddu4    sim_lanes<sim_average_down, uint8_t>
#define __vmaxs2     sim_lanes<sim_max, int16_t>
#define __vmaxs4     sim_lanes<sim_max, int8_t>
#define __vmaxu2     sim_lanes<sim_max, uint16_t>
#define __vmaxu4     sim_lanes<sim_max, uint8_t>
#define __vmins2     sim_lanes<sim_min, int16_t>
#define __vmins4     sim_lanes<sim_min, int8_t>
#define __vminu2     sim_lanes<sim_min, uint16_t>
#define __vminu4     sim_lanes<sim_min, uint8_t>

#define __vneg2   sim_lanes_unary<sim_sub, int16_t>
#define __vneg4   sim_lanes_unary<sim_sub, int8_t>
#define __vnegss2 sim_lanes_unary<sim_sub_saturating, int16_t>
#define __vnegss4 sim_lanes_unary<sim_sub_saturating, int8_t>
#define __vabs2   sim_lanes_unary<sim_abs_diff, int16_t>
#define __vabs4   sim_lanes_unary<sim_abs_diff, int8_t>
#define __vabsss2 sim_lanes_unary<sim_abs_diff_saturating, int16_t>
#define __vabsss4 sim_lanes_unary<sim_abs_diff_saturating, int8_t>
#define __vsads2  sim_sum_of_abs_diffs<int16_t>
#define __vsads4  sim_sum_of_abs_diffs<int8_t>
#define __vsadu2  sim_sum_of_abs_diffs<uint16_t>
#define __vsadu4  sim_sum_of_abs_diffs<uint8_t>

// A comparison that holds sets the lowest bit of its lane with set, all of them with cmp.
#define __vseteq2  sim_lanes<sim_eq, uint16_t>
#define __vseteq4  sim_lanes<sim_eq, uint8_t>
#define __vsetne2  sim_lanes<sim_ne, uint16_t>
#define __vsetne4  sim_lanes<sim_ne, uint8_t>
#define __vsetges2 sim_lanes<sim_ge, int16_t>
#define __vsetges4 sim_lanes<sim_ge, int8_t>
#define __vsetgeu2 sim_lanes<sim_ge, uint16_t>
#define __vsetgeu4 sim_lanes<sim_ge, uint8_t>
#define __vsetgts2 sim_lanes<sim_gt, int16_t>
#define __vsetgts4 sim_lanes<sim_gt, int8_t>
#define __vsetgtu2 sim_lanes<sim_gt, uint16_t>
#define __vsetgtu4 sim_lanes<sim_gt, uint8_t>
#define __vsetles2 sim_lanes<sim_le, int16_t>
#define __vsetles4 sim_lanes<sim_le, int8_t>
#define __vsetleu2 sim_lanes<sim_le, uint16_t>
#define __vsetleu4 sim_lanes<sim_le, uint8_t>
#define __vsetlts2 sim_lanes<sim_lt, int16_t>
#define __vsetlts4 sim_lanes<sim_lt, int8_t>
#define __vsetltu2 sim_lanes<sim_lt, uint16_t>
#define __vsetltu4 sim_lanes<sim_lt, uint8_t>
#define __vcmpeq2  sim_lanes_all_bits<sim_eq, uint16_t>
#define __vcmpeq4  sim_lanes_all_bits<sim_eq, uint8_t>
#define __vcmpne2  sim_lanes_all_bits<sim_ne, uint16_t>
#define __vcmpne4  sim_lanes_all_bits<sim_ne, uint8_t>
#define __vcmpges2 sim_lanes_all_bits<sim_ge, int16_t>
#define __vcmpges4 sim_lanes_all_bits<sim_ge, int8_t>
#define __vcmpgeu2 sim_lanes_all_bits<sim_ge, uint16_t>
#define __vcmpgeu4 sim_lanes_all_bits<sim_ge, uint8_t>
#define __vcmpgts2 sim_lanes_all_bits<sim_gt, int16_t>
#define __vcmpgts4 sim_lanes_all_bits<sim_gt, int8_t>
#define __vcmpgtu2 sim_lanes_all_bits<sim_gt, uint16_t>
#define __vcmpgtu4 sim_lanes_all_bits<sim_gt, uint8_t>
#define __vcmples2 sim_lanes_all_bits<sim_le, int16_t>
#define __vcmples4 sim_lanes_all_bits<sim_le, int8_t>
#define __vcmpleu2 sim_lanes_all_bits<sim_le, uint16_t>
#define __vcmpleu4 sim_lanes_all_bits<sim_le, uint8_t>
#define __vcmplts2 sim_lanes_all_bits<sim_lt, int16_t>
#define __vcmplts4 sim_lanes_all_bits<sim_lt, int8_t>
#define __vcmpltu2 sim_lanes_all_bits<sim_lt, uint16_t>
#define __vcmpltu4 sim_lanes_all_bits<sim_lt, uint8_t>
