// Synccheck: barriers that not all threads reach, and operations of a warp that lack lanes.
#include "events.h"

namespace sim {

static bool returns_early;
static const char* const OPERATIONS[] = {"a matrix operation", "a shuffle",  "a vote", "a match",
                                         "a reduction",        "__syncwarp()"};

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

void Synccheck::on(const Barrier& event) {
    if (event.last != NO_THREAD) check_same_barrier(event.block, event.last);
    check_no_thread_returned(event.block);
}

// ---- operations of a warp -----------------------------------------------------------------------------------------------

void Synccheck::report(const WarpArrive& event) {
    unsigned warp = event.thread / WARP, lane = event.thread % WARP;
    if (!(event.mask >> lane & 1))
        fault(MISSING_LANES, event.thread, {nullptr, event.line}, NO_THREAD, {},
              "lane %u calls %s with mask 0x%08x, which does not name lane %u itself", lane, OPERATIONS[event.operation],
              event.mask, lane);
    const Group& group = event.group;
    if (group.operation != event.operation && !event.block->aborted)
        fault(MISSING_LANES, event.thread, {nullptr, event.line}, warp * WARP + __builtin_ctz(group.arrived),
              {nullptr, group.line}, "lanes of one warp call different operations: %s here, %s there",
              OPERATIONS[event.operation], OPERATIONS[group.operation]);
}

// A GPU waits only for lanes that have not returned, and a vote is one of those that are left. Where no lane returns early,
// those that are gone have reached the end of the kernel. A shuffle or a matrix operation without them is undefined.
void Synccheck::report(const WarpSync& event, uint32_t missing) {
    const Group& group = event.group;
    bool needs_all = group.operation == MATRIX || group.operation == SHUFFLE;
    if (event.block->aborted || (!needs_all && returns_early)) return;
    fault(MISSING_LANES, event.warp * WARP + __builtin_ctz(group.arrived), {nullptr, group.line}, NO_THREAD, {},
          "the mask 0x%08x of %s names lanes that skip it%s (0x%08x)", group.mask, OPERATIONS[group.operation],
          returns_early ? " or have returned" : "", missing);
}

void Synccheck::report(const Shuffle& event) {
    if (event.block->aborted) return;
    fault(MISSING_LANES, {nullptr, event.line},
          "lane %u takes a value from lane %u, which does not take part in this shuffle: the value is undefined",
          event.block->current % WARP, event.source % WARP);
}

// Of lanes that have returned, the warp's event says so.
void Synccheck::on(const MatrixOperation& event) {
    uint32_t lanes = event.block->full[event.block->current / WARP];
    if (lanes == ~0u || event.block->aborted) return;
    fault(MISSING_LANES, {nullptr, event.line},
          "this warp has only %d threads, as the block's size is no multiple of 32: a matrix operation takes all 32 lanes",
          __builtin_popcount(lanes));
}

void Synccheck::on(const LaunchBegin& event) { returns_early = event.returns_early; }

}  // namespace sim
