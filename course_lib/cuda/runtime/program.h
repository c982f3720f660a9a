// What a whole program asks of the simulator: memory with an owner, errors, launches, and an account of what went wrong.
//
// The inline functions of include/simulator/program/ are CUDA's own names; they call what stands here. Launches run at once and
// to their end, so streams are in order by themselves.
#pragma once
#include "block.h"
#include "in_flight.h"

enum SimMemory { SIM_DEVICE, SIM_MANAGED, SIM_PINNED, SIM_REGISTERED };

// The card whose properties the program sees (cards.py).
struct SimCard {
    char name[64];
    int major, minor, multiprocessors, threads_per_multiprocessor, blocks_per_multiprocessor, registers_per_multiprocessor;
    int clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
    int64_t memory_bytes, shared_per_multiprocessor, shared_per_block;
};

// Where the program asked for something.
struct SimSite {
    const char* file;
    int line;
};

#pragma GCC visibility push(default)
extern "C" {
extern SimCard sim_card;
extern int sim_program_checked;  // the program was compiled with the memory hooks
// A line of the account: what kind, where, and what else, with tabs between.
void sim_program_report(const char* kind, SimSite, const char* format, ...) __attribute__((format(printf, 3, 4)));
// Keep an error for cudaGetLastError, and report it with the sentence. Returns the code.
int sim_program_error(int code, const char* function, SimSite, const char* format, ...) __attribute__((format(printf, 4, 5)));
int sim_program_last_error(int forget);
void sim_program_reset_error();
void* sim_program_allocate(size_t bytes, SimMemory, SimSite);
bool sim_program_free(void*, bool of_host);
bool sim_program_register(void*, size_t bytes, SimSite);
// What an address belongs to: -1 none of the program's; else a SimMemory. `room`: bytes from there to the end.
int sim_program_memory(const void*, size_t* room);
void sim_program_variable(const void*, size_t bytes);  // one of the device whose address the host has asked for
void sim_program_reset(SimSite);
int64_t sim_program_used();
// Run a kernel to its end. `names`: of its parameters, with commas between them. Returns CUDA's code.
int sim_program_launch(const char* kernel, const char* names, sim::Launch*, sim::Run, SimSite, const void* stream);
void sim_program_copy(void* to, const void* from, size_t bytes);  // here, where no hook sees them
void sim_program_fill(void* to, int value, size_t bytes);
void sim_program_allow_shared(int bytes);
// Kernels by their address, for cudaLaunchKernel: what calls them, how many parameters they have, and their names.
struct SimKnown { sim::Run run; unsigned parameters; const char *name, *names; };
void sim_program_know(const void*, SimKnown);
const SimKnown* sim_program_known(const void*);
[[noreturn]] void sim_program_assert(const char* condition, const char* file, int line);
}
#pragma GCC visibility pop
