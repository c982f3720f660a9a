// The instructions of a kernel that load or store: where each has accessed memory last, and how often (counters.cpp).
#pragma once
#include <vector>

#include "events.h"

namespace sim {

// The accesses of one warp that are still to be put together. Round k holds each lane's k-th offset from the array's start,
// which a GPU aligns to 256 bytes. (Of arrays beyond 4 GB the low 32 bits: enough to tell sectors of one request apart.)
struct Pending {
    uint32_t executed[WARP];    // how often each lane has executed the instruction
    uint32_t (*rounds)[WARP];
    uint32_t capacity;          // rounds that fit; 0: nothing has been recorded since the last flush
    uint32_t usual;             // rounds that were needed before
};

// One instruction, in one kind of memory. The first fields are what every access needs.
struct Instruction {
    void* pc;
    char* data;                 // the array that it accessed last; an instruction keeps to one, nearly always
    uint64_t last;              // the largest offset into it that is within bounds
    Word* shadow;
    Pending* pending;           // of each warp
    bool poisoned;              // the array came from `empty`
    uint8_t write;
    Space space;
    unsigned bytes;
    uint64_t requests, lanes, sectors, wavefronts;
};

// Inline caches: for loads and for stores, by the last bits of their pc; never null.
constexpr unsigned CACHED = 8192;
extern Instruction* cached[2][CACHED];

inline Instruction*& cached_instruction(void* pc, bool write) {
    return cached[write][reinterpret_cast<uintptr_t>(pc) % CACHED];
}

Instruction* find_instruction(void* pc, Space, bool write, unsigned bytes);  // null: there are too many
void cache_instruction(Instruction*, const Array&, unsigned bytes);  // its next access to this array may take the fast path
const std::vector<Instruction*>& all_instructions();
void clear_instructions();

}  // namespace sim
