// What the parts of the scheduler know of each other: threads.cpp, turns.cpp, waits.cpp, meetings.cpp.
#pragma once
#include "runtime.h"
#include "turns.h"

namespace sim {

// threads.cpp
void start_warp(Block*, unsigned warp, uint32_t lanes);
[[noreturn]] void go_to(void* stack_pointer);

// turns.cpp
unsigned choose(Block*);               // who goes next: made the current thread; if nobody can go on, the block is over
void give_turn(Block*, unsigned me);   // let somebody else go on, or `me` if nobody else can
void end_sweep(Block*);                // the running lane will not do as those before it: from here on by masks
uint64_t mix(uint64_t);

// waits.cpp
unsigned arrive(Block*, Site);         // who comes to a wait here; the plain loop ends with the first
void open_barrier(Block*);             // everybody has come: all become runnable
void complete(Block*, unsigned warp);  // all lanes of a warp have met: they become runnable

// meetings.cpp
extern const char* const OPERATIONS[];
const uint64_t* meet_part(Block*, unsigned me, uint32_t mask, uint64_t value, int operation, Action, Site);
void finish_meetings(Block*, unsigned warp);     // a lane has left: others may have waited for nobody else
bool finish_convergence(Block*, unsigned warp);  // everybody who could come has come
inline bool sweeping(const Block* block) { return block->sweep != NO_SWEEP; }

}  // namespace sim
