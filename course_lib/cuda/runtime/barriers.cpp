// __syncthreads(): the first and the last lane of a warp in lockstep, and lanes that have diverged. lockstep.h has the rest.
#include "events.h"
#include "scheduler.h"

namespace sim {

void open_barrier(Block* block, unsigned last) {
    emit(Barrier{block, last});
    end_interval(block);
    for (unsigned warp = 0; warp < block->warps; warp++) {
        block->runnable[warp] |= block->at_barrier[warp];
        block->at_barrier[warp] = 0;
    }
    block->waiting = 0;
    block->barriers++;
    block->votes[block->barriers % 2] = 0;
}

}  // namespace sim

using namespace sim;

void sim_barrier(const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, {file, line}), warp = block->warp;
    uint32_t lanes = 1u << (me % WARP);
    if (block->lockstep == FIRST_LANE || block->lockstep == AT_BARRIER) {
        block->lockstep = AT_BARRIER;
        if (me != block->last) return next_lane(block, me);
        lanes = block->alive[warp];
    } else {
        diverge(block);
    }
    block->at_barrier[warp] |= lanes;
    block->waiting += __builtin_popcount(lanes);
    if (block->waiting == block->live) open_barrier(block, me);
    yield_from(block, me);
}
