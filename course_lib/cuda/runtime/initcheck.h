// Initcheck's fast path.
#pragma once
#include <cstring>

#include "memory.h"
#include "shadow.h"

namespace sim {

// How many of the words that an access touches in memory of `empty` hold what is there before anything is written.
inline unsigned poisoned_words(const char* address, unsigned bytes) {
    unsigned found = 0;
    for (const char* at = address - reinterpret_cast<uintptr_t>(address) % 4; at < address + bytes; at += 4) {
        uint32_t word;
        memcpy(&word, at, 4);
        found += word == POISON;
    }
    return found;
}

// Whether this block has written these bytes of shared memory. Global memory has values before the launch, or poison.
inline bool initialised(const Word& word, uint8_t bytes, Space space) {
    return space == GLOBAL || (word.write_interval >= block_interval && (word.written & bytes) == bytes);
}

}  // namespace sim
