// What the parts of the runtime know of each other.
#pragma once
#include <csetjmp>
#include <cstdarg>

#include "block.h"

namespace sim {

// ---- faults (faults.cpp) --------------------------------------------------------------------------------------------
enum Kind {
    OUT_OF_BOUNDS, MISALIGNED, NULL_POINTER, HOST_POINTER, UNINITIALISED, RACE, DIVERGENT_BARRIER, MISSED_BARRIER,
    MISSING_LANES, DIVISION_BY_ZERO, TIMEOUT, CRASH
};

// One thing that went wrong. A place is a Site (waits) or a program counter (memory accesses).
struct Fault {
    int kind;
    int line, other_line;
    uint32_t thread, other_thread;  // linear in the block; NOBODY if unknown
    const char *file, *other_file;
    void *pc, *other_pc;
    Index block;
    uint64_t count;
    char message[480];
};
constexpr uint32_t NOBODY = ~0u;
constexpr int MAX_FAULTS = 64;

struct Place { void* pc = nullptr; Site site{}; };

// Record a fault once per kind and place; counts repetitions. Returns false if it was known.
bool fault(Kind, uint32_t thread, Place, uint32_t other_thread, Place other, const char* format, ...)
    __attribute__((format(printf, 6, 7)));
void clear_faults();
bool any_fault();
bool any_text();  // printed
void clear_text();

// ---- scheduling (threads.cpp, turns.cpp) -----------------------------------------------------------------------------------
void run_block(Block*, const Launch*, Run, uint64_t number);
void become_fibers(Block*, unsigned thread);  // the plain loop ends here: `thread` is the first that must not go on
[[noreturn]] void leave_thread(Block*);       // the running thread is over
void yield(Block*, unsigned thread);          // let another thread go first (shuffled, checked runs)

// ---- stacks (stacks.cpp) --------------------------------------------------------------------------------------------
constexpr size_t STACK_BYTES = 80 << 10;  // a guard page included; whole pages of 4 and of 16 KB
void make_stacks(Block*);
void open_stack_set(Block*, unsigned set);  // make one usable the first time it is needed
char* stack_top(const Block*, unsigned warp, unsigned lane);
bool on_own_stacks(const Block*, const char* address);

// ---- workers (workers.cpp) ------------------------------------------------------------------------------------------
struct Worker {
    Block block;
    char* stacks = nullptr;
    sigjmp_buf way_out;            // leave the kernel from wherever it is
    volatile int in_kernel = 0;
    volatile int in_runtime = 0;   // do not jump now: a lock or the heap may be in use
    volatile int cancelled = 0;
    int64_t began = 0;             // thread_time() when the launch began
};
Worker* worker_of(Block*);
extern volatile int stop_all;      // no further block is begun
void leave_cancelled(Worker*);      // the cancellation came while the runtime was at work: take the way out now
inline void enter_runtime(Block* block) { reinterpret_cast<Worker*>(block)->in_runtime = 1; }
inline void leave_runtime(Block* block) {
    auto* worker = reinterpret_cast<Worker*>(block);
    worker->in_runtime = 0;
    if (__builtin_expect(worker->cancelled, 0)) leave_cancelled(worker);
}

// ---- the memory checker (checker.cpp): called at the points that order accesses ---------------------------------------
void check_block_begin(Block*);
void check_barrier(Block*);
void trace_barrier(Block*, int line);
void trace_warp_sync(Block*, unsigned warp, uint32_t lanes, int line);
void check_warp_sync(Block*, unsigned warp, uint32_t lanes);
extern bool returns_early;  // the kernel has a `return` of its own: lanes that are gone may have taken it
void check_warp_flush(Block*, unsigned warp);
void check_thread_end(Block*, unsigned thread);
void check_fence(Block*, bool for_all);  // of all blocks, or of this one
void check_worker_begin();
Place check_place(void* pc);    // the kernel's own code at or before an interruption
void check_stop(void* pc, const char* stack_pointer);  // remember where a launch was stopped

}  // namespace sim
