// Where a launch is, or was when it ended early.
#pragma once
#include "runtime.h"

namespace sim {

CodeLocation location_at(void* pc);  // the kernel's own code there, or where it last accessed memory
void record_backtrace(void* pc, const char* stack_pointer);

}  // namespace sim
