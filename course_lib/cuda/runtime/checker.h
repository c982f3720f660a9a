// What the parts of the memory checker share. Checked launches run on one worker, so nothing here needs a lock.
//
// hooks.cpp     what compiled kernels call; passes an access at once if it is surely harmless
// checker.cpp   judges every other access: may this address be touched at all?
// shadow.cpp    races and unwritten shared memory
// counters.cpp  requests, sectors and wavefronts of each instruction
#pragma once
#include <cstdint>

#include "runtime.h"

namespace sim {

// One `__shared__` array of the kernel's file; its place is that of this worker's copy.
struct SharedArray {
    char* data;
    size_t bytes;
    char name[64];
    bool dynamic;
    size_t first_word;  // of its shadow
};

enum Space { GLOBAL, SHARED };

struct Word;

// The memory that an access lies in.
struct Array {
    Space space;
    const char* name;
    char* data;
    size_t bytes;
    Word* shadow;
    bool poisoned;  // came from `empty`
    bool variable;  // a `__device__` variable
};

struct Access {
    char* address;
    unsigned bytes;
    bool write, atomic;
    void* pc;
    bool counted = true;  // a request of its own
};

// Where an address points: into which array, if that is known.
enum Memory { IN_GLOBAL, IN_SHARED, IN_LOCAL, NOWHERE };
struct Home {
    Memory memory;
    const char *name, *start;
};

struct Counter;

// checker.cpp
extern char* library_base;
extern char* stacks_low;          // of the worker: where local variables lie
extern bool watching;             // every access must be judged in full: a shuffled run, a record for pictures, a suspicion
extern uint64_t accesses;
extern void* last_pc;             // of the last access
void decide_watching();
void check(char* address, unsigned bytes, bool write, bool atomic, void* pc, bool aligned, bool counted = true);
Home home_of(const char* address);
[[noreturn]] void end_thread(Block*);

// shadow.cpp
extern uint32_t epoch, block_epoch, launch_epoch;  // epochs grow at barriers and between blocks
void check_words(Block*, const Array&, const Access&);
void note_atomic(const Access&);          // on global memory: may order blocks
void settle(Block*);                      // decide about the write whose value had to be awaited
void settle_thread(Block*, unsigned thread);
bool settling();                          // whether there is such a write
void shadow_launch_begin();
Place place_of(uint32_t relative_pc);

// counters.cpp
Counter* count_request(Block*, Space, const Access&, uint64_t offset);
void flush_warp(unsigned warp);
void flush_all();
void clear_counters();

}  // namespace sim
