// Which memory an address lies in: a thread's own stack, an array, a variable of the kernel's file.
#pragma once
#include "memory.h"
#include "runtime.h"

namespace sim {

// One `__shared__` array of the kernel's file; its address is that of this worker's copy.
struct SharedArray {
    char* data;
    size_t bytes;
    char name[64];      // empty: the compiler's own
    bool dynamic;
    size_t first_word;  // of its shadow
};

// A variable at file scope or a static one.
struct Variable {
    char* data;
    size_t bytes;
    char name[64];  // empty: the compiler's own
    bool constant;
    void* shadow;
};

enum Memory { IN_GLOBAL, IN_SHARED, IN_LOCAL, UNMAPPED };
struct Region {
    Memory memory;
    const char *name, *start;
};

extern char *library_base, *library_end;  // the kernel's library
extern char* stacks_low;                  // the worker's stacks

#if defined(__wasm__)
bool is_local(const void* address);  // there the stack that threads share is another than the frames that last
#else
inline bool is_local(const void* address) {
    return uint64_t(static_cast<const char*>(address) - stacks_low) < STACK_BYTES * MAX_THREADS;
}
#endif
inline bool in_library(const void* address) { return address >= library_base && address < library_end; }
inline uint32_t library_offset(const void* pc) { return static_cast<const char*>(pc) - library_base; }
bool is_shared(const char* address);
bool holds_structures(const char* name);  // whose copies need not lie as a float4 must
bool has_shared_arrays();  // whether the kernel's file has any __shared__ array
Region region_of(const char* address);

// The array that an address of shared memory lies in, or the nearest; null if it is the compiler's own, or there is none.
SharedArray* shared_array_at(char* address);
// The variable that begins last before an address of the library, and the one behind it. Null: neither, but a literal.
struct AdjacentVariables { Variable *here, *next; };
AdjacentVariables variables_at(char* address);

// Give each shared array its part of one shadow. Returns the words that are needed.
size_t lay_out_shared_shadow(uint64_t dynamic_bytes);

void map_worker(const Worker*);  // the stacks and the shared arrays of the worker that runs now

}  // namespace sim
