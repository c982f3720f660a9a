// What the host has started and not waited for: kernels, and copies of pinned memory.
//
// Everything has in truth ended when the call returns. But a GPU may still be at it until the host waits, and memory that both
// can reach (managed, pinned) may change under the host's hands. Here is remembered what a checked program has not waited for.
// In doubt, the host has waited: a copy, an event, the default stream and cudaFree count as a wait for everything.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

// A launch, with the barrier intervals that it had (clocks.h): shadow memory says what it read and wrote.
void launched(const char* kernel, const void* stream, uint32_t first, uint32_t last);

// What may still be at this byte of an array: a kernel's name, "cudaMemcpyAsync", or null. writes: the host writes the byte.
struct Slot;
const char* in_flight(const Slot&, const char* address, bool writes);

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {
// A copy from or to pinned memory. into: it writes there.
void sim_program_copying(const void* stream, const void* pinned, size_t bytes, bool into);
// The host waits for a stream; null: for everything.
void sim_program_wait(const void* stream);
// A stream waits for an event of another: a wait for one stream may then be a wait for all.
void sim_program_join();
}
#pragma GCC visibility pop
