// Racecheck: two accesses of one word, one of them a write, race unless the first happens before the second.
//
// What orders them is a barrier (the interval has grown), a __syncwarp() of both lanes, or fences and atomics (clocks.h).
#include "racecheck.h"

#include <cstdio>
#include <cstring>

#include "address_map.h"

namespace sim {

// ---- races that the next accesses may clear ---------------------------------------------------------------------------

struct Suspicion {
    bool active = false;
    Access access{};
    unsigned thread = 0, other = 0;
    uint32_t other_pc = 0;
    char what[192]{};
    unsigned char before[16]{};
};
static Suspicion equal_write;                     // lanes of a warp may write the same value
constexpr unsigned GUESSES = 4;
static Suspicion before_atomic[MAX_THREADS][GUESSES];  // plain reads may be the first guesses of compare-and-swap loops
static unsigned suspicions;                       // how many there are of these
static bool scopes;                               // an atomic of this launch has the scope of its block

bool watch_atomics;
static void decide_atomics() { watch_atomics = scopes || suspicions || atomics_order(); }

static void report(const Block* block, const Suspicion& s) {
    if (!block->aborted)
        fault(RACE, s.thread, {s.access.pc, {}}, s.other, {library_base + s.other_pc, {}}, "%s", s.what);
}

void Racecheck::compare_values(const Block* block) {
    awaits_value = false;
    if (memcmp(equal_write.before, equal_write.access.address, equal_write.access.bytes)) report(block, equal_write);
}

static void clear(Suspicion& suspicion) {
    suspicion.active = false;
    suspicions--;
}

static void resolve(const Block* block, Suspicion& suspicion) {
    if (!suspicion.active) return;
    clear(suspicion);
    report(block, suspicion);
}

static void resolve_thread(const Block* block, unsigned thread) {
    if (!suspicions) return;
    for (Suspicion& one : before_atomic[thread]) resolve(block, one);
}

// A thread's suspicion of this address, else one that is free, else the first.
static Suspicion& guess_of(unsigned thread, const char* address) {
    Suspicion *free = nullptr, (&all)[GUESSES] = before_atomic[thread];
    for (Suspicion& one : all) {
        if (one.active && one.access.address == address) return one;
        if (!one.active && !free) free = &one;
    }
    return free ? *free : all[0];
}

// ---- one access -------------------------------------------------------------------------------------------------------

enum Conflict { WRITE_WRITE, READ_WRITE, WRITE_READ, SCOPE };
static const char* const CONFLICTS[] = {"two threads write the same address", "one thread reads what another writes",
                                        "one thread reads what another writes",
                                        "an atomic of one block's scope (_block) does not exclude another block's"};

constexpr unsigned UNKNOWN = NO_THREAD - 1;  // another thread, but the shadow no longer says which

// The writer of some of these bytes that nothing orders before `thread`, or NO_THREAD.
static unsigned unordered_writer(const Word& word, unsigned thread, uint8_t bytes, bool atomic, uint32_t oldest) {
    bool both = atomic && word.kind & ATOMIC;
    if (mixed_over_blocks(word, atomic, oldest)) {
        bool ordered = atomic ? block_happens_before(word.write_interval) : acquired_from_another_block();
        if (!ordered) return UNKNOWN;
    }
    if (both || !((last_mask(word) | mask_before(word)) & bytes)) return NO_THREAD;
    bool in_block = word.write_interval >= block_interval, by_atomic = word.kind & ATOMIC;
    if (in_block && word.write_interval != interval) return NO_THREAD;
    // A thread that has acquired at an atomic's address may access it plainly from then on.
    if (!in_block && by_atomic) return block_happens_before(word.write_interval) ? NO_THREAD : UNKNOWN;
    auto races = [&](unsigned writer, uint8_t mask) {
        if (!(mask & bytes)) return false;
        if (!in_block) return !block_happens_before(word.write_interval, writer, word.write_clock);
        if (in_order(word, writer, thread)) return false;
        return by_atomic ? !happens_before(writer, thread) : !happens_before(writer, word.write_clock, thread);
    };
    if (races(last_writer(word), last_mask(word))) return in_block ? last_writer(word) : UNKNOWN;
    if (races(writer_before(word), mask_before(word))) return in_block ? writer_before(word) : UNKNOWN;
    return NO_THREAD;
}

// A reader that nothing orders before `thread`, or NO_THREAD.
static unsigned unordered_reader(const Word& word, unsigned thread, bool atomic, uint32_t oldest) {
    if (word.read_interval < block_interval) return block_happens_before(word.read_interval) ? NO_THREAD : UNKNOWN;
    if (word.readers & EARLIER_BLOCKS && oldest < block_interval && !atomic && !acquired_from_another_block()) return UNKNOWN;
    if (word.read_interval != interval) return NO_THREAD;
    bool own_warp = word.read_warp == thread / WARP, many = word.readers & MANY_WARPS, any_ordered = false;
    bool single = !(word.readers & (MANY_WARPS | PARTS)) && !(word.read_lanes & (word.read_lanes - 1));  // its clock is known
    if (own_warp && !many && word.readers & PARTS) return NO_THREAD;  // it is not known which lane read these bytes
    for (uint32_t lanes = own_warp ? word.read_lanes & ~(1u << thread % WARP) : word.read_lanes; lanes; lanes &= lanes - 1) {
        unsigned lane = __builtin_ctz(lanes), reader = word.read_warp * WARP + lane;
        bool synchronised = own_warp && !many && warp_ordered(word.read_warp, lane, word.read_clock, thread % WARP);
        bool ordered = single ? happens_before(reader, word.read_clock, thread) : happens_before(reader, thread);
        any_ordered |= ordered;
        if (!synchronised && !ordered) return reader;
    }
    return many && !any_ordered ? UNKNOWN : NO_THREAD;  // of many warps the shadow keeps one
}

static Suspicion suspect(Conflict conflict, const Array& array, const Access& access, uint64_t offset, unsigned thread,
                         unsigned other, uint32_t other_pc, bool other_block) {
    Suspicion s{true, access, thread, other, other_pc, {}, {}};
    char element[96];
    if (array.variable && array.bytes == access.bytes) snprintf(element, sizeof element, "the variable '%s'", array.name);
    else snprintf(element, sizeof element, "element %llu of %s '%s'", (unsigned long long)(offset / access.bytes),
                  array.space == SHARED ? "__shared__" : "the array", array.name);
    snprintf(s.what, sizeof s.what, "%s: %s, %s", CONFLICTS[conflict], element,
             other_block ? "in different blocks, which nothing orders" : "with no barrier between");
    return s;
}

static void race(const Block* block, Conflict conflict, const Word& word, const Access& access, const Array& array,
                 uint64_t offset, unsigned other) {
    if (block->aborted) return;
    unsigned thread = block->current;
    bool others = conflict == READ_WRITE ? word.readers & EARLIER_BLOCKS : word.kind & OTHERS_BEFORE;
    uint32_t since = conflict == READ_WRITE ? word.read_interval : word.write_interval;
    bool other_block = since < block_interval || (others && other == UNKNOWN);
    Suspicion now = suspect(conflict, array, access, offset, thread, other_block || other == UNKNOWN ? NO_THREAD : other,
                            conflict == READ_WRITE ? word.read_pc : word.write_pc, other_block);
    if (conflict == WRITE_WRITE && !other_block && other / WARP == thread / WARP && !access.atomic && !(word.kind & ATOMIC) &&
        access.bytes <= sizeof now.before) {
        memcpy(now.before, access.address, access.bytes);
        equal_write = now;
        Racecheck::awaits_value = true;
    } else if (conflict == WRITE_READ && word.kind & ATOMIC && !access.atomic) {
        Suspicion& guess = guess_of(thread, access.address);
        resolve(block, guess);
        guess = now;
        suspicions++;
    } else {
        report(block, now);
    }
}

// An atomic after plain reads by other lanes: each of them is cleared if an atomic of its own follows its read.
static void suspect_readers(Word& word, const Access& access, const Array& array, uint64_t offset, unsigned thread) {
    if (word.read_warp == thread / WARP) word.read_lanes &= ~(1u << (thread % WARP));
    if (word.readers & (MANY_WARPS | PARTS)) return;
    for (uint32_t lanes = word.read_lanes; lanes; lanes &= lanes - 1) {
        unsigned lane = __builtin_ctz(lanes), reader = word.read_warp * WARP + lane;
        Suspicion& guess = guess_of(reader, access.address);
        if (guess.active || happens_before(reader, thread)) continue;
        if (word.read_warp == thread / WARP && warp_ordered(word.read_warp, lane, word.read_clock, thread % WARP)) continue;
        guess = suspect(READ_WRITE, array, access, offset, thread, reader, word.read_pc, false);
        suspicions++;
    }
}

// Returns whether a race has been found.
static bool judge(const Block* block, Word& word, uint8_t bytes, const Access& access, const Array& array, uint64_t offset) {
    unsigned thread = block->current;
    uint32_t oldest = oldest_interval(array.space);
    bool of_another = word.write_interval >= oldest && word.write_interval < block_interval && word.kind & ATOMIC;
    if (access.atomic && of_another && (access.of_block || word.kind & OF_BLOCK) && !block_happens_before(word.write_interval)) {
        race(block, SCOPE, word, access, array, offset, UNKNOWN);
        return true;
    }
    if (word.write_interval >= oldest) {
        unsigned writer = unordered_writer(word, thread, bytes, access.atomic, oldest);
        if (writer != NO_THREAD) {
            race(block, access.write ? WRITE_WRITE : WRITE_READ, word, access, array, offset, writer);
            return true;
        }
    }
    if (!access.write || word.read_interval < oldest || !(word.read_mask & bytes)) return false;
    if (access.atomic && word.read_interval == interval) {
        suspect_readers(word, access, array, offset, thread);
        return false;
    }
    unsigned reader = unordered_reader(word, thread, access.atomic, oldest);
    if (reader != NO_THREAD) race(block, READ_WRITE, word, access, array, offset, reader);
    return reader != NO_THREAD;
}

// ---- events -----------------------------------------------------------------------------------------------------------

void Racecheck::on(const MemoryAccess& event) {
    const Block* block = event.block;
    const Array& array = event.array;
    const Access& access = event.access;
    bool& reported = event.reported;
    if (access.atomic && suspicions) {
        Suspicion& own = guess_of(block->current, access.address);
        if (own.active && own.access.address == access.address) clear(own);
    }
    if (!reported)
        for_each_word(array, access, [&](Word& word, uint8_t bytes, uint64_t offset) {
            return reported = judge(block, word, bytes, access, array, offset);
        });
    scopes |= access.of_block;
    if (access.atomic || suspicions) decide_atomics();
}

void Racecheck::on(const ThreadEnd& event) {
    if (awaits_value) compare_values(event.block);
    resolve_thread(event.block, event.thread);
}

void Racecheck::on(const IntervalEnd& event) {
    if (awaits_value) compare_values(event.block);
    for (unsigned thread = 0; suspicions && thread < MAX_THREADS; thread++) resolve_thread(event.block, thread);
}

void Racecheck::on(const Fence&) { decide_atomics(); }
void Racecheck::on(const BlockBegin&) { decide_atomics(); }

void Racecheck::on(const LaunchBegin&) {
    awaits_value = false;
    if (suspicions)
        for (auto& thread : before_atomic)
            for (Suspicion& one : thread) one.active = false;
    suspicions = 0;
    scopes = false;
}

}  // namespace sim
