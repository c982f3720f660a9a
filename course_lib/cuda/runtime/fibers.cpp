// The threads of a block as fibers.
//
// A block begins as a plain loop over its threads, which runs on a fiber's stack itself. When a thread must wait, that stack is
// frozen in the middle of the loop and becomes the thread's; the threads after it get stacks of their own.
#include "scheduler.h"

extern "C" {
SIM_PER_WORKER sim::Block* sim_block SIM_TLS = nullptr;
// threadIdx, blockIdx, blockDim and gridDim of kernels that may wait, and whether the plain loop has been left.
SIM_PER_WORKER sim::Index sim_thread_idx SIM_TLS, sim_block_idx SIM_TLS, sim_block_dim SIM_TLS, sim_grid_dim SIM_TLS;
SIM_PER_WORKER bool sim_waited SIM_TLS;
}

namespace sim {

void go_to(void* stack_pointer) {
    void* forgotten;
    switch_stack(&forgotten, stack_pointer);
    __builtin_unreachable();
}

unsigned give_up(Block* block) { go_to(block->main_stack_pointer); }

static unsigned take_stacks(Block* block) {
    unsigned set = __builtin_ctz(block->free_stacks);
    block->free_stacks &= ~(1u << set);
    open_stack_set(block, set);
    return set;
}

void start_warp(Block* block, unsigned warp, uint32_t lanes) {
    if (!block->started[warp]) block->stacks[warp] = take_stacks(block);
    block->started[warp] = true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = __builtin_ctz(left);
        block->stack_pointer[warp * WARP + lane] = new_stack(stack_top(block, warp, lane), block->thread_main);
    }
    block->runnable[warp] |= lanes;
}

void become_fibers(Block* block, unsigned thread) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    prepare_warps(block);
    block->free_stacks = ~1u;  // set 0 is the plain loop's
    sim_waited = true;  // ends the plain loop
    block->current = thread;
    block->warp = warp;
    block->live = block->threads - thread;
    for (unsigned w = 0; w < warp; w++) block->alive[w] = 0, block->started[w] = true;
    block->alive[warp] &= ~0u << lane;
    // The frozen stack belongs to set 0, lane 0: lanes before `thread` have returned, so that lane's stack is free.
    block->started[warp] = true;
    block->stacks[warp] = 0;
    start_warp(block, warp, block->alive[warp] & ~(1u << lane));
    block->full_mask = block->full[warp];
    block->values = block->value[0][warp];
    if (block->mode) return;
    block->lockstep = FIRST_LANE;
    block->last = warp * WARP + 31 - __builtin_clz(block->alive[warp]);
    block->runnable[warp] = 0;
}

}  // namespace sim
