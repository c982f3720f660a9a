// The blocks of a cooperative launch: all of them in flight at once, so that grid.sync() can wait for the whole grid.
#pragma once
#include "runtime.h"

namespace sim {

constexpr uint64_t MOST_RESIDENT = 1024;  // blocks; a GPU has room for as many as its multiprocessors hold

void begin_residents(uint64_t blocks, bool one_at_a_time);
bool enter_resident(Block*, uint64_t number);  // waits until this worker may run that block. False: the launch is over
void leave_resident(uint64_t number);          // the block has ended, however it did

}  // namespace sim
