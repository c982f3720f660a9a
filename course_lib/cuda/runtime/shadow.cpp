// Races and unwritten shared memory: for every four bytes, who accessed them last, and what has ordered threads since.
//
// Two accesses of one word, one of them a write, race unless something orders them: a barrier (the epoch has grown), a
// __syncwarp() that both lanes took part in, or fences and atomics (fences.cpp).
#include <cstdio>
#include <cstring>
#include <vector>

#include "homes.h"
#include "shadow.h"

namespace sim {

uint32_t epoch = 1, block_epoch = 1, launch_epoch = 1;

// ---- __syncwarp ---------------------------------------------------------------------------------------------------------

WarpSyncs warp_syncs[MAX_WARPS];

void check_warp_sync(Block*, unsigned warp, uint32_t lanes) {
    warp_syncs[warp].note(lanes);
    share_known(warp, lanes);
    flush_warp(warp);
}

// ---- reports that wait for more knowledge ----------------------------------------------------------------------------------

struct Suspicion {
    bool active = false;
    Access access{};
    unsigned thread = 0, other = 0;
    uint32_t other_pc = 0;
    char what[192]{};
    unsigned char before[16]{};
};
// A read of unwritten shared memory, told unless another thread writes the place before the barrier: that is a race.
struct UnwrittenRead {
    const Word* word;
    unsigned thread, element;
    void* pc;
    const char* name;
    bool in_flight;  // a copy to it has been issued, but not waited for
};
static std::vector<UnwrittenRead> unwritten_reads;
constexpr size_t MOST_UNWRITTEN = 4096;
static Suspicion equal_write;                     // lanes of a warp may write the same value
static Suspicion before_atomic[MAX_THREADS];      // a plain read may be the first guess of a compare-and-swap loop
static unsigned suspicions;                       // how many there are of these

bool atomics_tell;
static void decide_atomics() { atomics_tell = suspicions || fences_tell(); }

void check_fence(Block* block, bool for_all) {
    note_fence(block->current, for_all);
    decide_atomics();
}

Place place_of(uint32_t relative_pc) { return {library_base + relative_pc, {}}; }

static void report(Block* block, const Suspicion& s) {
    if (!block->aborted)
        fault(RACE, s.thread, {s.access.pc, {}}, s.other, place_of(s.other_pc), "%s", s.what);
}

bool settling() { return equal_write.active; }

void settle(Block* block) {
    if (!equal_write.active) return;
    equal_write.active = false;
    if (memcmp(equal_write.before, equal_write.access.address, equal_write.access.bytes)) report(block, equal_write);
}

void settle_thread(Block* block, unsigned thread) {
    if (!suspicions || !before_atomic[thread].active) return;
    before_atomic[thread].active = false;
    suspicions--;
    report(block, before_atomic[thread]);
}

static void settle_everybody(Block* block) {
    settle(block);
    for (const UnwrittenRead& read : unwritten_reads)
        if (read.word->write_epoch != epoch || last_writer(*read.word) == read.thread || read.word->kind & ATOMIC)
            fault(UNINITIALISED, read.thread, {read.pc, {}}, NOBODY, {},
                  "element %u of __shared__ '%s' is read, but %s", read.element, read.name,
                  read.in_flight ? "the copy to it has not been waited for (cp_async_wait)"
                                 : "no thread of this block has written it");
    unwritten_reads.clear();
    for (unsigned thread = 0; suspicions && thread < MAX_THREADS; thread++) settle_thread(block, thread);
}

// ---- epochs ---------------------------------------------------------------------------------------------------------------

void check_barrier(Block* block) {
    settle_everybody(block);
    flush_all();
    epoch++;
}

void check_block_begin(Block* block) {
    block_epoch = ++epoch;
    fences_block_begin();
    for (auto& syncs : warp_syncs) syncs.count = 0, syncs.wrapped = false;
    decide_atomics();
    decide_watching();
    static const Block* indexed;
    static Index size;
    const Index now = block->launch->block;
    if (indexed == block && size.x == now.x && size.y == now.y && size.z == now.z) return;
    for (unsigned t = 0; t < block->threads; t++)
        block->thread_index[t] = {t % now.x, t / now.x % now.y, t / (now.x * now.y)};
    indexed = block;
    size = now;
}

void check_thread_end(Block* block, unsigned thread) {
    settle(block);
    settle_thread(block, thread);
}

void shadow_launch_begin() {
    launch_epoch = block_epoch = ++epoch;
    fences_launch_begin();
    equal_write.active = false;
    for (auto& s : before_atomic) s.active = false;
    suspicions = 0;
    unwritten_reads.clear();
}

// ---- one access -------------------------------------------------------------------------------------------------------------

enum Conflict { NONE, WRITE_WRITE, READ_WRITE, WRITE_READ };
static const char* const CONFLICTS[] = {"", "two threads write the same place", "one thread reads what another writes",
                                        "one thread reads what another writes"};

constexpr unsigned SOMEBODY = NOBODY - 1;  // another thread, but which is not known any more

// The writer of some of these bytes that nothing orders before `thread`, or NOBODY.
static unsigned unordered_writer(const Word& word, unsigned thread, uint8_t bytes, bool atomic, uint32_t oldest) {
    bool both = atomic && word.kind & ATOMIC;
    if (mixed_over_blocks(word, atomic, oldest)) {
        bool ordered = atomic ? ordered_by_fence(word.write_epoch) : heard_of_others();
        if (!ordered) return SOMEBODY;
    }
    if (both || !((last_mask(word) | mask_before(word)) & bytes)) return NOBODY;
    bool in_block = word.write_epoch >= block_epoch, by_atomic = word.kind & ATOMIC;
    if (in_block && word.write_epoch != epoch) return NOBODY;
    // Whoever has met an atomic's address may go on plainly there: what it holds came with the meeting.
    if (!in_block && by_atomic) return ordered_by_fence(word.write_epoch) ? NOBODY : SOMEBODY;
    auto races = [&](unsigned writer, uint8_t mask) {
        if (!(mask & bytes)) return false;
        if (!in_block) return !ordered_by_fence(word.write_epoch, writer, word.write_stamp);
        if (in_order(word, writer, thread)) return false;
        return by_atomic ? !knows_of(thread, writer) : !knows_of(thread, writer, word.write_stamp);
    };
    if (races(last_writer(word), last_mask(word))) return in_block ? last_writer(word) : SOMEBODY;
    if (races(writer_before(word), mask_before(word))) return in_block ? writer_before(word) : SOMEBODY;
    return NOBODY;
}

// A reader that nothing orders before `thread`, or NOBODY.
static unsigned unordered_reader(const Word& word, unsigned thread, bool atomic, uint32_t oldest) {
    if (word.read_epoch < block_epoch) return ordered_by_fence(word.read_epoch) ? NOBODY : SOMEBODY;
    if (word.readers & EARLIER_BLOCKS && oldest < block_epoch && !atomic && !heard_of_others()) return SOMEBODY;
    if (word.read_epoch != epoch) return NOBODY;
    bool own_warp = word.read_warp == thread / WARP, many = word.readers & MANY_WARPS, known = false;
    bool single = !(word.readers & (MANY_WARPS | PARTS)) && !(word.read_lanes & (word.read_lanes - 1));  // its stamp is known
    if (own_warp && !many && word.readers & PARTS) return NOBODY;  // which lane read these bytes nobody knows
    for (uint32_t lanes = own_warp ? word.read_lanes & ~(1u << thread % WARP) : word.read_lanes; lanes; lanes &= lanes - 1) {
        unsigned lane = __builtin_ctz(lanes), reader = word.read_warp * WARP + lane;
        bool has_met = own_warp && !many && met(word.read_warp, lane, word.read_stamp, thread % WARP);
        bool knows = single ? knows_of(thread, reader, word.read_stamp) : knows_of(thread, reader);
        known |= knows;
        if (!has_met && !knows) return reader;
    }
    return many && !known ? SOMEBODY : NOBODY;  // of many warps only one is noted
}

static void describe_race(Suspicion& s, Conflict conflict, const Array& array, uint64_t offset, bool other_block) {
    char place[96];
    if (array.variable && array.bytes == s.access.bytes) snprintf(place, sizeof place, "the variable '%s'", array.name);
    else snprintf(place, sizeof place, "element %llu of %s '%s'", (unsigned long long)(offset / s.access.bytes),
                  array.space == SHARED ? "__shared__" : "the array", array.name);
    snprintf(s.what, sizeof s.what, "%s: %s, %s", CONFLICTS[conflict], place,
             other_block ? "in different blocks, which nothing orders" : "with no barrier between");
}

static void race(Block* block, Conflict conflict, const Word& word, const Access& access, const Array& array, uint64_t offset,
                 unsigned thread, unsigned other) {
    if (block->aborted) return;
    bool others = conflict == READ_WRITE ? word.readers & EARLIER_BLOCKS : word.kind & OTHERS_BEFORE;
    uint32_t since = conflict == READ_WRITE ? word.read_epoch : word.write_epoch;
    bool other_block = since < block_epoch || (others && other == SOMEBODY);
    Suspicion now;
    now.active = true;
    now.access = access;
    now.thread = thread;
    now.other = other_block || other == SOMEBODY ? NOBODY : other;
    now.other_pc = conflict == READ_WRITE ? word.read_pc : word.write_pc;
    describe_race(now, conflict, array, offset, other_block);
    if (conflict == WRITE_WRITE && !other_block && other / WARP == thread / WARP && !access.atomic && !(word.kind & ATOMIC) &&
        access.bytes <= sizeof now.before) {
        memcpy(now.before, access.address, access.bytes);
        equal_write = now;
    } else if (conflict == WRITE_READ && word.kind & ATOMIC && !access.atomic) {
        settle_thread(block, thread);
        before_atomic[thread] = now;
        suspicions++;
    } else {
        report(block, now);
    }
}

// An atomic after plain reads by other lanes: each such lane is innocent if an atomic of its own follows its read.
static void suspect_readers(Word& word, const Access& access, const Array& array, uint64_t offset, unsigned thread) {
    if (word.read_warp == thread / WARP) word.read_lanes &= ~(1u << (thread % WARP));
    if (word.readers & (MANY_WARPS | PARTS)) return;
    for (uint32_t lanes = word.read_lanes; lanes; lanes &= lanes - 1) {
        unsigned lane = __builtin_ctz(lanes), reader = word.read_warp * WARP + lane;
        if (before_atomic[reader].active || knows_of(thread, reader)) continue;
        if (word.read_warp == thread / WARP && met(word.read_warp, lane, word.read_stamp, thread % WARP)) continue;
        Suspicion& now = before_atomic[reader];
        now.active = true;
        now.access = access;
        now.thread = thread;
        now.other = reader;
        now.other_pc = word.read_pc;
        describe_race(now, READ_WRITE, array, offset, false);
        suspicions++;
    }
}

// Of the readers of an epoch the first warp's are kept, with their place: a later one is often the thread that then writes.
void note_other_read(Word& word, unsigned thread, uint8_t bytes, uint32_t pc) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    bool parts = word.read_mask != bytes && word.read_lanes != 1u << lane;
    if (word.read_warp != warp && word.read_mask == bytes) {
        word.readers |= MANY_WARPS;
        return;
    }
    if (word.read_warp != warp || (parts && word.readers & MANY_WARPS)) {  // one part of the word is forgotten
        word.read_lanes = 0;
        word.readers &= EARLIER_BLOCKS;
        word.read_mask = 0;
    } else if (parts) {
        word.readers |= PARTS;
    } else if (word.read_stamp != warp_syncs[warp].count && !(word.readers & MANY_WARPS)) {
        for (uint32_t lanes = word.read_lanes; lanes; lanes &= lanes - 1) {
            unsigned earlier = __builtin_ctz(lanes);
            if (met(warp, earlier, word.read_stamp, lane)) word.read_lanes &= ~(1u << earlier);
        }
    }
    if (!word.read_lanes) word.read_pc = pc;
    word.read_warp = warp;
    word.read_lanes |= 1u << lane;
    word.read_mask |= bytes;
    word.read_stamp = warp_syncs[warp].count;
}

// Whether what a structure's copy reads is only its padding where nobody has written.
static bool reads_padding(const Word* word, uint64_t offset, const Access& access, uint32_t oldest) {
    if (!padded) return false;
    for (unsigned done = 0; done < access.bytes; word++) {
        unsigned first = (offset + done) % 4, count = 4 - first < access.bytes - done ? 4 - first : access.bytes - done;
        if (word->write_epoch >= oldest && word->written & ((1u << count) - 1) << first) return true;
        done += count;
    }
    return false;
}

void check_words(Block* block, const Array& array, const Access& access) {
    const Space space = array.space;
    const uint64_t offset = access.address - array.data;
    Word* word = array.shadow + offset / 4;
    unsigned thread = block->current;
    uint32_t oldest = space == GLOBAL ? launch_epoch : block_epoch, pc = static_cast<char*>(access.pc) - library_base;
    if (access.atomic) {
        note_atomic(access, space, thread);
        if (before_atomic[thread].active && before_atomic[thread].access.address == access.address) {
            before_atomic[thread].active = false;
            suspicions--;
        }
    }
    bool reported = false, reads_shared = (!access.write || access.atomic) && space == SHARED && !block->aborted;
    reads_shared = reads_shared && !reads_padding(word, offset, access, oldest);
    for (unsigned done = 0; done < access.bytes; word++) {
        unsigned first = (offset + done) % 4, count = 4 - first < access.bytes - done ? 4 - first : access.bytes - done;
        uint8_t bytes = ((1u << count) - 1) << first;
        bool was_written = word->write_epoch >= oldest;
        if (reads_shared && (!was_written || (word->written & bytes) != bytes) && !reported) {
            if (unwritten_reads.size() < MOST_UNWRITTEN)
                unwritten_reads.push_back({word, thread, unsigned((offset + done) / access.bytes), access.pc, array.name,
                                           was_written && !word->written});
            reported = true;
        }
        if (!reported) {
            unsigned writer = was_written ? unordered_writer(*word, thread, bytes, access.atomic, oldest) : NOBODY;
            if (writer != NOBODY) {
                race(block, access.write ? WRITE_WRITE : WRITE_READ, *word, access, array, offset + done, thread, writer);
                reported = true;
            } else if (access.write && word->read_epoch >= oldest && (word->read_mask & bytes)) {
                if (access.atomic && word->read_epoch == epoch) {
                    suspect_readers(*word, access, array, offset + done, thread);
                } else {
                    unsigned reader = unordered_reader(*word, thread, access.atomic, oldest);
                    if (reader != NOBODY) {
                        race(block, READ_WRITE, *word, access, array, offset + done, thread, reader);
                        reported = true;
                    }
                }
            }
        }
        if (access.write) note_write(*word, thread, bytes, pc, access.atomic);
        else note_read(*word, thread, bytes, pc);
        done += count;
    }
    decide_atomics();
}

}  // namespace sim
