// Synccheck: barriers that not all threads reach, and operations of a warp that lack lanes.
#include "synccheck.h"

namespace sim {

static bool returns_early;
static const char* const OPERATIONS[] = {"a matrix operation", "a shuffle", "a vote", "a match", "a reduction", "__syncwarp()"};

// ---- the block's barrier ----------------------------------------------------------------------------------------------

static void check_same_barrier(Block* block, unsigned me) {
    SourceLine here = block->waits_at[me];
    for (unsigned t = 0; t < block->threads && !block->aborted; t++) {
        if (t == me || !(block->alive[t / WARP] >> (t % WARP) & 1) || block->waits_at[t].line == here.line) continue;
        fault(DIVERGENT_BARRIER, me, {nullptr, here}, t, {nullptr, block->waits_at[t]},
              "threads of one block wait at different __syncthreads(): all of them must come to the same one");
        block->aborted = true;  // from here on threads are out of step: what follows from it is not reported
        break;
    }
}

// Threads that have returned count as arrived for the hardware, but not for CUDA.
static void check_no_thread_returned(const Block* block) {
    if (block->live == block->threads || block->aborted) return;
    unsigned first = 0;
    while (!(block->at_barrier[first / WARP] >> (first % WARP) & 1)) first++;
    fault(MISSED_BARRIER, first, {nullptr, block->waits_at[first]}, NO_THREAD, {},
          "%u of the block's %u threads had already returned when the others waited at this __syncthreads(): every thread of "
          "the block must reach it",
          block->threads - block->live, block->threads);
}

void Synccheck::barrier(Block* block, unsigned last) {
    if (last != NO_THREAD) check_same_barrier(block, last);
    check_no_thread_returned(block);
}

// ---- operations of a warp -----------------------------------------------------------------------------------------------

void Synccheck::warp_arrive(Block* block, unsigned thread, const Arrival& arrival, const Group& group) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    if (!(arrival.mask >> lane & 1))
        fault(MISSING_LANES, thread, {nullptr, arrival.line}, NO_THREAD, {},
              "lane %u calls %s with mask 0x%08x, which does not name lane %u itself", lane, OPERATIONS[arrival.operation],
              arrival.mask, lane);
    if (group.operation != arrival.operation && !block->aborted)
        fault(MISSING_LANES, thread, {nullptr, arrival.line}, warp * WARP + __builtin_ctz(group.arrived), {nullptr, group.line},
              "lanes of one warp meet in different operations: %s here, %s there", OPERATIONS[arrival.operation],
              OPERATIONS[group.operation]);
}

// A GPU waits only for lanes that have not returned, and a vote is one of those that are left. Where no lane returns early,
// those that are gone have reached the end of the kernel. A shuffle or a matrix operation without them is undefined.
void Synccheck::warp_sync(Block* block, unsigned warp, const Group& group) {
    uint32_t missing = group.mask & block->full[warp] & ~group.arrived;
    bool needs_all = group.operation == MATRIX || group.operation == SHUFFLE;
    if (!missing || block->aborted || (!needs_all && returns_early)) return;
    fault(MISSING_LANES, warp * WARP + __builtin_ctz(group.arrived), {nullptr, group.line}, NO_THREAD, {},
          "the mask 0x%08x names lanes that have returned and never come (0x%08x) to %s", group.mask, missing,
          OPERATIONS[group.operation]);
}

void check_shuffle_source(const Block* block, unsigned source, uint32_t members, SourceLine line) {
    if (members >> (source % WARP) & 1 || block->aborted) return;
    fault(MISSING_LANES, {nullptr, line},
          "lane %u takes a value from lane %u, which does not take part in this shuffle: the value is undefined",
          block->current % WARP, source % WARP);
}

// Of lanes that have returned, the operation's own event says so.
void check_full_warp(const Block* block, SourceLine line) {
    uint32_t lanes = block->full[block->current / WARP];
    if (lanes == ~0u || block->aborted) return;
    fault(MISSING_LANES, {nullptr, line},
          "this warp has only %d threads, as the block's size is no multiple of 32: a matrix operation takes all 32 lanes",
          __builtin_popcount(lanes));
}

void Synccheck::launch_begin(const LaunchInfo& info) { returns_early = info.returns_early; }

}  // namespace sim
