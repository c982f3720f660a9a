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
    return sim_lanes<sim_greater, LANE>(sim_of_three<FIRST, SECOND, LANE, WORD>(a, b, c), 0);
}
template <sim_lane_operation OPERATION, class LANE, class WORD = unsigned> SIM_INLINE WORD sim_relu_of_two(WORD a, WORD b) {
    return sim_lanes<sim_greater, LANE>(sim_lanes<OPERATION, LANE>(a, b), 0);
}
// They also tell, lane by lane, whether the extreme is a's: it is where both are equal.
template <sim_lane_operation OPERATION, class LANE> SIM_INLINE LANE sim_word_and_whose(LANE a, LANE b, bool* is_a) {
    LANE extreme = sim_lanes<OPERATION, LANE>(a, b);
    *is_a = extreme == a;
    return extreme;
}
template <sim_lane_operation OPERATION, class LANE>
SIM_INLINE unsigned sim_lanes_and_whose(unsigned a, unsigned b, bool* high_is_a, bool* low_is_a) {
    unsigned lanes = sim_lanes<OPERATION, LANE>(a, b);
    *high_is_a = lanes >> 16 == a >> 16;
    *low_is_a = (lanes & 0xffff) == (a & 0xffff);
    return lanes;
}

#define __vimax_s32_relu      sim_relu_of_two<sim_greater, int, int>
#define __vimax3_s32          sim_of_three<sim_greater, sim_greater, int, int>
#define __viaddmax_s32        sim_of_three<sim_add, sim_greater, int, int>
#define __vimax3_s32_relu     sim_relu_of_three<sim_greater, sim_greater, int, int>
#define __viaddmax_s32_relu   sim_relu_of_three<sim_add, sim_greater, int, int>
#define __vibmax_s32          sim_word_and_whose<sim_greater, int>
#define __vimax3_u32          sim_of_three<sim_greater, sim_greater, unsigned>
#define __viaddmax_u32        sim_of_three<sim_add, sim_greater, unsigned>
#define __vibmax_u32          sim_word_and_whose<sim_greater, unsigned>
#define __vimax_s16x2_relu    sim_relu_of_two<sim_greater, int16_t>
#define __vimax3_s16x2        sim_of_three<sim_greater, sim_greater, int16_t>
#define __viaddmax_s16x2      sim_of_three<sim_add, sim_greater, int16_t>
#define __vimax3_s16x2_relu   sim_relu_of_three<sim_greater, sim_greater, int16_t>
#define __viaddmax_s16x2_relu sim_relu_of_three<sim_add, sim_greater, int16_t>
#define __vibmax_s16x2        sim_lanes_and_whose<sim_greater, int16_t>
#define __vimax3_u16x2        sim_of_three<sim_greater, sim_greater, uint16_t>
#define __viaddmax_u16x2      sim_of_three<sim_add, sim_greater, uint16_t>
#define __vibmax_u16x2        sim_lanes_and_whose<sim_greater, uint16_t>
#define __vimin_s32_relu      sim_relu_of_two<sim_lesser, int, int>
#define __vimin3_s32          sim_of_three<sim_lesser, sim_lesser, int, int>
#define __viaddmin_s32        sim_of_three<sim_add, sim_lesser, int, int>
#define __vimin3_s32_relu     sim_relu_of_three<sim_lesser, sim_lesser, int, int>
#define __viaddmin_s32_relu   sim_relu_of_three<sim_add, sim_lesser, int, int>
#define __vibmin_s32          sim_word_and_whose<sim_lesser, int>
#define __vimin3_u32          sim_of_three<sim_lesser, sim_lesser, unsigned>
#define __viaddmin_u32        sim_of_three<sim_add, sim_lesser, unsigned>
#define __vibmin_u32          sim_word_and_whose<sim_lesser, unsigned>
#define __vimin_s16x2_relu    sim_relu_of_two<sim_lesser, int16_t>
#define __vimin3_s16x2        sim_of_three<sim_lesser, sim_lesser, int16_t>
#define __viaddmin_s16x2      sim_of_three<sim_add, sim_lesser, int16_t>
#define __vimin3_s16x2_relu   sim_relu_of_three<sim_lesser, sim_lesser, int16_t>
#define __viaddmin_s16x2_relu sim_relu_of_three<sim_add, sim_lesser, int16_t>
#define __vibmin_s16x2        sim_lanes_and_whose<sim_lesser, int16_t>
#define __vimin3_u16x2        sim_of_three<sim_lesser, sim_lesser, uint16_t>
#define __viaddmin_u16x2      sim_of_three<sim_add, sim_lesser, uint16_t>
#define __vibmin_u16x2        sim_lanes_and_whose<sim_lesser, uint16_t>
