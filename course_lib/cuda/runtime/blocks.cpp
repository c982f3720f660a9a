// Run one block: first as a plain loop over its threads, and from the first thread that must wait on as fibers.
//
// A kernel that never waits is thus a loop that the compiler can vectorise (fibers.cpp).
#include "events.h"
#include "scheduler.h"

namespace sim {

// The running thread is over.
[[noreturn]] static void leave_thread(Block* block) {
    unsigned me = block->current, warp = block->warp;
    if (block->lockstep == FIRST_LANE || block->lockstep == RETURNING) {
        if (me != block->last) {
            block->lockstep = RETURNING;
            block->current = me + 1;
            go_to(block->stack_pointer[me + 1]);
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
    if (block->live == 0) go_to(block->main_stack_pointer);
    if (block->waiting && block->waiting == block->live) open_barrier(block, NO_THREAD);
    release_waiting_lanes(block, warp);
    go_to(block->stack_pointer[choose(block)]);
}

void abort_thread(Block* block) {
    block->aborted = true;
    if (block->mode & PLAIN) become_fibers(block, block->current);
    leave_runtime(block);
    leave_thread(block);
}

// The first function on every fiber but the plain loop's.
static void thread_main() {
    volatile char keep_clear[64];  // start_warp writes here while the last thread on this stack is leaving it
    keep_clear[0] = 0;
    Block* block = sim_block;
    block->run(block->launch, block->index, block->current, block->current + 1);
    leave_thread(block);
}

static void plain_main() {
    volatile char keep_clear[64];
    keep_clear[0] = 0;
    Block* block = sim_block;
    block->run(block->launch, block->index, 0, block->threads);
    if (block->mode & PLAIN) go_to(block->main_stack_pointer);
    leave_thread(block);
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

void run_block(Block* block, const Launch* launch, Run run, uint64_t number) {
    const Index grid = launch->grid, size = launch->block;
    if (launch->seed) number = shuffled(number, uint64_t(grid.x) * grid.y * grid.z, launch->seed);
    block->run = run;
    block->thread_main = thread_main;
    block->launch = launch;
    block->linear = number;
    block->runs++;
    if (number < grid.x) block->index = {unsigned(number), 0, 0};
    else block->index = {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
    block->threads = block->live = size.x * size.y * size.z;
    block->warps = (block->threads + WARP - 1) / WARP;
    block->mode = PLAIN | (launch->checked ? CHECKED : 0) | (launch->seed ? SHUFFLED : 0);
    block->lockstep = DIVERGED;
    block->current = block->warp = block->waiting = block->barriers = 0;
    block->votes[0] = block->votes[1] = 0;
    block->aborted = false;
    open_stack_set(block, 0);
    if (block->mode & CHECKED) {
        index_threads(block);
        emit(BlockBegin{block});
        choose_path(block);
    }
    block->stacks[0] = 0;
    if (launch->seed) {  // no plain loop: any thread may be the first
        prepare_warps(block);
        block->random = mix(launch->seed + number) | 1;
        unsigned first = choose(block);
        switch_stack(&block->main_stack_pointer, block->stack_pointer[first]);
    } else {
        switch_stack(&block->main_stack_pointer, new_stack(stack_top(block, 0, 0), plain_main));
    }
    end_interval(block);
}

}  // namespace sim
