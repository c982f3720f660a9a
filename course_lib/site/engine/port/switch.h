// WebAssembly: there is no stack to switch. A thread that waits has told the scheduler who goes next; the sim_suspend() that
// follows in the kernel (lockstep.h) returns to the loop of threads.cpp, which resumes that one.
#pragma once
#include <cstdint>
#include <cstring>

namespace sim {

__attribute__((always_inline)) static inline void switch_stack(void**, void*) {}

}  // namespace sim
