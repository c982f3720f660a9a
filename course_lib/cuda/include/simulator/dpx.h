// DPX functions: extremes of integers, in words of one lane (s32, u32) or of two (s16x2, u16x2). simd.h says how.
#pragma once
#include "simd.h"

// Of two values, of three, or of a sum, which wraps around, and a third; with relu it is at least 0.
template <sim_lane_operation FIRST, sim_lane_operation SECOND, class LANE, class WORD = unsigned>
SIM_INLINE WORD sim_of_three(WORD a, WORD b, WORD c) {
    return sim_lanes<SECOND, LANE>(sim_lanes<FIRST, LANE>(a, b), c);
}
template <sim_lane_operation FIRST, sim_lane_operation SECOND, class LANE, class WORD = unsigned>
SIM_INLINE WORD sim_relu_of_three(WORD a, WORD b, WORD c) {
    return sim_lanes<sim_max, LANE>(sim_of_three<FIRST, SECOND, LANE, WORD>(a, b, c), 0);
}
template <sim_lane_operation OPERATION, class LANE, class WORD = unsigned> SIM_INLINE WORD sim_relu_of_two(WORD a, WORD b) {
    return sim_lanes<sim_max, LANE>(sim_lanes<OPERATION, LANE>(a, b), 0);
}
// These also return, for each lane, whether the extreme is a's, as it is where both are equal.
template <sim_lane_operation OPERATION, class LANE> SIM_INLINE LANE sim_word_with_predicate(LANE a, LANE b, bool* is_a) {
    LANE extreme = sim_lanes<OPERATION, LANE>(a, b);
    *is_a = extreme == a;
    return extreme;
}
template <sim_lane_operation OPERATION, class LANE>
SIM_INLINE unsigned sim_lanes_with_predicates(unsigned a, unsigned b, bool* high_is_a, bool* low_is_a) {
    unsigned lanes = sim_lanes<OPERATION, LANE>(a, b);
    *high_is_a = lanes >> 16 == a >> 16;
    *low_is_a = (lanes & 0xffff) == (a & 0xffff);
    return lanes;
}

#define __vimax_s32_relu      sim_relu_of_two<sim_max, int, int>
#define __vimax3_s32          sim_of_three<sim_max, sim_max, int, int>
#define __viaddmax_s32        sim_of_three<sim_add, sim_max, int, int>
#define __vimax3_s32_relu     sim_relu_of_three<sim_max, sim_max, int, int>
#define __viaddmax_s32_relu   sim_relu_of_three<sim_add, sim_max, int, int>
#define __vibmax_s32          sim_word_with_predicate<sim_max, int>
#define __vimax3_u32          sim_of_three<sim_max, sim_max, unsigned>
#define __viaddmax_u32        sim_of_three<sim_add, sim_max, unsigned>
#define __vibmax_u32          sim_word_with_predicate<sim_max, unsigned>
#define __vimax_s16x2_relu    sim_relu_of_two<sim_max, int16_t>
#define __vimax3_s16x2        sim_of_three<sim_max, sim_max, int16_t>
#define __viaddmax_s16x2      sim_of_three<sim_add, sim_max, int16_t>
#define __vimax3_s16x2_relu   sim_relu_of_three<sim_max, sim_max, int16_t>
#define __viaddmax_s16x2_relu sim_relu_of_three<sim_add, sim_max, int16_t>
#define __vibmax_s16x2        sim_lanes_with_predicates<sim_max, int16_t>
#define __vimax3_u16x2        sim_of_three<sim_max, sim_max, uint16_t>
#define __viaddmax_u16x2      sim_of_three<sim_add, sim_max, uint16_t>
#define __vibmax_u16x2        sim_lanes_with_predicates<sim_max, uint16_t>
#define __vimin_s32_relu      sim_relu_of_two<sim_min, int, int>
#define __vimin3_s32          sim_of_three<sim_min, sim_min, int, int>
#define __viaddmin_s32        sim_of_three<sim_add, sim_min, int, int>
#define __vimin3_s32_relu     sim_relu_of_three<sim_min, sim_min, int, int>
#define __viaddmin_s32_relu   sim_relu_of_three<sim_add, sim_min, int, int>
#define __vibmin_s32          sim_word_with_predicate<sim_min, int>
#define __vimin3_u32          sim_of_three<sim_min, sim_min, unsigned>
#define __viaddmin_u32        sim_of_three<sim_add, sim_min, unsigned>
#define __vibmin_u32          sim_word_with_predicate<sim_min, unsigned>
#define __vimin_s16x2_relu    sim_relu_of_two<sim_min, int16_t>
#define __vimin3_s16x2        sim_of_three<sim_min, sim_min, int16_t>
#define __viaddmin_s16x2      sim_of_three<sim_add, sim_min, int16_t>
#define __vimin3_s16x2_relu   sim_relu_of_three<sim_min, sim_min, int16_t>
#define __viaddmin_s16x2_relu sim_relu_of_three<sim_add, sim_min, int16_t>
#define __vibmin_s16x2        sim_lanes_with_predicates<sim_min, int16_t>
#define __vimin3_u16x2        sim_of_three<sim_min, sim_min, uint16_t>
#define __viaddmin_u16x2      sim_of_three<sim_add, sim_min, uint16_t>
#define __vibmin_u16x2        sim_lanes_with_predicates<sim_min, uint16_t>
