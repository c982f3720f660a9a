// WebAssembly: how a kernel waits. The runtime is told everything; then the thread, a coroutine, suspends itself.
//
// All of it is a part of the kernel (language.h: SIM_WAITS), whose frame is the only one that outlives a wait.
#pragma once
#include "block.h"
#include "switch.h"

extern "C" {
void sim_suspend();           // rewrite.mjs makes a point of suspension of each call
void sim_leave_group();       // the running lane has its values
unsigned sim_converged();     // the lanes that came to __activemask() with the running one, which leaves them
}

namespace sim {

static inline void prefetch_stack(const Block*, unsigned) {}
static inline void next_lane(Block* block, unsigned me) { block->current = me + 1; }

__attribute__((always_inline)) static inline void barrier(const char* file, int line) {
    sim_barrier(file, line);
    sim_suspend();
}

__attribute__((always_inline)) static inline const uint64_t* warp_sync(unsigned mask, uint64_t value, Operation operation,
                                                                       Action action, const char* file, int line) {
    const uint64_t* values = sim_warp_sync(mask, value, operation, action, file, line);
    sim_suspend();
    sim_leave_group();
    return values;
}

__attribute__((always_inline)) static inline unsigned converge(const char* file, int line) {
    sim_converge(file, line);
    sim_suspend();
    return sim_converged();
}

__attribute__((always_inline)) static inline void may_spin() {
    sim_may_spin();
    sim_suspend();
}

}  // namespace sim
