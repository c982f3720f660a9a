// What is known of the last accesses to each four bytes of memory, and the plain cases of judging one more access.
#pragma once
#include "checker.h"

namespace sim {

// Half a cache line, so that a checked access touches one line of notes.
struct alignas(32) Word {
    uint32_t write_epoch, read_epoch;  // when
    uint32_t write_pc, read_pc;        // from where, relative to the kernel's library
    uint32_t read_lanes;               // who read in that epoch, within read_warp
    uint16_t writers;                  // the last one, and the lane that wrote the word's other bytes just before: see below
    uint16_t write_stamp, read_stamp;  // stamps count a warp's __syncwarp()s
    uint8_t read_warp;
    uint8_t readers;                   // flags: MANY_WARPS, ...
    uint8_t written, write_masks;      // bytes written in this block; bytes of the last write, and of the one before
    uint8_t read_mask;
    uint8_t kind;                      // flags of the last write: ATOMIC, ...
};

// Of readers: there are more than those of `read_warp`; other blocks have read before; each lane read a part of the bytes.
constexpr uint8_t MANY_WARPS = 1, EARLIER_BLOCKS = 2, PARTS = 4;
// Of the last write: it was atomic; its block has written plainly before; other blocks have written before.
constexpr uint8_t ATOMIC = 1, PLAIN_BEFORE = 2, OTHERS_BEFORE = 4;

inline unsigned last_writer(const Word& word) { return word.writers & (MAX_THREADS - 1); }
inline unsigned writer_before(const Word& word) { return last_writer(word) / WARP * WARP + word.writers / MAX_THREADS; }
inline uint8_t last_mask(const Word& word) { return word.write_masks & 15; }
inline uint8_t mask_before(const Word& word) { return word.write_masks >> 4; }

constexpr unsigned HISTORY = 64;
// The meetings of a warp's lanes in this block, and their fences, which are meetings of nobody. Stamps count them; they begin
// anew after 65,535, and then nothing is told any more of what happened in which order within the warp.
struct WarpSyncs {
    uint16_t count;
    bool wrapped;
    uint32_t lanes[HISTORY];
    void note(uint32_t who) {
        wrapped |= ++count == 0;
        lanes[count % HISTORY] = who;
    }
};
extern WarpSyncs warp_syncs[MAX_WARPS];
extern bool atomics_tell;  // an atomic may order blocks, after a __threadfence(), or clear a suspicion

// Whether lane `a`, at its stamp, and lane `b` now have met in a __syncwarp() between, or by way of others.
inline bool met(unsigned warp, unsigned a, uint16_t stamp, unsigned b) {
    auto& syncs = warp_syncs[warp];
    if (uint16_t(syncs.count - stamp) >= HISTORY || syncs.wrapped) return true;
    uint32_t reached = 1u << a;
    for (uint16_t i = stamp + 1; uint16_t(syncs.count - i) < HISTORY; i++)
        if (syncs.lanes[i % HISTORY] & reached) reached |= syncs.lanes[i % HISTORY];
    return reached >> b & 1;
}

// ---- notes --------------------------------------------------------------------------------------------------------------

void note_other_read(Word&, unsigned thread, uint8_t bytes, uint32_t pc);

inline void note_read(Word& word, unsigned thread, uint8_t bytes, uint32_t pc) {
    unsigned warp = thread / WARP;
    uint32_t bit = 1u << thread % WARP;
    uint16_t stamp = warp_syncs[warp].count;
    if (word.read_epoch != epoch) {  // the first of its epoch
        bool earlier = word.read_epoch < block_epoch || word.readers & EARLIER_BLOCKS;
        word.readers = earlier && word.read_epoch >= launch_epoch ? EARLIER_BLOCKS : 0;
        word.read_epoch = epoch;
        word.read_pc = pc;
        word.read_lanes = bit;
        word.read_stamp = stamp;
        word.read_warp = warp;
        word.read_mask = bytes;
    } else if (word.read_warp == warp && word.read_stamp == stamp && word.read_mask == bytes && word.read_lanes) {
        word.read_lanes |= bit;  // as other lanes of its warp
    } else if (!(word.readers & MANY_WARPS) || word.read_warp == warp || word.read_mask != bytes) {
        note_other_read(word, thread, bytes, pc);
    }
}

inline void note_write(Word& word, unsigned thread, uint8_t bytes, uint32_t pc, bool atomic) {
    bool in_block = word.write_epoch >= block_epoch, now = word.write_epoch == epoch;
    uint16_t stamp = warp_syncs[thread / WARP].count;
    unsigned last = last_writer(word), kept = last_mask(word) & ~bytes;
    if (now && last == thread) {
        word.write_masks = (word.write_masks | bytes) & ~(bytes << 4);
    } else if (now && kept && last / WARP == thread / WARP && word.write_stamp == stamp && !atomic && !(word.kind & ATOMIC)) {
        // a neighbour in this word
        word.write_masks = bytes | kept << 4;
        word.writers = thread | last % WARP * MAX_THREADS;
    } else {
        word.write_masks = bytes;
        word.writers = thread;
    }
    // What was read lies before this write, or a race has been told: whoever writes next must come after this one anyway.
    if (!atomic && !(word.read_mask & ~bytes)) word.read_epoch = 0;
    uint8_t before = word.kind;
    word.kind = atomic ? ATOMIC : 0;
    if (atomic && in_block) word.kind |= before & ATOMIC ? before : PLAIN_BEFORE;
    else if (atomic && word.write_epoch >= launch_epoch) word.kind |= OTHERS_BEFORE;
    word.written = in_block ? word.written | bytes : bytes;
    word.write_epoch = epoch;
    word.write_stamp = stamp;
    word.write_pc = pc;
}

// ---- harmless at first sight ----------------------------------------------------------------------------------------------

// Whether `thread` has met the lane that has written.
inline bool in_order(const Word& word, unsigned writer, unsigned thread) {
    return writer == thread ||
           (writer / WARP == thread / WARP && met(thread / WARP, writer % WARP, word.write_stamp, thread % WARP));
}

// The last writes cannot race with an access now. `oldest`: epochs before it do not count for this kind of memory.
inline bool after_write(const Word& word, unsigned thread, uint8_t bytes, uint32_t oldest) {
    uint8_t last = last_mask(word) & bytes, before = mask_before(word) & bytes;
    if (word.write_epoch == epoch)
        return (!last || in_order(word, last_writer(word), thread)) && (!before || in_order(word, writer_before(word), thread));
    return word.write_epoch < oldest || word.write_epoch >= block_epoch || !(last | before);
}

// Nor can the last reads race with a write now.
inline bool after_reads(const Word& word, unsigned thread, uint8_t bytes, uint32_t oldest) {
    if (!(word.read_mask & bytes)) return true;
    if (word.readers & EARLIER_BLOCKS && oldest < block_epoch && word.read_epoch >= oldest) return false;
    if (word.read_epoch == epoch)
        return !(word.readers & MANY_WARPS) && word.read_warp == thread / WARP && !(word.read_lanes & ~(1u << thread % WARP));
    return word.read_epoch < oldest || word.read_epoch >= block_epoch;
}

// Atomics that other blocks' plain writes, or plain accesses that other blocks' atomics, may get in the way of.
inline bool mixed_over_blocks(const Word& word, bool atomic, uint32_t oldest) {
    if (oldest == block_epoch || word.write_epoch < oldest) return false;
    return atomic ? word.kind & PLAIN_BEFORE && word.write_epoch < block_epoch
                  : word.kind & OTHERS_BEFORE && word.write_epoch >= block_epoch;
}

inline bool harmless(const Word& word, unsigned thread, uint8_t bytes, Space space, bool write, bool atomic) {
    uint32_t oldest = space == GLOBAL ? launch_epoch : block_epoch;
    if ((!write || atomic) && space == SHARED && (word.write_epoch < oldest || (word.written & bytes) != bytes))
        return false;  // never written
    if (!(atomic && word.kind & ATOMIC) && !after_write(word, thread, bytes, oldest)) return false;
    if (word.kind > ATOMIC && mixed_over_blocks(word, atomic, oldest)) return false;
    if (atomic && word.read_epoch == epoch && (word.read_mask & bytes)) return false;  // the readers are suspect
    return !write || after_reads(word, thread, bytes, oldest);
}

}  // namespace sim
