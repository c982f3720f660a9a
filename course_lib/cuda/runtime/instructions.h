// The instructions of a kernel that load or store: where each has accessed memory last, and how often (counters.cpp).
#pragma once
#include <vector>

#include "events.h"

namespace sim {

// The accesses of one warp that are still to be put together. Round k holds each lane's k-th offset from the array's start,
// which a GPU aligns to 256 bytes. (Of arrays beyond 4 GB the low 32 bits: enough to distinguish the sectors of one request.)
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

// The next access of this instruction to this array may take the fast path.
inline void cache_instruction(Instruction* instruction, const Array& array, unsigned bytes) {
    instruction->data = array.data;
    instruction->last = array.bytes - bytes;
    instruction->shadow = array.shadow;
    instruction->poisoned = array.poisoned;
    cached_instruction(instruction->pc, instruction->write) = instruction;
}

Instruction* find_instruction(void* pc, Space, bool write, unsigned bytes);  // null: there are too many
const std::vector<Instruction*>& all_instructions();
void clear_instructions();

}  // namespace sim
