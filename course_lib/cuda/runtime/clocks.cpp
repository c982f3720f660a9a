// Vector clocks: what orders the threads of one block, or of several, where no barrier does.
//
// Happens-before is Lamport's ("Time, Clocks, and the Ordering of Events in a Distributed System", 1978), and each thread has a
// vector clock as in FastTrack (Flanagan and Freund 2009). What orders threads here is CUDA's: a thread that writes, calls a
// fence and then an atomic on some address has released, at that address, what happened before the fence; a thread whose atomic
// accesses that address later has acquired it ("last block" patterns and locks are made this way). A fence also covers what
// happens before it by way of __syncwarp(), and a __syncwarp() joins the clocks of its lanes. What is written after the fence
// has a later clock, and is not released.
#include "clocks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

namespace sim {

uint32_t interval = 1, block_interval = 1, launch_interval = 1;
WarpClock warp_clocks[MAX_WARPS];

// For each thread of the block, the first of its clocks in one interval that does not happen before some point. 0: nothing of
// the thread does; ALL: everything, also where the warp's clock has wrapped around.
struct VectorClock {
    uint32_t in = 0;  // the interval
    static constexpr uint16_t ALL = 0xFFFF;
    uint16_t ends[MAX_THREADS];

    bool is_current() const { return in == interval; }
    bool has(unsigned thread) const { return is_current() && ends[thread]; }
    bool has(unsigned thread, uint16_t clock) const { return is_current() && covers(ends[thread], clock); }
    void begin() {
        if (is_current()) return;
        in = interval;
        memset(ends, 0, sizeof ends);
    }
    void add(unsigned thread, uint16_t last) {
        begin();
        bool wrapped = warp_clocks[thread / WARP].wrapped || last == ALL;
        ends[thread] = wrapped ? ALL : std::max<uint16_t>(ends[thread], last + 1);
    }
    void join(const VectorClock& other) {
        if (!other.is_current() || this == &other) return;
        begin();
        for (unsigned thread = 0; thread < MAX_THREADS; thread++) ends[thread] = std::max(ends[thread], other.ends[thread]);
    }
    static bool covers(uint16_t end, uint16_t clock) { return clock < end || end == ALL; }
};

// ---- within a block, until the next barrier orders all threads anyway ----------------------------------------------------

static VectorClock thread_clocks[MAX_THREADS];   // what happens before all that a thread does now
static VectorClock fence_clocks[MAX_THREADS];    // what happened before its last fence, or before one that it has joined since
constexpr size_t MOST_LOCKS = 1024;
static std::unordered_map<uint64_t, VectorClock> release_clocks;  // by the address of the atomics
static VectorClock any_release_clock;            // of all other addresses, where there are too many of them
static uint32_t last_fence_of_any_kind;          // the interval of the block's last one

bool happens_before(unsigned other, unsigned thread) { return thread_clocks[thread].has(other); }
bool happens_before(unsigned other, uint16_t clock, unsigned thread) { return thread_clocks[thread].has(other, clock); }

static void join_lanes(unsigned warp, uint32_t lanes) {
    if (last_fence_of_any_kind != interval) return;
    for (VectorClock* of : {thread_clocks + warp * WARP, fence_clocks + warp * WARP}) {
        static VectorClock joined;
        joined.in = 0;
        for (uint32_t left = lanes; left; left &= left - 1) joined.join(of[__builtin_ctz(left)]);
        for (uint32_t left = lanes; left && joined.is_current(); left &= left - 1) of[__builtin_ctz(left)] = joined;
    }
}

static void acquire_and_release(uint64_t address, unsigned thread) {
    if (last_fence_of_any_kind != interval) return;
    auto found = release_clocks.find(address);
    bool room = found != release_clocks.end() || release_clocks.size() < MOST_LOCKS;
    VectorClock& clock = room ? release_clocks[address] : any_release_clock;
    thread_clocks[thread].join(clock);
    clock.join(fence_clocks[thread]);
}

// ---- over blocks ----------------------------------------------------------------------------------------------------------

// What a block has released at one address. All of the intervals before its last fence is released; of that interval itself,
// what lies before `ends`.
struct Release {
    uint32_t at = 0, fence = 0;  // intervals
    std::vector<uint16_t> ends;
    // Happens-before is transitive: the releases that the block had acquired before, by their addresses and blocks; where there
    // are too many, all of blocks before `below`.
    std::vector<std::pair<uint64_t, uint32_t>> acquired;
    uint32_t below = 0;
    size_t addresses = 0;        // how many the block had acquired
};
constexpr size_t MOST_CLOCKS = 16384, MOST_ACQUIRED = 256;
static std::unordered_map<uint64_t, std::map<uint32_t, Release>> releases;  // by address, and by the block's first interval
static std::unordered_map<uint64_t, bool> acquired;  // addresses at which this block has acquired
static size_t clocks;                                // kept in `releases`
static uint32_t last_fence;                          // the interval of this block's last __threadfence(), or 0
static VectorClock block_fence_clock;                // of all threads, in that interval

// Call `visit(block, release)` for what other blocks have released at an address; ends early when it returns true.
template <class Visit> static bool any_other_block(uint64_t address, Visit visit) {
    auto blocks = releases.find(address);
    if (blocks == releases.end()) return false;
    for (auto& [block, release] : blocks->second)
        if (block != block_interval && visit(block, release)) return true;
    return false;
}

// Record in a release at `address` what the block has acquired elsewhere.
static void record_acquired(Release& mine, uint64_t address) {
    if (mine.addresses == acquired.size()) return;
    mine.addresses = acquired.size();
    mine.acquired.clear();
    for (auto& [other, _] : acquired) {
        if (other == address) continue;
        bool too_many = any_other_block(other, [&, other = other](uint32_t block, const Release& release) {
            mine.acquired.emplace_back(other, block);
            mine.acquired.insert(mine.acquired.end(), release.acquired.begin(), release.acquired.end());
            mine.below = std::max(mine.below, release.below);
            return mine.acquired.size() > MOST_ACQUIRED;
        });
        if (!too_many) continue;
        mine.acquired.clear();
        mine.below = block_interval;
        return;
    }
    std::sort(mine.acquired.begin(), mine.acquired.end());
    mine.acquired.erase(std::unique(mine.acquired.begin(), mine.acquired.end()), mine.acquired.end());
}

static void release(uint64_t address, unsigned thread) {
    Release& mine = releases[address][block_interval];
    record_acquired(mine, address);
    const VectorClock& clock = last_fence < interval ? block_fence_clock : fence_clocks[thread];
    bool known = clock.in == last_fence;
    mine.at = interval;
    if (mine.fence < last_fence) mine.ends.clear();
    if (mine.ends.empty() && known && ++clocks > MOST_CLOCKS) mine.fence = interval + 1;  // no room: everything is released
    mine.fence = std::max(mine.fence, last_fence);
    if (!known || mine.fence > last_fence) return;
    mine.ends.resize(MAX_THREADS);
    for (unsigned i = 0; i < MAX_THREADS; i++) mine.ends[i] = std::max(mine.ends[i], clock.ends[i]);
}

// Whether what the block that was running then has released at an address passes the test.
template <class Test> static bool released(uint64_t address, uint32_t other_interval, Test test) {
    auto blocks = releases.find(address);
    if (blocks == releases.end()) return false;
    auto after = blocks->second.upper_bound(other_interval);  // the other block began before
    return after != blocks->second.begin() && (--after)->second.at >= other_interval && test(after->second);
}

// The same of an address where this block has acquired since, or where a block has before it released what this one acquired.
template <class Test> static bool any_release(uint32_t other_interval, Test test) {
    for (auto& [address, _] : acquired)
        if (released(address, other_interval, test)) return true;
    for (auto& [address, _] : acquired) {
        bool found = any_other_block(address, [=](uint32_t, const Release& release) {
            if (other_interval < release.below) return true;
            for (auto& [other, block] : release.acquired)
                if (block <= other_interval && released(other, other_interval, test)) return true;
            return false;
        });
        if (found) return true;
    }
    return false;
}

bool block_happens_before(uint32_t other_interval) {
    return any_release(other_interval, [](const Release&) { return true; });
}

bool block_happens_before(uint32_t other_interval, unsigned other, uint16_t clock) {
    return any_release(other_interval, [=](const Release& release) {
        if (other_interval != release.fence) return other_interval < release.fence;
        return !release.ends.empty() && VectorClock::covers(release.ends[other], clock);
    });
}

bool acquired_from_another_block() {
    for (auto& [address, _] : acquired)
        if (any_other_block(address, [](uint32_t block, const Release&) { return block < block_interval; })) return true;
    return false;
}

bool atomics_order() { return last_fence || !releases.empty() || last_fence_of_any_kind == interval; }

// ---- events -----------------------------------------------------------------------------------------------------------

void Clocks::on(const Fence& event) {
    unsigned thread = event.block->current, warp = thread / WARP, lane = thread % WARP;
    auto& clock = warp_clocks[warp];
    VectorClock& before = fence_clocks[thread];
    before.join(thread_clocks[thread]);
    before.add(thread, clock.now);
    uint32_t reached = 1u << lane;  // lanes it has synchronised with, directly or not, from the last tick backward
    for (unsigned back = 0; back < HISTORY && (back < clock.now || clock.wrapped) && ~reached; back++) {
        uint16_t tick = clock.now - back;
        uint32_t lanes = clock.lanes[tick % HISTORY];
        if (!(lanes & reached)) continue;
        for (uint32_t fresh = lanes & ~reached; fresh; fresh &= fresh - 1)
            before.add(warp * WARP + __builtin_ctz(fresh), uint16_t(tick - 1));
        reached |= lanes;
    }
    clock.tick(0);
    last_fence_of_any_kind = interval;
    if (!event.for_all) return;
    if (last_fence != interval) block_fence_clock.in = 0;
    last_fence = interval;
    block_fence_clock.join(before);
}

void Clocks::on_syncwarp(const WarpSync& event) {
    warp_clocks[event.warp].tick(event.group.arrived);
    join_lanes(event.warp, event.group.arrived);
}

void Clocks::on_atomic(const MemoryAccess& event) {
    uint64_t address = reinterpret_cast<uint64_t>(event.access.address);
    unsigned thread = event.block->current;
    if (event.array.space == GLOBAL) {
        if (last_fence) release(address, thread);
        if (!releases.empty()) acquired[address] = true;
    }
    acquire_and_release(address, thread);
}

void Clocks::on(const IntervalBegin&) { interval++; }

static void begin_block_clocks() {
    block_interval = ++interval;
    last_fence = 0;
    acquired.clear();
    release_clocks.clear();
    for (auto& clock : warp_clocks) clock.now = 0, clock.wrapped = false;
}

static void order_all_before() {
    launch_interval = block_interval = ++interval;
    releases.clear();
    clocks = 0;
}

void Clocks::on(const BlockBegin&) { begin_block_clocks(); }
void Clocks::on(const LaunchBegin&) { order_all_before(); }
void Clocks::on(const GridSync&) { order_all_before(); }

// What the block did before lies in its first interval now, and what it does from here on in the next.
void Clocks::on(const BlockResume&) {
    begin_block_clocks();
    interval++;
}

}  // namespace sim
