// Run one block: first as a plain loop over its threads, and from the first thread that must wait on as fibers.
//
// The loop itself runs on a fiber stack. A kernel that never waits is thus a loop that the compiler can vectorise; for
// one that waits, the loop's stack is frozen in the middle and becomes that thread's, and the others get stacks too.
#include "scheduler.h"

extern "C" {
__thread sim::Block* sim_block SIM_TLS = nullptr;
// threadIdx, blockIdx, blockDim and gridDim of kernels that may wait, and whether the plain loop has been left.
__thread sim::Index sim_thread_idx SIM_TLS, sim_block_idx SIM_TLS, sim_block_dim SIM_TLS, sim_grid_dim SIM_TLS;
__thread bool sim_waited SIM_TLS;
}

namespace sim {

void go_to(void* stack_pointer) {
    void* forgotten;
    switch_stack(&forgotten, stack_pointer);
    __builtin_unreachable();
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
        block->stack_pointer[warp * WARP + lane] = new_stack(stack_top(block, warp, lane), thread_main);
    }
    block->runnable[warp] |= lanes;
}

// What the scheduler keeps of each warp. A block whose threads never wait does without.
static void prepare_warps(Block* block) {
    block->mode &= ~PLAIN;
    block->free_stacks = ~0u;
    for (unsigned warp = 0; warp < block->warps; warp++) {
        unsigned left = block->threads - warp * WARP;
        block->full[warp] = block->alive[warp] = left >= WARP ? ~0u : (1u << left) - 1;
        block->runnable[warp] = block->at_barrier[warp] = block->arrived[warp] = block->phase[warp] = 0;
        block->action[warp] = nullptr;
        block->started[warp] = false;
        block->groups[warp] = 0;
    }
}

void become_fibers(Block* block, unsigned thread) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    prepare_warps(block);
    block->free_stacks = ~1u;  // set 0 is the plain loop's
    sim_waited = true;  // tells the plain loop that it has been left
    block->current = thread;
    block->warp = warp;
    block->live = block->threads - thread;
    for (unsigned w = 0; w < warp; w++) block->alive[w] = 0, block->started[w] = true;
    block->alive[warp] &= ~0u << lane;
    // The frozen stack belongs to set 0, lane 0: lanes before `thread` have returned, so that lane's stack is free.
    block->started[warp] = true;
    block->stacks[warp] = 0;
    start_warp(block, warp, block->alive[warp] & ~(1u << lane));
    block->whole = block->full[warp];
    block->values = block->value[0][warp];
    if (block->mode) return;
    block->sweep = OPEN;
    block->last = warp * WARP + 31 - __builtin_clz(block->alive[warp]);
    block->runnable[warp] = 0;
}

void leave_thread(Block* block) {
    unsigned me = block->current, warp = block->warp;
    if (block->sweep == OPEN || block->sweep == LEAVING) {
        if (me != block->last) {
            block->sweep = LEAVING;
            block->current = me + 1;
            go_to(block->stack_pointer[me + 1]);
        }
        block->live -= __builtin_popcount(block->alive[warp]);
        block->alive[warp] = 0;
    } else {
        if (block->mode & CHECKED) check_thread_end(block, me);
        end_sweep(block);
        block->alive[warp] &= ~(1u << (me % WARP));
        block->live--;
    }
    if (!block->alive[warp]) block->free_stacks |= 1u << block->stacks[warp];
    if (block->live == 0) go_to(block->main_stack_pointer);
    if (block->waiting && block->waiting == block->live) open_barrier(block);  // all have come but those that returned
    finish_meetings(block, warp);
    go_to(block->stack_pointer[choose(block)]);
}

// The order of blocks in a shuffled run: a fixed permutation of 0..count-1 (walks a Feistel network until in range).
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

void run_block(Block* block, const Launch* launch, Run run, uint64_t number) {
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
    block->sweep = NO_SWEEP;
    block->current = block->warp = block->waiting = block->barriers = 0;
    block->votes[0] = block->votes[1] = 0;
    block->aborted = false;
    open_stack_set(block, 0);
    if (block->mode & CHECKED) {
        enter_runtime(block);
        check_block_begin(block);
        leave_runtime(block);
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
    if (block->mode & CHECKED) {
        enter_runtime(block);
        check_barrier(block);
        leave_runtime(block);
    }
}

}  // namespace sim
