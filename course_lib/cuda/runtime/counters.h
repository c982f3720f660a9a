// Counters' fast path: how warps touch memory.
//
// The lanes of a warp run one after the other here, so a warp's request is put together afterwards: the k-th time that each
// lane executes the same instruction since the warp's lanes last synchronised.
#pragma once
#include "instructions.h"

namespace sim {

void grow(Block*, Instruction*, unsigned warp);  // make room for more pending accesses, if there may be more

inline void count_access(Block* block, Instruction* instruction, unsigned thread, uint32_t offset) {
    Pending& pending = instruction->pending[thread / WARP];
    uint32_t round = pending.executed[thread % WARP];
    if (__builtin_expect(round >= pending.capacity, 0)) {
        grow(block, instruction, thread / WARP);
        if (round >= pending.capacity) return;  // too many
    }
    pending.rounds[round][thread % WARP] = offset;
    pending.executed[thread % WARP] = round + 1;
}

}  // namespace sim
