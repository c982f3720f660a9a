// Racecheck's fast path: the plain cases of judging one more access.
#pragma once
#include "shadow.h"

namespace sim {

// An atomic may order threads, after a fence, or clear a suspected race: each must become an event.
extern bool watch_atomics;

// Whether what the lane `writer` wrote last happens before what `thread` does, by program order or by way of __syncwarp().
inline bool in_order(const Word& word, unsigned writer, unsigned thread) {
    return writer == thread ||
           (writer / WARP == thread / WARP && warp_ordered(thread / WARP, writer % WARP, word.write_clock, thread % WARP));
}

// Whether the last writes cannot race with an access now. Those before `oldest` do not count.
inline bool after_writes(const Word& word, unsigned thread, uint8_t bytes, uint32_t oldest) {
    uint8_t last = last_mask(word) & bytes, before = mask_before(word) & bytes;
    if (word.write_interval == interval)
        return (!last || in_order(word, last_writer(word), thread)) && (!before || in_order(word, writer_before(word), thread));
    return word.write_interval < oldest || word.write_interval >= block_interval || !(last | before);
}

// Nor can the last reads race with a write now.
inline bool after_reads(const Word& word, unsigned thread, uint8_t bytes, uint32_t oldest) {
    if (!(word.read_mask & bytes)) return true;
    if (word.readers & EARLIER_BLOCKS && oldest < block_interval && word.read_interval >= oldest) return false;
    if (word.read_interval == interval)
        return !(word.readers & MANY_WARPS) && word.read_warp == thread / WARP && !(word.read_lanes & ~(1u << thread % WARP));
    return word.read_interval < oldest || word.read_interval >= block_interval;
}

// Atomics after plain writes of other blocks, or plain accesses after atomics of other blocks.
inline bool mixed_over_blocks(const Word& word, bool atomic, uint32_t oldest) {
    if (oldest == block_interval || word.write_interval < oldest) return false;
    return atomic ? word.kind & PLAIN_BEFORE && word.write_interval < block_interval
                  : word.kind & OTHERS_BEFORE && word.write_interval >= block_interval;
}

inline bool race_free(const Word& word, unsigned thread, uint8_t bytes, Space space, bool write, bool atomic) {
    uint32_t oldest = oldest_interval(space);
    if (!(atomic && word.kind & ATOMIC) && !after_writes(word, thread, bytes, oldest)) return false;
    if (word.kind > ATOMIC && mixed_over_blocks(word, atomic, oldest)) return false;
    if (atomic && word.read_interval == interval && (word.read_mask & bytes)) return false;  // its readers are suspected
    return !write || after_reads(word, thread, bytes, oldest);
}

}  // namespace sim
