// Where an address lies: on a thread's own stack, in which array, in which variable of the kernel's file.
#pragma once
#include "checker.h"
#include "memory.h"

namespace sim {

// One `__shared__` array of the kernel's file; its place is that of this worker's copy.
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
    void* notes;    // the shadow
};

enum Memory { IN_GLOBAL, IN_SHARED, IN_LOCAL, NOWHERE };
struct Home {
    Memory memory;
    const char *name, *start;
};

extern char *library_base, *library_end;  // the kernel's library
extern char* stacks_low;                  // the worker's stacks

inline bool is_local(const void* address) {
    return uint64_t(static_cast<const char*>(address) - stacks_low) < STACK_BYTES * MAX_THREADS;
}
inline bool in_library(const void* address) { return address >= library_base && address < library_end; }
bool is_shared(const char* address);
bool holds_structures(const char* name);  // whose copies need not lie as a float4 must
bool shares_memory();  // whether the kernel's file has any __shared__ array
Home home_of(const char* address);

// The array that an address of shared memory is meant for, the nearest; null if it is the compiler's own, or there is none.
SharedArray* shared_array_at(char* address);
// The variable that begins last before an address of the library, and the one behind it. Null: neither, but a literal.
struct Neighbours { Variable *here, *next; };
Neighbours variables_at(char* address);

// Give each shared array its part of one shadow; the words that are needed.
size_t share_out_shadow(uint64_t dynamic_bytes);

}  // namespace sim
