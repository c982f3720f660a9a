// Waiting at the block's barrier and for a whole warp: the first and the last lane of a sweep, and lanes kept by masks.
// The lanes between are served by turns.h.
#include "scheduler.h"

extern "C" {
extern __thread sim::Index sim_thread_idx SIM_TLS;
}

namespace sim {

unsigned arrive(Block* block, Site site) {
    if (block->mode & PLAIN) {
        const Index size = block->launch->block, index = sim_thread_idx;
        become_fibers(block, block->mode & CHECKED ? block->current : (index.z * size.y + index.y) * size.x + index.x);
    }
    if (block->mode & CHECKED) block->site[block->current] = site;
    return block->current;
}

// Threads that have returned count as come for the hardware, but not for CUDA.
static void check_everybody_came(Block* block) {
    if (block->live == block->threads || block->aborted) return;
    unsigned first = 0;
    while (!(block->at_barrier[first / WARP] >> (first % WARP) & 1)) first++;
    fault(MISSED_BARRIER, first, {nullptr, block->site[first]}, NOBODY, {},
          "%u of the block's %u threads had already returned when the others waited at this __syncthreads(): every thread of "
          "the block must reach it",
          block->threads - block->live, block->threads);
}

void open_barrier(Block* block) {
    if (block->mode & CHECKED) {
        check_everybody_came(block);
        enter_runtime(block);
        unsigned first = 0;
        while (!(block->at_barrier[first / WARP] >> (first % WARP) & 1)) first++;
        trace_barrier(block, block->site[first].line);
        check_barrier(block);
        leave_runtime(block);
    }
    for (unsigned warp = 0; warp < block->warps; warp++) {
        block->runnable[warp] |= block->at_barrier[warp];
        block->at_barrier[warp] = 0;
    }
    block->waiting = 0;
    block->barriers++;
    block->votes[block->barriers % 2] = 0;
}

static void check_same_barrier(Block* block, unsigned me) {
    Site here = block->site[me];
    for (unsigned t = 0; t < block->threads && !block->aborted; t++) {
        if (t == me || !(block->alive[t / WARP] >> (t % WARP) & 1) || block->site[t].line == here.line) continue;
        fault(DIVERGENT_BARRIER, me, {nullptr, here}, t, {nullptr, block->site[t]},
              "threads of one block wait at different __syncthreads(): all of them must come to the same one");
        block->aborted = true;  // from here on threads are out of step: what comes of it is no fault of its own
        break;
    }
}

// All have arrived: run the action for them. Two buffers of values are enough: a lane can only come to the operation after
// the next one when all have read this one's.
void complete(Block* block, unsigned warp) {
    uint32_t phase = block->phase[warp], members = block->arrived[warp];
    uint64_t* values = block->value[phase][warp];
    values[WARP] = members;
    if (Action action = block->action[warp]) {
        action(values, members);
        block->action[warp] = nullptr;
    }
    block->runnable[warp] |= members;
    block->arrived[warp] = 0;
    block->phase[warp] = phase ^ 1;
}

}  // namespace sim

using namespace sim;

void sim_barrier(const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, {file, line}), warp = block->warp;
    uint32_t come = 1u << (me % WARP);
    if (block->sweep == OPEN || block->sweep == AT_BARRIER) {
        block->sweep = AT_BARRIER;
        if (me != block->last) return next_lane(block, me);
        come = block->alive[warp];
    } else {
        end_sweep(block);
    }
    block->at_barrier[warp] |= come;
    block->waiting += __builtin_popcount(come);
    if (block->waiting == block->live) {
        if (block->mode & CHECKED) check_same_barrier(block, me);
        open_barrier(block);
    }
    give_turn(block, me);
}

const uint64_t* sim_meet(unsigned mask, uint64_t value, int operation, Action action, const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, {file, line}), warp = block->warp;
    if (block->mode || block->whole & ~mask) {
        end_sweep(block);
        return meet_part(block, me, mask & block->whole, value, operation, action, {file, line});
    }
    uint64_t* values = block->values;
    uint32_t come = 1u << (me % WARP);
    values[me % WARP] = value;
    if (action) block->action[warp] = action;
    if (block->sweep == OPEN || block->sweep == MEETING) {
        block->sweep = MEETING;
        if (me != block->last) {
            next_lane(block, me);
            return values;
        }
        come = block->alive[warp];
    } else {
        end_sweep(block);
    }
    block->arrived[warp] |= come;
    if (block->arrived[warp] == block->alive[warp]) complete(block, warp);
    give_turn(block, me);
    return values;
}
