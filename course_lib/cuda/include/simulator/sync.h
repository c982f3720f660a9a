// Everything that waits: barriers, shuffles, votes, matches, reductions.
#pragma once
#include "index.h"

#ifdef SIM_NEVER_WAITS
// A file that names none of these functions is compiled without them, which lets its thread loops vectorise.
#else

SIM_WAITS void sim_wait_for_block(SIM_HERE) {
    SIM_KEEP_INDEX(sim::barrier(file, line))
}
SIM_WAITS void __syncthreads(SIM_HERE) { sim_wait_for_block(file, line); }
SIM_UNSEEN unsigned sim_parity() { return sim_block->barriers % 2; }
SIM_UNSEEN void sim_vote(unsigned parity, int predicate) { sim_block->votes[parity] += predicate != 0; }
SIM_UNSEEN int sim_votes(unsigned parity) { return sim_block->votes[parity]; }
SIM_WAITS int __syncthreads_count(int predicate, SIM_HERE) {
    unsigned parity = sim_parity();
    sim_vote(parity, predicate);
    sim_wait_for_block(file, line);
    return sim_votes(parity);
}
SIM_WAITS int __syncthreads_or(int predicate, SIM_HERE) { return __syncthreads_count(predicate, file, line) != 0; }
SIM_WAITS int __syncthreads_and(int predicate, SIM_HERE) { return __syncthreads_count(!predicate, file, line) == 0; }

// Synchronise with the lanes of `mask`; `sim_values` are then those of all lanes.
#define SIM_WARP_SYNC(OPERATION, MASK, VALUE, ACTION)                                                               \
    const uint64_t* sim_values;                                                                                     \
    SIM_KEEP_INDEX(sim_values = sim::warp_sync(MASK, VALUE, sim::OPERATION, ACTION, file, line))

SIM_UNSEEN uint64_t sim_value(const uint64_t* values, unsigned lane) { return values[lane]; }

SIM_WAITS void __syncwarp(unsigned mask = 0xffffffffu, SIM_HERE) {
    SIM_WARP_SYNC(SYNC, mask, 0, nullptr)
    (void)sim_values;
}

template <class T>
SIM_INLINE SIM_UNCHECKED uint64_t sim_to_bits(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves values of at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T>
SIM_INLINE SIM_UNCHECKED T sim_from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy((void*)&value, &bits, sizeof(T));
    return value;
}

#ifdef SIM_CHECKED
#pragma GCC visibility push(default)
extern "C" void sim_check_source(unsigned source, uint32_t members, const char* file, int line);
#pragma GCC visibility pop
#define SIM_CHECK_SOURCE(source) sim_check_source(source, sim_value(sim_values, sim::WARP), file, line);
#else
#define SIM_CHECK_SOURCE(source)
#endif

template <class T>
SIM_WAITS T sim_shuffle(unsigned mask, T value, unsigned source, const char* file, int line) {
    SIM_WARP_SYNC(SHUFFLE, mask, sim_to_bits(value), nullptr)
    SIM_CHECK_SOURCE(source)
    return sim_from_bits<T>(sim_value(sim_values, source % sim::WARP));
}
SIM_FUNCTION int sim_lane() { return sim_thread() % sim::WARP; }

template <class T>
SIM_WAITS T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIM_HERE) {
    int first = sim_lane() & ~(width - 1);
    return sim_shuffle(mask, value, first + (source & (width - 1)), file, line);
}
template <class T>
SIM_WAITS T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIM_HERE) {
    int lane = sim_lane(), last = lane | (width - 1), source = lane + (int)delta;
    return sim_shuffle(mask, value, source > last ? lane : source, file, line);
}
template <class T>
SIM_WAITS T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIM_HERE) {
    int lane = sim_lane(), first = lane & ~(width - 1), source = lane - (int)delta;
    return sim_shuffle(mask, value, source < first ? lane : source, file, line);
}
template <class T>
SIM_WAITS T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, SIM_HERE) {
    int lane = sim_lane(), last = lane | (width - 1), source = lane ^ bits;
    return sim_shuffle(mask, value, source > last ? lane : source, file, line);
}

SIM_WAITS unsigned __ballot_sync(unsigned mask, int predicate, SIM_HERE) {
    SIM_WARP_SYNC(VOTE, mask, predicate != 0, nullptr)
    unsigned votes = 0, members = sim_value(sim_values, sim::WARP);
    for (unsigned lane = 0; lane < sim::WARP; lane++) votes |= unsigned(sim_value(sim_values, lane) != 0) << lane;
    return votes & members;
}
SIM_WAITS int __any_sync(unsigned mask, int predicate, SIM_HERE) {
    return __ballot_sync(mask, predicate, file, line) != 0;
}
SIM_WAITS int __all_sync(unsigned mask, int predicate, SIM_HERE) {
    return __ballot_sync(mask, !predicate, file, line) == 0;
}

SIM_WAITS unsigned sim_match(unsigned mask, uint64_t value, unsigned& members, const char* file, int line) {
    SIM_WARP_SYNC(MATCH, mask, value, nullptr)
    unsigned same = 0;
    members = sim_value(sim_values, sim::WARP);
    for (unsigned lane = 0; lane < sim::WARP; lane++) same |= unsigned(sim_value(sim_values, lane) == value) << lane;
    return same & members;
}
template <class T>
SIM_WAITS unsigned __match_any_sync(unsigned mask, T value, SIM_HERE) {
    unsigned members;
    return sim_match(mask, sim_to_bits(value), members, file, line);
}
template <class T>
SIM_WAITS unsigned __match_all_sync(unsigned mask, T value, int* predicate, SIM_HERE) {
    unsigned members, same = sim_match(mask, sim_to_bits(value), members, file, line);
    *predicate = same == members;
    return *predicate ? members : 0;
}

template <class T, class F>
SIM_WAITS T sim_reduce(unsigned mask, T value, F combine, const char* file, int line) {
    SIM_WARP_SYNC(REDUCE, mask, sim_to_bits(value), nullptr)
    unsigned left = sim_value(sim_values, sim::WARP);
    T result = sim_from_bits<T>(sim_value(sim_values, __builtin_ctz(left)));
    for (left &= left - 1; left; left &= left - 1) result = combine(result, sim_from_bits<T>(sim_value(sim_values, __builtin_ctz(left))));
    return result;
}
#define SIM_REDUCE(NAME, T, EXPRESSION)                                                             \
    SIM_WAITS T __reduce_##NAME##_sync(unsigned mask, T value, SIM_HERE) {                       \
        return sim_reduce(mask, value, [](T a, T b) -> T { return EXPRESSION; }, file, line);       \
    }
SIM_REDUCE(add, unsigned, a + b) SIM_REDUCE(add, int, int(unsigned(a) + unsigned(b)))
SIM_REDUCE(min, unsigned, a < b ? a : b) SIM_REDUCE(min, int, a < b ? a : b)
SIM_REDUCE(max, unsigned, a < b ? b : a) SIM_REDUCE(max, int, a < b ? b : a)
SIM_REDUCE(and, unsigned, a & b) SIM_REDUCE(or, unsigned, a | b) SIM_REDUCE(xor, unsigned, a ^ b)

SIM_WAITS unsigned __activemask(SIM_HERE) {
    unsigned active;
    SIM_KEEP_INDEX(active = sim::converge(file, line))
    return active;
}

#endif

// A thread that sleeps, or whose atomic changes nothing, may be spinning until another thread acts: now and then others run.
#ifdef SIM_NEVER_WAITS
#define SIM_MAY_SPIN(CONDITION)
#else
#define SIM_MAY_SPIN(CONDITION) if (CONDITION) { SIM_KEEP_INDEX(sim::may_spin()) }
#endif

#ifdef SIM_CHECKED
#pragma GCC visibility push(default)
extern "C" void sim_check_fence(int for_all);  // for all blocks, or for this one
#pragma GCC visibility pop
SIM_FUNCTION void __threadfence() { sim_check_fence(1); }
SIM_FUNCTION void __threadfence_system() { sim_check_fence(1); }
SIM_FUNCTION void __threadfence_block() { sim_check_fence(0); }
#else
SIM_FUNCTION void __threadfence() { sim_fence(); }
SIM_FUNCTION void __threadfence_system() { sim_fence(); }
SIM_FUNCTION void __threadfence_block() { sim_fence(); }
#endif
SIM_WAITS void __nanosleep(unsigned) { SIM_MAY_SPIN(true) }

#define printf sim_printf
#include "assert.h"
SIM_INLINE void __trap(SIM_HERE) { sim_stop(sim_thread(), "__trap() was called", file, line); }
