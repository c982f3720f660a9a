// Run one block: first as a plain loop over its threads, and from the first thread that must wait on as fibers.
//
// A kernel that never waits is thus a loop that the compiler can vectorise (fibers.cpp).
#include "events.h"
#include "scheduler.h"

namespace sim {

// The running thread is over.
[[noreturn]] static void leave_thread(Block* block) {
    unsigned next = end_thread(block);
    go_to(next == NO_THREAD ? block->main_stack_pointer : block->stack_pointer[next]);
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

void run_block(Block* block, const Launch* launch, Run run, uint64_t number) {
    open_stack_set(block, 0);
    block->thread_main = thread_main;
    begin_block(block, launch, run, number);
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
