// The fast paths of waiting, expanded inside the kernels: barriers and warp operations of a warp in lockstep.
//
// No lane polls and nothing is counted: a lane that waits switches to the next lane of its warp. Which one that is does not
// depend on the fiber's own stack, so the processor can speculate over many switches.
#pragma once
#include "block.h"
#include "switch.h"

namespace sim {

// The block that this worker runs. Written so that no compiler keeps a part of it on a fiber's stack: the choice of the next
// lane would then wait for that stack's cache miss.
__attribute__((always_inline)) static inline Block* this_block() {
#if defined(__linux__) && defined(__x86_64__)
    Block* block;
    asm volatile("movq sim_block@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(block) : : "memory");
    return block;
#else
    return sim_block;
#endif
}

// Hide the cache miss of a thread's stack.
__attribute__((always_inline)) static inline void prefetch_stack(const Block* block, unsigned thread) {
    auto soon = static_cast<const char*>(block->stack_pointer[thread]);
    for (int line = 0; line < 3; line++) __builtin_prefetch(soon + 64 * line);
}

__attribute__((always_inline)) static inline void next_lane(Block* block, unsigned me) {
    block->current = me + 1;
    prefetch_stack(block, me + AHEAD);
    switch_stack(&block->stack_pointer[me], block->stack_pointer[me + 1]);
}

__attribute__((always_inline)) static inline void barrier(const char* file, int line) {
    Block* block = this_block();
    unsigned me = block->current;
    if (__builtin_expect((block->lockstep != AT_BARRIER) | (me == block->last), 0)) return sim_barrier(file, line);
    next_lane(block, me);
}

// Synchronise with the lanes that `mask` names and exchange a value with each. Returns the 32 values and, behind them, the
// lanes that have arrived; valid until this lane waits again.
__attribute__((always_inline)) static inline const uint64_t* warp_sync(unsigned mask, uint64_t value, Operation operation,
                                                                       Action action, const char* file, int line) {
    Block* block = this_block();
    unsigned me = block->current;
    uint64_t* values = block->values;
    if (__builtin_expect((block->lockstep != AT_WARP_SYNC) | (me == block->last) | ((block->full_mask & ~mask) != 0), 0))
        return sim_warp_sync(mask, value, operation, action, file, line);
    values[me % WARP] = value;
    next_lane(block, me);
    return values;
}

// __activemask(): the lanes that have come here together.
__attribute__((always_inline)) static inline unsigned converge(const char* file, int line) { return sim_converge(file, line); }

// Let other threads run now and then: this one may be spinning until another acts.
__attribute__((always_inline)) static inline void may_spin() { sim_may_spin(); }

}  // namespace sim
