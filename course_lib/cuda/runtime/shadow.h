// What is known of the last accesses to each four bytes of memory, and the plain cases of judging one more access.
#pragma once
#include "checker.h"

namespace sim {

// Half a cache line, so that a checked access touches one line of notes.
struct alignas(32) Word {
    uint32_t write_epoch, read_epoch;  // when
    uint32_t write_pc, read_pc;        // from where, relative to the kernel's library
    uint32_t read_lanes;               // who read in that epoch, within read_warp
    uint16_t write_thread, write_stamp, read_stamp;  // stamps count a warp's __syncwarp()s
    uint8_t read_warp;
    uint8_t many_warps;                // readers of several warps
    uint8_t written, write_mask;       // bytes written in this block; bytes of the last write
    uint8_t read_mask, atomic;
};

constexpr unsigned HISTORY = 64;
struct WarpSyncs { uint16_t count; uint32_t lanes[HISTORY]; };
extern WarpSyncs warp_syncs[MAX_WARPS];
extern bool atomics_tell;  // an atomic may order blocks, after a __threadfence(), or clear a suspicion

// Whether lane `a`, at its stamp, and lane `b` now have met in a __syncwarp() between.
inline bool met(unsigned warp, unsigned a, uint16_t stamp, unsigned b) {
    auto& syncs = warp_syncs[warp];
    if (uint16_t(syncs.count - stamp) >= HISTORY) return true;
    uint32_t both = 1u << a | 1u << b;
    for (uint16_t i = stamp + 1; uint16_t(syncs.count - i) < HISTORY; i++)
        if ((syncs.lanes[i % HISTORY] & both) == both) return true;
    return false;
}

// ---- notes --------------------------------------------------------------------------------------------------------------

void note_other_read(Word&, unsigned thread, uint8_t bytes, uint32_t pc);

inline void note_read(Word& word, unsigned thread, uint8_t bytes, uint32_t pc) {
    unsigned warp = thread / WARP;
    uint32_t bit = 1u << thread % WARP;
    uint16_t stamp = warp_syncs[warp].count;
    if (word.read_epoch != epoch) {  // the first of its epoch
        word.read_epoch = epoch;
        word.read_pc = pc;
        word.read_lanes = bit;
        word.read_stamp = stamp;
        word.read_warp = warp;
        word.many_warps = 0;
        word.read_mask = bytes;
    } else if (word.read_warp == warp && word.read_stamp == stamp && word.read_mask == bytes && word.read_lanes) {
        word.read_lanes |= bit;  // as other lanes of its warp
    } else if (!word.many_warps || word.read_warp == warp || word.read_mask != bytes) {
        note_other_read(word, thread, bytes, pc);
    }
}

inline void note_write(Word& word, unsigned thread, uint8_t bytes, uint32_t pc, bool atomic) {
    bool same = word.write_epoch == epoch && word.write_thread == thread;
    word.written = word.write_epoch >= block_epoch ? word.written | bytes : bytes;
    word.write_mask = same ? word.write_mask | bytes : bytes;
    word.write_epoch = epoch;
    word.write_thread = thread;
    word.write_stamp = warp_syncs[thread / WARP].count;
    word.write_pc = pc;
    word.atomic = atomic;
}

// ---- harmless at first sight ----------------------------------------------------------------------------------------------

// The last write cannot race with an access now. `oldest`: epochs before it do not count for this kind of memory.
inline bool after_write(const Word& word, unsigned thread, uint8_t bytes, uint32_t oldest) {
    if (word.write_epoch == epoch)
        return word.write_thread == thread || !(word.write_mask & bytes) ||
               (word.write_thread / WARP == thread / WARP &&
                met(thread / WARP, word.write_thread % WARP, word.write_stamp, thread % WARP));
    return word.write_epoch < oldest || word.write_epoch >= block_epoch || !(word.write_mask & bytes);
}

// Nor can the last reads race with a write now.
inline bool after_reads(const Word& word, unsigned thread, uint8_t bytes, uint32_t oldest) {
    if (word.read_epoch == epoch)
        return !(word.read_mask & bytes) ||
               (!word.many_warps && word.read_warp == thread / WARP && !(word.read_lanes & ~(1u << thread % WARP)));
    return word.read_epoch < oldest || word.read_epoch >= block_epoch || !(word.read_mask & bytes);
}

inline bool harmless(const Word& word, unsigned thread, uint8_t bytes, Space space, bool write, bool atomic) {
    uint32_t oldest = space == GLOBAL ? launch_epoch : block_epoch;
    if ((!write || atomic) && space == SHARED && (word.write_epoch < oldest || (word.written & bytes) != bytes))
        return false;  // never written
    if (!(atomic && word.atomic) && !after_write(word, thread, bytes, oldest)) return false;
    if (atomic && word.read_epoch == epoch && (word.read_mask & bytes)) return false;  // the readers are suspect
    return !write || after_reads(word, thread, bytes, oldest);
}

}  // namespace sim
