// The fast paths of waiting, expanded inside the kernels: barrier and whole-warp exchange.
//
// Nobody polls. A lane that must wait hands the worker straight to the next lane that can run; the last to arrive frees
// the others and goes on itself. In lockstep code that is a handful of instructions per lane and wait.
#pragma once
#include "block.h"
#include "switch.h"

namespace sim {

// Give the turn to the next lane of this warp that can run, or to another warp. Returns when it is our turn again.
//
// Whom to choose depends on nothing that the fiber itself remembers, so the processor can look ahead over many turns.
__attribute__((always_inline)) static inline void give_turn(Block* block, unsigned me) {
    unsigned warp = block->warp, next;
    uint32_t runnable = block->runnable[warp];
    if (__builtin_expect(runnable != 0, 1)) {
        block->runnable[warp] = runnable & (runnable - 1);
        next = warp * WARP + __builtin_ctz(runnable);
    } else {
        next = sim_next_warp(block);
    }
    block->current = next;
    switch_stack(&block->stack_pointer[me], block->stack_pointer[next]);
}

__attribute__((always_inline)) static inline void barrier(Block* block, unsigned thread, const char* file, int line) {
    if (__builtin_expect(block->slow != 0, 0)) return sim_barrier(thread, file, line);
    unsigned me = block->current;
    if (++block->waiting == block->live) return sim_open_barrier(block);
    block->at_barrier[block->warp] |= 1u << (me % WARP);
    give_turn(block, me);
}

// All lanes of a warp have arrived: run the action for them, free all but `me`.
__attribute__((always_inline)) static inline void complete(Block* block, unsigned warp, uint32_t others) {
    uint32_t phase = block->phase[warp];
    if (Action action = block->action[warp]) {
        action(&block->value[phase][warp * WARP], block->arrived[warp]);
        block->action[warp] = nullptr;
    }
    block->arrived[warp] = 0;
    block->phase[warp] = phase ^ 1;
    block->runnable[warp] |= others;
}

// Meet the lanes that `mask` names, each bringing a value. Returns the 32 values, valid until this lane waits again.
//
// Two buffers are enough: a lane can only come to the operation after the next one when all have read this one's.
template <Operation OPERATION>
__attribute__((always_inline)) static inline const uint64_t* meet(unsigned thread, unsigned mask, uint64_t value,
                                                                  Action action, uint64_t* buffer, const char* file,
                                                                  int line) {
    Block* block = sim_block;
    unsigned me = block->current, warp = block->warp;
    if (__builtin_expect((block->slow != 0) | ((block->full[warp] & ~mask) != 0), 0)) {
        sim_meet(thread, mask, value, OPERATION, action, buffer, file, line);
        return buffer;
    }
    uint32_t phase = block->phase[warp];
    block->value[phase][me] = value;
    if (OPERATION == ACTION) block->action[warp] = action;
    uint32_t bit = 1u << (me % WARP), arrived = block->arrived[warp] | bit;
    block->arrived[warp] = arrived;
    if (arrived == block->alive[warp])
        complete(block, warp, arrived & ~bit);
    else
        give_turn(block, me);
    return &block->value[phase][warp * WARP];
}

}  // namespace sim
