// The logical clocks of a checked launch: what orders two accesses.
//
// An access has a time of two parts: the barrier interval that it lies in, which all threads of a block share, and the clock of
// its warp, which ticks at each __syncwarp() and fence. With the thread that is an epoch c@t of FastTrack.
#pragma once
#include "events.h"

namespace sim {

// The number of the current barrier interval, of this block's first and of this launch's first. It grows at barriers and from
// block to block, and never falls.
extern uint32_t interval, block_interval, launch_interval;

constexpr unsigned HISTORY = 64;
// The clock of a warp in this block, and which lanes each tick has synchronised: those of a __syncwarp(), none for a fence. It
// wraps around after 65,535; from then on everything within the warp counts as ordered.
struct WarpClock {
    uint16_t now;
    bool wrapped;
    uint32_t lanes[HISTORY];
    void tick(uint32_t synchronised) {
        wrapped |= ++now == 0;
        lanes[now % HISTORY] = synchronised;
    }
};
extern WarpClock warp_clocks[MAX_WARPS];

// Whether what lane `a` did at that clock happens before what lane `b` does now, by way of one __syncwarp() or several.
inline bool warp_ordered(unsigned warp, unsigned a, uint16_t clock, unsigned b) {
    auto& clocks = warp_clocks[warp];
    if (uint16_t(clocks.now - clock) >= HISTORY || clocks.wrapped) return true;
    uint32_t reached = 1u << a;
    for (uint16_t i = clock + 1; uint16_t(clocks.now - i) < HISTORY; i++)
        if (clocks.lanes[i % HISTORY] & reached) reached |= clocks.lanes[i % HISTORY];
    return reached >> b & 1;
}

// The other orders come from fences and atomics (clocks.cpp).
bool atomics_order();  // whether an atomic may release or acquire anything

// Whether what another thread of this block did in this interval (at that clock of its warp) happens before what `thread` does.
bool happens_before(unsigned other, unsigned thread);
bool happens_before(unsigned other, uint16_t clock, unsigned thread);

// Whether what an earlier block did in that interval (its thread `other`, at that clock) happens before what this block does.
bool block_happens_before(uint32_t other_interval);
bool block_happens_before(uint32_t other_interval, unsigned other, uint16_t clock);
bool acquired_from_another_block();  // whether this block has acquired what any other has released

}  // namespace sim
