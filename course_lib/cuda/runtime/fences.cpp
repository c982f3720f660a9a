// Fences and atomics: what orders the threads of one block, or of several, where no barrier does.
//
// Whoever writes, calls a fence and then an atomic on some address has released what it wrote; whoever meets that address next
// with an atomic of its own has acquired it ("last block" patterns and locks declare themselves that way). Not seen: work after
// a lock was given back, and a fence that comes before the write it should follow.
#include <map>
#include <unordered_map>

#include "shadow.h"

namespace sim {

// ---- over blocks ----------------------------------------------------------------------------------------------------------

static bool fenced;  // this block, by a __threadfence(), since its begin
// What blocks have released, by the address of the atomic: the epochs from the block's begin to that atomic.
static std::unordered_map<uint64_t, std::map<uint32_t, uint32_t>> released;
static std::unordered_map<uint64_t, bool> acquired;  // addresses this block has met

bool ordered_by_fence(uint32_t other_epoch) {
    for (auto& [address, _] : acquired) {
        auto blocks = released.find(address);
        if (blocks == released.end()) continue;
        auto after = blocks->second.upper_bound(other_epoch);  // the other block began before
        if (after != blocks->second.begin() && (--after)->second >= other_epoch) return true;
    }
    return false;
}

bool heard_of_others() {
    for (auto& [address, _] : acquired) {
        auto blocks = released.find(address);
        if (blocks != released.end() && blocks->second.begin()->first < block_epoch) return true;
    }
    return false;
}

// ---- within a block, until the next barrier orders everybody anyway ----------------------------------------------------------

struct Threads {
    uint32_t since = 0, bits[MAX_WARPS] = {};  // of the epoch `since`
    bool has(unsigned thread) const { return since == epoch && bits[thread / WARP] >> thread % WARP & 1; }
    void add(unsigned thread) {
        if (since != epoch) *this = Threads{epoch, {}};
        bits[thread / WARP] |= 1u << thread % WARP;
    }
    void add(const Threads& others) {
        if (others.since != epoch) return;
        if (since != epoch) *this = Threads{epoch, {}};
        for (unsigned warp = 0; warp < MAX_WARPS; warp++) bits[warp] |= others.bits[warp];
    }
};
static Threads fenced_threads, known_to[MAX_THREADS];
static std::unordered_map<uint64_t, Threads> left_at;  // by the atomic's address

bool knows_of(unsigned thread, unsigned other) { return known_to[thread].has(other); }

// ---- what happens -----------------------------------------------------------------------------------------------------------

void note_fence(unsigned thread, bool for_all) {
    fenced |= for_all;
    fenced_threads.add(thread);
}

void note_atomic(const Access& access, Space space, unsigned thread) {
    uint64_t address = reinterpret_cast<uint64_t>(access.address);
    if (space == GLOBAL) {
        if (fenced) released[address][block_epoch] = epoch;
        if (!released.empty()) acquired[address] = true;
    }
    if (fenced_threads.since != epoch) return;
    Threads& left = left_at[address];
    known_to[thread].add(left);
    if (!fenced_threads.has(thread)) return;
    left.add(known_to[thread]);
    left.add(thread);
}

bool fences_tell() { return fenced || !released.empty() || fenced_threads.since == epoch; }

void fences_block_begin() {
    fenced = false;
    acquired.clear();
    left_at.clear();
}

void fences_launch_begin() {
    released.clear();
    fences_block_begin();
}

}  // namespace sim
