// The state of one thread block in flight. Shared by the runtime and by every compiled kernel.
//
// A worker (an operating-system thread) runs one block at a time. The threads of the block are fibers: each has a stack, and
// one of them runs at a time. The masks below say, warp by warp, which lanes can run and what the others wait for.
//
// Most warps move in lockstep: all lanes can run, and each will wait for the same thing, one after the other. A pass over such
// a warp needs no masks, only the kind of wait: when the last lane has arrived, the masks are set for all lanes at once. A
// lane that does something else makes the warp diverge, and its masks are kept lane by lane (scheduler.cpp).
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

constexpr unsigned WARP = 32, MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / WARP, GROUPS = 32;
constexpr unsigned AHEAD = 4;  // how many threads in advance a stack is prefetched

struct Index { unsigned x, y, z; };

struct Launch {
    void** arguments;       // one pointer per parameter of the kernel
    Index grid, block;
    uint64_t shared_bytes;  // dynamic shared memory
    uint64_t seed;          // 0: natural order; else lanes, warps and blocks run in a shuffled order
    uint32_t checked;       // the kernel was compiled with the memory hooks
    uint32_t alone;         // one worker runs all blocks, one after the other
    uint32_t parameters;    // how many there are, and
    const char* const* names;  // the names of those that are pointers; null for others
    uint32_t resident;      // all blocks are in flight at once: the kernel may wait for its whole grid
};

// What the lanes of a warp synchronise for.
enum Operation { MATRIX, SHUFFLE, VOTE, MATCH, REDUCE, SYNC };

// A line of the learner's text.
struct SourceLine { const char* file; int line; };

// What the last lane to arrive computes for all: `values[lane]` is the operand of each lane, `members` the lanes that arrived.
using Action = void (*)(uint64_t* values, uint32_t members);

// Lanes that synchronise in an operation on part of a warp.
struct Group {
    uint32_t mask = 0;     // lanes that the mask names; 0 with `converge`: any lane
    uint32_t arrived = 0;  // lanes that wait
    uint32_t unread = 0;   // lanes that have still to read the values
    uint32_t members = 0;  // lanes that took part
    bool converge = false;
    int operation = 0;
    SourceLine line{};
    Action action = nullptr;
    uint64_t values[WARP + 1];  // and `members`
};

enum : uint32_t { PLAIN = 1, CHECKED = 2, SHUFFLED = 4 };  // no thread has waited yet; reasons to keep masks

// What the lanes before the running one wait for, while its warp moves in lockstep. FIRST_LANE: no lane is before it.
enum Lockstep : uint32_t { DIVERGED, FIRST_LANE, AT_BARRIER, AT_WARP_SYNC, RETURNING };

#if defined(__wasm__)
using Run = void* (*)(const Launch*);  // begins the current thread, a coroutine (course_lib/site/engine/port)
#else
// Runs threads first..last-1 of a block, one after the other; stops early if one of them has waited.
using Run = void (*)(const Launch*, Index block, unsigned first, unsigned last);
#endif

struct Block {
    // what every wait touches
    Lockstep lockstep;
    uint32_t current;                    // the running thread's linear index
    uint32_t last;                       // the last thread of the warp in lockstep
    uint32_t full_mask;                  // all lanes of the running thread's warp
    uint64_t* values;                    // the operands of the running thread's warp
    uint32_t votes[2];                   // sums of __syncthreads_count, this barrier's and the last one's
    uint32_t barriers;                   // how many barriers have completed
    uint32_t grid_synced;                // the one of them behind which the block has waited for the grid
    void* stack_pointer[MAX_THREADS + AHEAD];
    // what is needed once per pass over a warp
    uint32_t mode;                       // of PLAIN, CHECKED, SHUFFLED
    uint32_t warp;                       // the running thread's
    uint32_t live;                       // threads that have not returned
    uint32_t waiting;                    // threads at the block's barrier
    uint32_t threads, warps;
    uint32_t runnable[MAX_WARPS];        // lanes that can run, the running one excepted
    uint32_t at_barrier[MAX_WARPS];
    uint32_t full[MAX_WARPS];            // lanes the warp began with
    uint32_t alive[MAX_WARPS];           // lanes that have not returned
    uint32_t arrived[MAX_WARPS];         // lanes that wait in an operation of the whole warp
    uint32_t phase[MAX_WARPS];           // which of the two value buffers that operation fills
    Action action[MAX_WARPS];
    uint64_t value[2][MAX_WARPS][WARP + 1];  // and the lanes that have arrived
    // what only the beginning, the end and the general case need
    void* main_stack_pointer;
    Run run;
    void (*thread_main)();               // the first function on a thread's own stack
    const Launch* launch;
    Index index;                         // blockIdx
    uint64_t linear;                     // its number in the grid
    uint64_t runs;                       // blocks that this worker has run
    uint64_t idle_atomics;               // atomics that changed nothing
    bool started[MAX_WARPS];
    uint8_t stacks[MAX_WARPS];           // which set of 32 stacks a warp has
    uint32_t free_stacks;
    bool aborted;                        // a fault was reported; what follows from it is not
    uint64_t random;
    Index thread_index[MAX_THREADS];     // checked mode's threadIdx
    SourceLine waits_at[MAX_THREADS];    // of each thread (checked runs only)
    uint32_t groups[MAX_WARPS];          // which of them are in use
    Group group[MAX_WARPS][GROUPS];
    uint8_t my_group[MAX_THREADS];
};

}  // namespace sim

#if defined(__wasm__)  // one worker, and so one copy
#define SIM_PER_WORKER
#else
#define SIM_PER_WORKER __thread
#endif
#if defined(__linux__)
#define SIM_TLS __attribute__((tls_model("initial-exec")))  // one instruction; these few bytes fit the reserve
#else
#define SIM_TLS
#endif
#pragma GCC visibility push(default)
extern "C" {
extern SIM_PER_WORKER sim::Block* sim_block SIM_TLS;  // the block that this worker runs
// The general forms of waiting: all but the lanes in the middle of a warp in lockstep.
void sim_barrier(const char* file, int line);
const uint64_t* sim_warp_sync(unsigned mask, uint64_t value, int operation, sim::Action, const char* file, int line);
unsigned sim_converge(const char* file, int line);
void sim_may_spin();
[[noreturn]] void sim_stop(unsigned thread, const char* message, const char* file, int line);
void sim_fence();
void sim_grid_sync(const char* file, int line);
int sim_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
}
#pragma GCC visibility pop
