// How warps touch memory: the notes that each access leaves with its instruction.
//
// The lanes of a warp run one after the other here, so a warp's request is put together afterwards: the k-th time that each
// lane comes to the same instruction since the warp's lanes last met.
#pragma once
#include <algorithm>

#include "checker.h"

namespace sim {

// The accesses of one warp that are still to be put together. Round k holds each lane's k-th offset from the array's start,
// which a GPU aligns to 256 bytes. (Of arrays beyond 4 GB the low 32 bits: enough to tell sectors of one request apart.)
struct Pending {
    uint32_t executed[WARP];    // how often each lane has come by
    uint32_t (*rounds)[WARP];
    uint32_t room;              // rounds that fit; 0: nothing has been noted since the last flush
    uint32_t usual;             // rounds that were needed before
};

// One instruction that loads or stores, in one kind of memory. The first fields are what every access needs.
struct Counter {
    void* pc;
    char* data;                 // the array that it touched last; a counter keeps to one, nearly always
    uint64_t last;              // largest harmless offset into it
    Word* shadow;
    Pending* pending;           // of each warp
    bool poisoned;              // the array came from `empty`
    uint8_t write;
    Space space;
    unsigned bytes;
    uint64_t requests, lanes, sectors, wavefronts;
};

constexpr unsigned QUICK = 8192;
extern Counter* quick[2][QUICK];   // loads and stores, by the last bits of their place in the code; never null

inline Counter*& quick_counter(void* pc, bool write) { return quick[write][reinterpret_cast<uintptr_t>(pc) % QUICK]; }

void make_room(Block*, Counter*, unsigned warp);

inline void note_access(Block* block, Counter* counter, unsigned thread, uint32_t offset) {
    Pending& pending = counter->pending[thread / WARP];
    uint32_t turn = pending.executed[thread % WARP];
    if (__builtin_expect(turn >= pending.room, 0)) {
        make_room(block, counter, thread / WARP);
        if (turn >= pending.room) return;  // too many
    }
    pending.rounds[turn][thread % WARP] = offset;
    pending.executed[thread % WARP] = turn + 1;
}

}  // namespace sim
