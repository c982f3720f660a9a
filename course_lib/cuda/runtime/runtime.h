// What the parts of the runtime know of each other. A file calls only files that stand before it:
//
//   memory, faults, stacks            device memory; what has gone wrong; the fibers' stacks
//   address_map, backtraces           which array an address lies in; where a launch is
//   signals, printf                   crashes and cancellation; what the kernel prints
//   clocks, shadow, instructions      what orders accesses, the last accesses to each word, the last of each instruction
//   memcheck, synccheck, initcheck,   the checkers: but for memcheck, which is asked first, each listens to the events of
//   racecheck, counters, trace        events.h. None calls another
//   fibers, scheduler, barriers,      run the threads of one block
//   warp_sync, blocks, threads
//   hooks, ptx_hooks                  what compiled kernels call: they make an event of a memory access
//   residents, workers                run the blocks of a launch
//   program                           what the host code of a whole program calls
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

// One thing that went wrong, and where: a line (of waits) or a program counter (of memory accesses).
struct Fault {
    int kind;
    int line, other_line;
    uint32_t thread, other_thread;  // linear in the block, or NO_THREAD
    const char *file, *other_file;
    void *pc, *other_pc;
    Index block;
    uint64_t count;
    char message[480];
};
constexpr uint32_t NO_THREAD = ~0u;
constexpr int MAX_FAULTS = 64;

struct CodeLocation { void* pc = nullptr; SourceLine line{}; };

// Record a fault once per kind and location; counts repetitions.
void fault(Kind, uint32_t thread, CodeLocation, uint32_t other_thread, CodeLocation other, const char* format, ...)
    __attribute__((format(printf, 6, 7)));
void fault(Kind, CodeLocation, const char* format, ...) __attribute__((format(printf, 3, 4)));  // of the running thread alone
void clear_faults();
bool any_fault();

// ---- stacks (stacks.cpp) --------------------------------------------------------------------------------------------
constexpr size_t STACK_BYTES = 80 << 10;  // a guard page included; whole pages of 4 and of 16 KB
void make_stacks(Block*);
void open_stack_set(Block*, unsigned set);  // make one usable the first time it is needed
char* stack_top(const Block*, unsigned warp, unsigned lane);
bool on_own_stacks(const Block*, const char* address);

// ---- workers, and how one leaves a kernel (signals.cpp) ---------------------------------------------------------------
struct Worker {
    Block block;
    char* stacks = nullptr;
    bool guarded = true;           // whether an overflow of them is noticed
    sigjmp_buf exit;               // leaves the kernel from wherever it is
    volatile int in_kernel = 0;
    volatile int in_runtime = 0;   // do not jump now: a lock or the heap may be in use
    volatile int cancelled = 0;
    int64_t began = 0;             // thread_time() when the launch began
};
inline Worker* worker_of(Block* block) { return reinterpret_cast<Worker*>(block); }
extern volatile int stop_all;      // no further block is begun
void leave_cancelled(Worker*);     // the cancellation arrived while the runtime was at work: leave the kernel now
inline void enter_runtime(Block* block) { worker_of(block)->in_runtime = 1; }
inline void leave_runtime(Block* block) {
    Worker* worker = worker_of(block);
    worker->in_runtime = 0;
    if (__builtin_expect(worker->cancelled, 0)) leave_cancelled(worker);
}

// ---- what the kernel prints (printf.cpp) ------------------------------------------------------------------------------
bool any_text();
void clear_text();

// ---- blocks (threads.cpp) ----------------------------------------------------------------------------------------------
void run_block(Block*, const Launch*, Run, uint64_t number);
[[noreturn]] void abort_thread(Block*);  // the running thread ends here: it would do harm. Called within the runtime

}  // namespace sim
