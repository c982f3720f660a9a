// Fences and atomics: what orders the threads of one block, or of several, where no barrier does.
//
// Whoever writes, calls a fence and then an atomic on some address has released what it wrote before the fence; whoever meets
// that address next with an atomic of its own has acquired it ("last block" patterns and locks declare themselves that way).
// A fence speaks for the lanes that its own has met, too, and a __syncwarp() hands on what either lane knows. What is written
// after the fence has a later stamp, and is not released.
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "shadow.h"

namespace sim {

// Of each thread of the block, before which of its stamps its work of one epoch lies before some point. 0: none of it; ALL:
// all of it, also where the stamps have come to their end.
struct Extent {
    uint32_t since = 0;  // the epoch
    static constexpr uint16_t ALL = 0xFFFF;
    uint16_t ends[MAX_THREADS];

    bool now() const { return since == epoch; }
    bool has(unsigned thread) const { return now() && ends[thread]; }
    void begin() {
        if (now()) return;
        since = epoch;
        memset(ends, 0, sizeof ends);
    }
    void add(unsigned thread, uint16_t last_stamp) {
        begin();
        bool wrapped = warp_syncs[thread / WARP].wrapped || last_stamp == ALL;
        ends[thread] = wrapped ? ALL : std::max<uint16_t>(ends[thread], last_stamp + 1);
    }
    void add(const Extent& other) {
        if (!other.now() || this == &other) return;
        begin();
        for (unsigned thread = 0; thread < MAX_THREADS; thread++) ends[thread] = std::max(ends[thread], other.ends[thread]);
    }
    static bool covers(uint16_t end, uint16_t stamp) { return stamp < end || end == ALL; }
};

static Extent known_to[MAX_THREADS];  // what lies before all that a thread does now
static Extent fenced_by[MAX_THREADS]; // what lies before the last fence of a thread, or of one that it has met since

// ---- within a block, until the next barrier orders everybody anyway ----------------------------------------------------------

constexpr size_t MOST_LOCKS = 1024;
static std::unordered_map<uint64_t, Extent> left_at;  // by the atomic's address
static Extent left_anywhere;                          // where there are too many of them
static uint32_t last_of_any;                          // the epoch of the block's last fence of either kind

bool knows_of(unsigned thread, unsigned other) { return known_to[thread].has(other); }
bool knows_of(unsigned thread, unsigned other, uint16_t stamp) {
    return known_to[thread].now() && Extent::covers(known_to[thread].ends[other], stamp);
}

void share_known(unsigned warp, uint32_t lanes) {
    if (last_of_any != epoch) return;
    for (Extent* of : {known_to + warp * WARP, fenced_by + warp * WARP}) {
        static Extent together;
        together.since = 0;
        for (uint32_t left = lanes; left; left &= left - 1) together.add(of[__builtin_ctz(left)]);
        for (uint32_t left = lanes; left && together.now(); left &= left - 1) of[__builtin_ctz(left)] = together;
    }
}

static void hand_over(uint64_t address, unsigned thread) {
    if (last_of_any != epoch) return;
    auto place = left_at.find(address);
    bool room = place != left_at.end() || left_at.size() < MOST_LOCKS;
    Extent& left = room ? left_at[address] : left_anywhere;
    known_to[thread].add(left);
    left.add(fenced_by[thread]);
}

// ---- over blocks ----------------------------------------------------------------------------------------------------------

// What a block has released at one address. Of what was written in earlier epochs than its last fence a barrier tells that it
// lies before the fence; of that epoch itself, `ends`.
struct Release {
    uint32_t at = 0, fence = 0;  // epochs
    std::vector<uint16_t> ends;
    // What the block had acquired before: other releases, by their addresses and blocks; if there are too many, all of earlier
    // blocks than `below`.
    std::vector<std::pair<uint64_t, uint32_t>> through;
    uint32_t below = 0;
    size_t acquired = 0;         // so many addresses
};
constexpr size_t MOST_EXTENTS = 16384, MOST_THROUGH = 256;
static std::unordered_map<uint64_t, std::map<uint32_t, Release>> released;  // by address, and by the epoch of the block's begin
static std::unordered_map<uint64_t, bool> acquired;  // addresses this block has met
static size_t extents;                               // kept in `released`
static uint32_t last_fence;                          // the epoch of this block's last __threadfence(), 0 if none since its begin
static Extent fenced_by_any;                         // in that epoch

// Note in a release at `address` what the block has acquired elsewhere. (At the same address everybody sees it anyway.)
static void hand_through(Release& mine, uint64_t address) {
    if (mine.acquired == acquired.size()) return;
    mine.acquired = acquired.size();
    mine.through.clear();
    for (auto& [other, _] : acquired) {
        auto blocks = released.find(other);
        if (other == address || blocks == released.end()) continue;
        for (auto& [begin, release] : blocks->second) {
            if (begin == block_epoch) continue;
            mine.through.emplace_back(other, begin);
            mine.through.insert(mine.through.end(), release.through.begin(), release.through.end());
            mine.below = std::max(mine.below, release.below);
            if (mine.through.size() <= MOST_THROUGH) continue;
            mine.through.clear();
            mine.below = block_epoch;
            return;
        }
    }
    std::sort(mine.through.begin(), mine.through.end());
    mine.through.erase(std::unique(mine.through.begin(), mine.through.end()), mine.through.end());
}

static void release(uint64_t address, unsigned thread) {
    Release& mine = released[address][block_epoch];
    hand_through(mine, address);
    const Extent& extent = last_fence < epoch ? fenced_by_any : fenced_by[thread];
    bool known = extent.since == last_fence;
    mine.at = epoch;
    if (mine.fence < last_fence) mine.ends.clear();
    if (mine.ends.empty() && known && ++extents > MOST_EXTENTS) mine.fence = epoch + 1;  // no room: say nothing against it
    mine.fence = std::max(mine.fence, last_fence);
    if (!known || mine.fence > last_fence) return;
    mine.ends.resize(MAX_THREADS);
    for (unsigned i = 0; i < MAX_THREADS; i++) mine.ends[i] = std::max(mine.ends[i], extent.ends[i]);
}

// Whether what the block that was running then has released at an address passes the test.
template <class Test> static bool releases(uint64_t address, uint32_t other_epoch, Test test) {
    auto blocks = released.find(address);
    if (blocks == released.end()) return false;
    auto after = blocks->second.upper_bound(other_epoch);  // the other block began before
    return after != blocks->second.begin() && (--after)->second.at >= other_epoch && test(after->second);
}

// The same of an address that this block has met since, or that a block has met before it released what this one has met.
template <class Test> static bool any_release(uint32_t other_epoch, Test test) {
    for (auto& [address, _] : acquired)
        if (releases(address, other_epoch, test)) return true;
    for (auto& [address, _] : acquired) {
        auto blocks = released.find(address);
        if (blocks == released.end()) continue;
        for (auto& [begin, release] : blocks->second) {
            if (begin == block_epoch) continue;
            if (other_epoch < release.below) return true;
            for (auto& [other, block] : release.through)
                if (block <= other_epoch && releases(other, other_epoch, test)) return true;
        }
    }
    return false;
}

bool ordered_by_fence(uint32_t other_epoch) {
    return any_release(other_epoch, [](const Release&) { return true; });
}

bool ordered_by_fence(uint32_t other_epoch, unsigned writer, uint16_t stamp) {
    return any_release(other_epoch, [=](const Release& release) {
        if (other_epoch != release.fence) return other_epoch < release.fence;
        return !release.ends.empty() && Extent::covers(release.ends[writer], stamp);
    });
}

bool heard_of_others() {
    for (auto& [address, _] : acquired) {
        auto blocks = released.find(address);
        if (blocks != released.end() && blocks->second.begin()->first < block_epoch) return true;
    }
    return false;
}

// ---- what happens -----------------------------------------------------------------------------------------------------------

void note_fence(unsigned thread, bool for_all) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    auto& syncs = warp_syncs[warp];
    Extent& before = fenced_by[thread];
    before.add(known_to[thread]);
    before.add(thread, syncs.count);
    uint32_t reached = 1u << lane;  // lanes that it has met, itself or by way of others, from the last meeting backward
    for (unsigned back = 0; back < HISTORY && (back < syncs.count || syncs.wrapped) && ~reached; back++) {
        uint16_t number = syncs.count - back;
        uint32_t lanes = syncs.lanes[number % HISTORY];
        if (!(lanes & reached)) continue;
        for (uint32_t fresh = lanes & ~reached; fresh; fresh &= fresh - 1)
            before.add(warp * WARP + __builtin_ctz(fresh), uint16_t(number - 1));
        reached |= lanes;
    }
    syncs.note(0);
    last_of_any = epoch;
    if (!for_all) return;
    if (last_fence != epoch) fenced_by_any.since = 0;
    last_fence = epoch;
    fenced_by_any.add(before);
}

void note_atomic(const Access& access, Space space, unsigned thread) {
    uint64_t address = reinterpret_cast<uint64_t>(access.address);
    if (space == GLOBAL) {
        if (last_fence) release(address, thread);
        if (!released.empty()) acquired[address] = true;
    }
    hand_over(address, thread);
}

bool fences_tell() { return last_fence || !released.empty() || last_of_any == epoch; }

void fences_block_begin() {
    last_fence = 0;
    acquired.clear();
    left_at.clear();
}

void fences_launch_begin() {
    released.clear();
    extents = 0;
    fences_block_begin();
}

}  // namespace sim
