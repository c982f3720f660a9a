// The state of one thread block in flight. Shared by the runtime and by every compiled kernel.
//
// A worker (an operating-system thread) runs one block at a time. The threads of the block are fibers: stacks of their
// own that take turns on the worker. The masks below say, warp by warp, who can run and who waits for what.
//
// Most warps move in lockstep: all lanes can run, and each will wait for the same thing, one after the other. Such a sweep
// through a warp needs no masks at all, only the kind of wait: when the last lane has come, the masks are set for all of
// them at once. A lane that does something else ends the sweep, and the masks are kept lane by lane (turns.cpp).
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

constexpr unsigned WARP = 32, MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / WARP, GROUPS = 32;
constexpr unsigned AHEAD = 4;  // so many threads in advance their stacks are brought to the cache

struct Index { unsigned x, y, z; };

struct Launch {
    void** arguments;       // one pointer per parameter of the kernel
    Index grid, block;
    uint64_t shared_bytes;  // dynamic shared memory
    uint64_t seed;          // 0: natural order; else the order of lanes, warps and blocks is shuffled
    uint32_t checked;       // the kernel was compiled with the memory hooks
    uint32_t alone;         // one worker runs all blocks, one after the other
    uint32_t parameters;    // how many there are, and
    const char* const* names;  // the names of those that are pointers; null for others
};

// What a warp does when it meets. ACTION: the last to arrive computes for all.
enum Operation { ACTION, SHUFFLE, VOTE, MATCH, REDUCE, SYNC };

// Where in the learner's text something happened.
struct Site { const char* file; int line; };

// What the last lane to arrive does for all: `values[lane]` is what each lane brought, `members` who came.
using Action = void (*)(uint64_t* values, uint32_t members);

// Lanes that meet in an operation on part of a warp.
struct Group {
    uint32_t mask = 0;     // who was named; 0 with `converge`: whoever comes
    uint32_t arrived = 0;  // who waits
    uint32_t unread = 0;   // who has still to take the values
    uint32_t members = 0;  // who took part
    bool converge = false;
    int operation = 0;
    Site site{};
    Action action = nullptr;
    uint64_t values[WARP + 1];  // and `members`
};

enum : uint32_t { PLAIN = 1, CHECKED = 2, SHUFFLED = 4 };  // no thread has waited yet; reasons to keep masks

// What the lanes before the running one wait for, while its warp is swept through. OPEN: the running lane is the first.
enum Sweep : uint32_t { NO_SWEEP, OPEN, AT_BARRIER, MEETING, LEAVING };

// Runs threads first..last-1 of a block, one after the other; stops early if one of them has waited.
using Run = void (*)(const Launch*, Index block, unsigned first, unsigned last);

struct Block {
    // what every wait touches
    Sweep sweep;
    uint32_t current;                    // the running thread's linear index
    uint32_t last;                       // the last thread of the sweep
    uint32_t whole;                      // all lanes of the running thread's warp
    uint64_t* values;                    // where the lanes of the running thread's warp put what they bring
    uint32_t votes[2];                   // sums of __syncthreads_count, this barrier's and the last one's
    uint32_t barriers;                   // how many barriers have completed
    void* stack_pointer[MAX_THREADS + AHEAD];
    // what happens once per sweep
    uint32_t mode;                       // of PLAIN, CHECKED, SHUFFLED
    uint32_t warp;                       // the running thread's
    uint32_t live;                       // threads that have not returned
    uint32_t waiting;                    // threads at the block's barrier
    uint32_t threads, warps;
    uint32_t runnable[MAX_WARPS];        // lanes that could go on, the running one excepted
    uint32_t at_barrier[MAX_WARPS];
    uint32_t full[MAX_WARPS];            // lanes the warp began with
    uint32_t alive[MAX_WARPS];           // lanes that have not returned
    uint32_t arrived[MAX_WARPS];         // lanes that wait in an operation of the whole warp
    uint32_t phase[MAX_WARPS];           // which of the two value buffers that operation fills
    Action action[MAX_WARPS];
    uint64_t value[2][MAX_WARPS][WARP + 1];  // and who has brought them
    // what only the beginning, the end and the general case need
    void* main_stack_pointer;
    Run run;
    const Launch* launch;
    Index index;                         // blockIdx
    uint64_t linear;                     // its number in the grid
    uint64_t runs;                       // blocks that this worker has run
    uint64_t tries;                      // atomics that changed nothing
    bool started[MAX_WARPS];
    uint8_t stacks[MAX_WARPS];           // which set of 32 stacks a warp has
    uint32_t free_stacks;
    unsigned frozen;                     // the thread whose stack is the plain loop's
    bool aborted;                        // a fault was reported; what follows from it is not
    uint64_t random;
    Index thread_index[MAX_THREADS];     // checked mode's threadIdx
    Site site[MAX_THREADS];              // where each thread waits (checked runs only)
    uint32_t groups[MAX_WARPS];          // which of them are in use
    Group group[MAX_WARPS][GROUPS];
    uint8_t my_group[MAX_THREADS];
};

}  // namespace sim

#if defined(__linux__)
#define SIM_TLS __attribute__((tls_model("initial-exec")))  // one instruction; these few bytes fit the reserve
#else
#define SIM_TLS
#endif
#pragma GCC visibility push(default)
extern "C" {
extern __thread sim::Block* sim_block SIM_TLS;  // the block that this worker runs
// The general forms of waiting: whatever is not the middle of a sweep.
void sim_barrier(const char* file, int line);
const uint64_t* sim_meet(unsigned mask, uint64_t value, int operation, sim::Action, const char* file, int line);
unsigned sim_converge(const char* file, int line);
[[noreturn]] void sim_stop(unsigned thread, const char* message, const char* file, int line);
void sim_fence();
int sim_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
}
#pragma GCC visibility pop
