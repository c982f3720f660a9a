// WebAssembly: runs the blocks of a launch. Each thread is a coroutine (LLVM's llvm.coro.*, made by rewrite.mjs); its frame, in
// an arena that each block uses from the start, holds what lives across a wait. There is one worker and no plain loop.
//
// What ends a thread or a launch in the middle of a kernel is an exception of JavaScript's (sim_throw), after which
// simulate.mjs calls sim_run() again: all state is in memory.
#include <cstdlib>
#include <cstring>

#include "address_map.h"
#include "backtraces.h"
#include "events.h"
#include "memory.h"
#include "scheduler.h"

namespace sim {
enum Ended { THREAD = 1, LAUNCH = 2 };
}

extern "C" {
sim::Block* sim_block;
sim::Index sim_thread_idx, sim_block_idx, sim_block_dim, sim_grid_dim;
bool sim_waited;
[[noreturn]] __attribute__((import_module("env"), import_name("sim_throw"))) void sim_throw(int ended);
__attribute__((import_module("env"), import_name("sim_now"))) double sim_now();  // milliseconds
}

namespace sim {

// The beginning of a coroutine's frame (LLVM's "Coroutines in LLVM"): `resume` is null when it has returned.
struct Frame {
    void (*resume)(Frame*);
    void (*destroy)(Frame*);
};

volatile int stop_all;
static bool over;  // the block is
static char *arena, *arena_top;
static char *kernel_stack_low, *kernel_stack_high;  // the stack that all threads use between two waits
static uint64_t next_block, blocks;
static bool in_block;
static Launch launch;
static Run body;
static double until;
static Worker worker;

void leave_cancelled(Worker*) {}
void become_fibers(Block*, unsigned) {}
unsigned give_up(Block* block) {
    over = true;
    return block->current;
}

bool is_local(const void* address) {
    auto* at = static_cast<const char*>(address);
    return size_t(at - arena) < STACK_BYTES * MAX_THREADS || (at >= kernel_stack_low && at < kernel_stack_high);
}

void start_warp(Block* block, unsigned warp, uint32_t lanes) {
    block->started[warp] = true;
    for (uint32_t left = lanes; left; left &= left - 1)
        block->stack_pointer[warp * WARP + __builtin_ctz(left)] = body(&launch);
    block->runnable[warp] |= lanes;
}

static void end_running_thread(Block* block) {
    if (end_thread(block) == NO_THREAD) over = true;
}

void abort_thread(Block* block) {
    block->aborted = true;
    leave_runtime(block);
    end_running_thread(block);
    sim_throw(THREAD);
}

static void start_block(Block* block, uint64_t number) {
    begin_block(block, &launch, body, number);
    arena_top = arena;
    over = false;
    sim_block_idx = block->index;
    prepare_warps(block);
    memset(block->my_group, GROUPS, sizeof block->my_group);
    block->random = mix(launch.seed + number) | 1;
    block->current = block->warps * WARP;  // so that the first warp's first lane comes next
    choose(block);
}

static void run_threads(Block* block) {
    static unsigned resumed;  // of all blocks: a grid of millions of short ones is to end, too
    const Index size = launch.block;
    while (!over) {
        unsigned me = block->current;
        if (!launch.checked) sim_thread_idx = {me % size.x, me / size.x % size.y, me / (size.x * size.y)};
        auto* thread = static_cast<Frame*>(block->stack_pointer[me]);
        block->waits_at[me] = {};
        thread->resume(thread);
        if (!thread->resume) end_running_thread(block);
        if (++resumed % 4096 == 0 && sim_now() > until) {
            SourceLine at = block->waits_at[me];  // of a wait; a thread that spins is where it last accessed memory
            fault(TIMEOUT, me, at.line ? CodeLocation{nullptr, at} : location_at(nullptr), NO_THREAD, {}, "still running");
            sim_throw(LAUNCH);
        }
    }
}

// There are no return addresses to look for.
CodeLocation location_at(void*) { return {Backtraces::last_pc, {}}; }
void record_backtrace(void*, const char*) {}
void Backtraces::on(const LaunchBegin&) { last_pc = nullptr; }

}  // namespace sim

using namespace sim;

extern "C" {

// Room for the frame of the thread that begins.
void* sim_frame(unsigned bytes) {
    char* frame = arena_top;
    arena_top += (bytes + 31) & ~31u;
    if (arena_top > arena + STACK_BYTES * MAX_THREADS)
        sim_stop(sim_block->current, "stack overflow: the threads of this block use more local memory than there is", nullptr, 0);
    return frame;
}

void sim_launch(void* arguments, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                unsigned shared_bytes, unsigned seed, unsigned checked, Run run, double deadline) {
    if (!arena) {
        arena = reinterpret_cast<char*>(__builtin_wasm_memory_grow(0, STACK_BYTES * MAX_THREADS >> 16) << 16);
        worker.stacks = arena;
        sim_block = &worker.block;
    }
    clear_faults();
    clear_text();
    launch = Launch{static_cast<void**>(arguments), {gx, gy, gz}, {bx, by, bz}, shared_bytes, seed, checked, 1, 0, nullptr};
    body = run;
    next_block = 0;
    blocks = uint64_t(gx) * gy * gz;
    in_block = false;
    stop_all = 0;
    until = deadline;
    sim_block_dim = launch.block;
    sim_grid_dim = launch.grid;
    worker.in_kernel = 1;
    worker.block.launch = &launch;
    if (checked) map_worker(&worker);
}

// Run the launch, or go on with it after an exception that has ended a thread.
void sim_run() {
    Block* block = &worker.block;
    for (; next_block < blocks && !stop_all; next_block++) {
        if (!in_block) {
            in_block = true;
            start_block(block, next_block);
        }
        run_threads(block);
        end_interval(block);
        in_block = false;
    }
    worker.in_kernel = 0;
}

void sim_stop(unsigned thread, const char* message, const char* file, int line) {
    fault(CRASH, thread, {nullptr, {file, line}}, NO_THREAD, {}, "%s", message);
    stop_all = 1;
    sim_throw(LAUNCH);
}
// After sim_throw(LAUNCH): the next sim_run() runs no more blocks.
void sim_end_launch() { stop_all = 1; }
// A trap of WebAssembly's own: an address beyond all memory, a stack without end.
void sim_trapped(const char* message) {
    fault(CRASH, worker.block.current, location_at(nullptr), NO_THREAD, {}, "%s", message);
    stop_all = 1;
}
void sim_fence() {}
long long sim_ticks() { return (long long)(sim_now() * 1e6); }

// Called on each way back to a loop's beginning: looks at the clock now and then.
void sim_pass(void* place) {
    static unsigned passes;
    if (__builtin_expect(++passes % 65536 == 0, 0) && sim_now() > until) {
        fault(TIMEOUT, worker.block.current, {place, {}}, NO_THREAD, {}, "still running");
        sim_throw(LAUNCH);
    }
}

void sim_leave_group() {
    Block* block = sim_block;
    if (block->my_group[block->current] >= GROUPS) return;  // it waited with its whole warp
    leave_group(block, block->current);
    block->my_group[block->current] = GROUPS;
}
unsigned sim_converged() {
    Block* block = sim_block;
    unsigned me = block->current, members = block->group[me / WARP][block->my_group[me]].members;
    sim_leave_group();
    return members;
}

void sim_kernel_stack(char* low, char* high) {
    kernel_stack_low = low;
    kernel_stack_high = high;
}

// A fault, field by field. Places are numbers of rewrite.mjs, less 1; 0 is none.
struct FaultFields {
    int kind, line, other_line;
    uint32_t thread, other_thread, place, other_place, block[3], count;
    const char *message, *file;
};
const Fault* sim_fault(int);
FaultFields* sim_told(int number) {
    static FaultFields told;
    const Fault& f = *sim_fault(number);
    auto place = [](void* pc) { return uint32_t(reinterpret_cast<uintptr_t>(pc)); };
    told = {f.kind, f.line, f.other_line, f.thread, f.other_thread, place(f.pc), place(f.other_pc),
            {f.block.x, f.block.y, f.block.z}, uint32_t(f.count), f.message, f.file};
    return &told;
}
}
