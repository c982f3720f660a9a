// What the parts of the scheduler know of each other, from the lowest to the highest.
#pragma once
#include "lockstep.h"
#include "runtime.h"

namespace sim {

// warps.cpp
void prepare_warps(Block*);  // a block whose threads never wait does without

// fibers.cpp
void start_warp(Block*, unsigned warp, uint32_t lanes);
void become_fibers(Block*, unsigned thread);  // the plain loop ends here: `thread` is the first that must not go on
[[noreturn]] void go_to(void* stack_pointer);
unsigned give_up(Block*);  // the block is over, though threads of it wait

// scheduler.cpp
unsigned choose(Block*);               // make the next thread the current one; without one that can run, the block is over
void yield_from(Block*, unsigned me);  // run other threads until `me` is chosen again
void yield(Block*, unsigned thread);   // let another thread overtake this one, which could go on (shuffled, checked runs)
void diverge(Block*);                  // the running lane does not do what those before it did: from here on by masks
unsigned arrive(Block*, SourceLine);   // the running thread waits here: its number. The plain loop ends with the first
uint64_t mix(uint64_t);

// barriers.cpp
void open_barrier(Block*, unsigned last);  // all threads have arrived: all become runnable. `last`: NO_THREAD if it returned

// warp_sync.cpp
void release_waiting_lanes(Block*, unsigned warp);  // a lane has returned: the others may have waited for it alone
void leave_group(Block*, unsigned thread);          // it has its values

// blocks.cpp
void begin_block(Block*, const Launch*, Run, uint64_t number);
unsigned end_thread(Block*);                        // the running one has returned; gives the next one, or NO_THREAD

}  // namespace sim
