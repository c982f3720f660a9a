// Shadow memory: the last accesses to each four bytes.
#pragma once
#include "clocks.h"

namespace sim {

// Half a cache line, so that a checked access touches one line of shadow memory.
struct alignas(32) Word {
    uint32_t write_interval, read_interval;
    uint32_t write_pc, read_pc;        // relative to the kernel's library
    uint32_t read_lanes;               // lanes of read_warp that read in that interval
    uint16_t writers;                  // the last one, and the lane that wrote the word's other bytes just before: see below
    uint16_t write_clock, read_clock;  // of the warp
    uint8_t read_warp;
    uint8_t readers;                   // flags: MANY_WARPS, ...
    uint8_t written, write_masks;      // bytes written in this block; bytes of the last write, and of the one before
    uint8_t read_mask;
    uint8_t kind;                      // flags of the last write: ATOMIC, ...
};

// Of readers: there are more than those of `read_warp`; other blocks have read before; each lane read a part of the bytes.
constexpr uint8_t MANY_WARPS = 1, EARLIER_BLOCKS = 2, PARTS = 4;
// Of the last write: it was atomic; its block has written plainly before; other blocks have written before; its block, or it
// itself, was atomic among the threads of the block only.
constexpr uint8_t ATOMIC = 1, PLAIN_BEFORE = 2, OTHERS_BEFORE = 4, OF_BLOCK = 8;

inline unsigned last_writer(const Word& word) { return word.writers & (MAX_THREADS - 1); }
inline unsigned writer_before(const Word& word) { return last_writer(word) / WARP * WARP + word.writers / MAX_THREADS; }
inline uint8_t last_mask(const Word& word) { return word.write_masks & 15; }
inline uint8_t mask_before(const Word& word) { return word.write_masks >> 4; }

// The first interval in which an access to this kind of memory still counts.
inline uint32_t oldest_interval(Space space) { return space == GLOBAL ? launch_interval : block_interval; }

// Call `visit(word, bytes, offset)` for each word that an access touches: a mask of its bytes there, and their offset in the
// array. Ends early when `visit` returns true.
template <class Visit> inline void for_each_word(const Array& array, const Access& access, Visit visit) {
    uint64_t offset = access.address - array.data;
    Word* word = array.shadow + offset / 4;
    for (unsigned done = 0; done < access.bytes; word++) {
        unsigned first = (offset + done) % 4, left = access.bytes - done, count = 4 - first < left ? 4 - first : left;
        if (visit(*word, uint8_t(((1u << count) - 1) << first), offset + done)) return;
        done += count;
    }
}

// The shadow of an array or variable, all zero at first. `storage` is what to free.
Word* shadow_of(void*& storage, size_t bytes);
Word* shared_shadow(size_t first_word);

void record_other_read(Word&, unsigned thread, uint8_t bytes, uint32_t pc);

inline void record_read(Word& word, unsigned thread, uint8_t bytes, uint32_t pc) {
    unsigned warp = thread / WARP;
    uint32_t bit = 1u << thread % WARP;
    uint16_t clock = warp_clocks[warp].now;
    if (word.read_interval != interval) {  // the first of its interval
        bool earlier = word.read_interval < block_interval || word.readers & EARLIER_BLOCKS;
        word.readers = earlier && word.read_interval >= launch_interval ? EARLIER_BLOCKS : 0;
        word.read_interval = interval;
        word.read_pc = pc;
        word.read_lanes = bit;
        word.read_clock = clock;
        word.read_warp = warp;
        word.read_mask = bytes;
    } else if (word.read_warp == warp && word.read_clock == clock && word.read_mask == bytes && word.read_lanes) {
        word.read_lanes |= bit;  // as other lanes of its warp
    } else if (!(word.readers & MANY_WARPS) || word.read_warp == warp || word.read_mask != bytes) {
        record_other_read(word, thread, bytes, pc);
    }
}

inline void record_write(Word& word, unsigned thread, uint8_t bytes, uint32_t pc, bool atomic) {
    bool in_block = word.write_interval >= block_interval, now = word.write_interval == interval;
    uint16_t clock = warp_clocks[thread / WARP].now;
    unsigned last = last_writer(word), kept = last_mask(word) & ~bytes;
    if (now && last == thread) {
        word.write_masks = (word.write_masks | bytes) & ~(bytes << 4);
    } else if (now && kept && last / WARP == thread / WARP && word.write_clock == clock && !atomic && !(word.kind & ATOMIC)) {
        // another lane has just written other bytes of this word
        word.write_masks = bytes | kept << 4;
        word.writers = thread | last % WARP * MAX_THREADS;
    } else {
        word.write_masks = bytes;
        word.writers = thread;
    }
    // The reads before happen before this write, or a race has been reported: a later write need only come after this one.
    if (!atomic && !(word.read_mask & ~bytes)) word.read_interval = 0;
    uint8_t before = word.kind;
    word.kind = atomic ? ATOMIC : 0;
    if (atomic && in_block) word.kind |= before & ATOMIC ? before : PLAIN_BEFORE;
    else if (atomic && word.write_interval >= launch_interval) word.kind |= OTHERS_BEFORE;
    word.written = in_block ? word.written | bytes : bytes;
    word.write_interval = interval;
    word.write_clock = clock;
    word.write_pc = pc;
}

}  // namespace sim
