// How a block begins, and how a thread of it ends. threads.cpp runs what lies in between.
#include "events.h"
#include "scheduler.h"

namespace sim {

unsigned end_thread(Block* block) {
    unsigned me = block->current, warp = block->warp;
    if (block->lockstep == FIRST_LANE || block->lockstep == RETURNING) {
        if (me != block->last) {
            block->lockstep = RETURNING;
            return block->current = me + 1;
        }
        block->live -= __builtin_popcount(block->alive[warp]);
        block->alive[warp] = 0;
    } else {
        emit(ThreadEnd{block, me});
        diverge(block);
        block->alive[warp] &= ~(1u << (me % WARP));
        block->live--;
    }
    if (!block->alive[warp]) block->free_stacks |= 1u << block->stacks[warp];
    if (block->live == 0) return NO_THREAD;
    if (block->waiting && block->waiting == block->live) open_barrier(block, NO_THREAD);
    release_waiting_lanes(block, warp);
    return choose(block);
}

// The order of blocks in a shuffled run: a permutation of 0..count-1 (a Feistel network, applied until in range).
static uint64_t shuffled(uint64_t number, uint64_t count, uint64_t seed) {
    unsigned half = 1;
    while ((1ull << (2 * half)) < count) half++;
    uint64_t low = (1ull << half) - 1;
    do {
        uint64_t left = number >> half, right = number & low;
        for (int round = 0; round < 3; round++) {
            uint64_t next = left ^ (mix(right + seed * 3 + round) & low);
            left = right;
            right = next;
        }
        number = left << half | right;
    } while (number >= count);
    return number;
}

// The checked build's threadIdx of each thread; kept from block to block.
static void index_threads(Block* block) {
    static const Block* indexed;
    static Index size;
    const Index now = block->launch->block;
    if (indexed == block && size.x == now.x && size.y == now.y && size.z == now.z) return;
    for (unsigned t = 0; t < block->threads; t++)
        block->thread_index[t] = {t % now.x, t / now.x % now.y, t / (now.x * now.y)};
    indexed = block;
    size = now;
}

void begin_block(Block* block, const Launch* launch, Run run, uint64_t number) {
    const Index grid = launch->grid, size = launch->block;
    if (launch->seed) number = shuffled(number, uint64_t(grid.x) * grid.y * grid.z, launch->seed);
    block->run = run;
    block->launch = launch;
    block->linear = number;
    block->runs++;
    if (number < grid.x) block->index = {unsigned(number), 0, 0};
    else block->index = {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
    block->threads = block->live = size.x * size.y * size.z;
    block->warps = (block->threads + WARP - 1) / WARP;
    block->mode = PLAIN | (launch->checked ? CHECKED : 0) | (launch->seed ? SHUFFLED : 0);
    block->lockstep = DIVERGED;
    block->current = block->warp = block->waiting = block->barriers = block->grid_synced = 0;
    block->votes[0] = block->votes[1] = 0;
    block->aborted = false;
    if (block->mode & CHECKED) {
        index_threads(block);
        emit(BlockBegin{block});
        choose_path(block);
    }
}

}  // namespace sim
