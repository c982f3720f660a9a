// What the parts of the memory checker share. Checked launches run on one worker, so nothing here needs a lock.
//
// hooks.cpp     what compiled kernels call; passes an access at once if it is surely harmless
// checker.cpp   judges every other access: may this address be touched at all?
// homes.cpp     which array or variable an address lies in
// stops.cpp     where a launch that ends early has been
// shadow.cpp    races and unwritten shared memory
// fences.cpp    what fences and atomics order
// matrices.cpp  what a GPU demands of copies that do not wait and of matrix operations
// counters.cpp  requests, sectors and wavefronts of each instruction
#pragma once
#include <cstdint>

#include "runtime.h"

namespace sim {

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

struct Counter;

// checker.cpp
extern bool watching;             // every access must be judged in full: a shuffled run, a record for pictures, a suspicion
extern uint64_t accesses;
extern void* last_pc;             // of the last access
extern bool padded;               // the file's structs have bytes between their members, which nobody writes
void decide_watching();
void check(char* address, unsigned bytes, bool write, bool atomic, void* pc, bool aligned, bool counted = true);
[[noreturn]] void end_thread(Block*);

// stops.cpp
void stops_launch_begin();

// shadow.cpp
extern uint32_t epoch, block_epoch, launch_epoch;  // epochs grow at barriers and between blocks
void check_words(Block*, const Array&, const Access&);
void settle(Block*);                      // decide about the write whose value had to be awaited
void settle_thread(Block*, unsigned thread);
bool settling();                          // whether there is such a write
void shadow_launch_begin();
Place place_of(uint32_t relative_pc);

// fences.cpp
void note_fence(unsigned thread, bool for_all);  // of all blocks, or of this one
void note_atomic(const Access&, Space, unsigned thread);
bool fences_tell();                              // whether an atomic may order anything
// Whether what an earlier block did then lies before what this one does now; what its thread wrote at that stamp.
bool ordered_by_fence(uint32_t other_epoch);
bool ordered_by_fence(uint32_t other_epoch, unsigned writer, uint16_t stamp);
bool heard_of_others();                          // whether this block has met what any other has released
// Whether what another thread of the block has done lies before what the thread does now; what it wrote at that stamp.
bool knows_of(unsigned thread, unsigned other);
bool knows_of(unsigned thread, unsigned other, uint16_t stamp);
void share_known(unsigned warp, uint32_t lanes);  // at their __syncwarp()
void fences_block_begin();
void fences_launch_begin();

// counters.cpp
Counter* count_request(Block*, Space, const Access&, uint64_t offset);
void flush_warp(unsigned warp);
void flush_all();
void clear_counters();

}  // namespace sim
