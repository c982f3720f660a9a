// What the hooks of loads and stores share with those of copies and matrix operations.
#pragma once
#include "events.h"

// Where a hook was called from. WebAssembly has no return addresses: there each call has the number of its call site behind its
// other arguments (course_lib/site/engine/rewrite.mjs).
#if defined(__wasm__)
#define SIM_SITE , void* site
#define SIM_CALLER site
#else
#define SIM_SITE
#define SIM_CALLER __builtin_return_address(0)
#endif

namespace sim {

// Judge an access, and end its thread if it would do harm. aligned: whether it must be a multiple of its size; counted: whether
// it is a request of its own.
void access_event(char* address, unsigned bytes, bool write, bool atomic, void* pc, bool aligned, bool counted = true,
                  bool of_block = false);

// The host's own code, compiled with the same hooks, reads or writes an address (program.cpp).
void host_access(const char* address, bool write, void* pc);

// Record a fault and end the running thread.
[[noreturn]] void report_and_abort(Kind, CodeLocation, const char* format, ...) __attribute__((format(printf, 3, 4)));

}  // namespace sim
