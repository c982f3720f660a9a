// Which thread runs next: warps in lockstep, lane by lane, or in a shuffled order; and the report of a deadlock.
#include "scheduler.h"

extern "C" {
extern SIM_PER_WORKER sim::Index sim_thread_idx SIM_TLS;
}

namespace sim {

static uint64_t random(Block* block) {  // xorshift64*
    uint64_t x = block->random;
    x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
    block->random = x;
    return x * 2685821657736338717ull;
}

uint64_t mix(uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

static unsigned random_bit(Block* block, uint32_t mask) {
    for (unsigned skip = random(block) % __builtin_popcount(mask); skip; skip--) mask &= mask - 1;
    return __builtin_ctz(mask);
}

// ---- warps in lockstep ------------------------------------------------------------------------------------------------

static uint32_t lanes_before(unsigned lane) { return (1u << lane) - 1; }

// Whether all lanes of a warp that are left can run, and no returned lane lies between them.
static bool in_lockstep(const Block* block, unsigned warp) {
    uint32_t runnable = block->runnable[warp], filled = runnable | lanes_before(__builtin_ctz(runnable));
    return !block->mode && runnable == block->alive[warp] && (filled & (filled + 1)) == 0;
}

void diverge(Block* block) {
    if (block->lockstep == DIVERGED) return;
    unsigned warp = block->warp, lane = block->current % WARP;
    uint32_t before = block->alive[warp] & lanes_before(lane);
    if (block->lockstep == AT_BARRIER) {
        block->at_barrier[warp] |= before;
        block->waiting += __builtin_popcount(before);
    } else if (block->lockstep == AT_WARP_SYNC) {
        block->arrived[warp] |= before;
    } else if (block->lockstep == RETURNING) {
        block->alive[warp] &= ~before;
        block->live -= __builtin_popcount(before);
    }
    block->runnable[warp] = block->alive[warp] & ~before & ~(1u << lane);
    block->lockstep = DIVERGED;
}

// ---- the next thread --------------------------------------------------------------------------------------------------

static void enter(Block* block, unsigned warp, unsigned lane) {
    block->warp = warp;
    block->current = warp * WARP + lane;
    block->full_mask = block->full[warp];
    block->values = block->value[block->phase[warp]][warp];
}

// The same, of a lane that has diverged from the others.
static void enter_alone(Block* block, unsigned warp, unsigned lane) {
    block->runnable[warp] &= ~(1u << lane);
    enter(block, warp, lane);
}

// Lanes in __activemask(): when no other lane of the warp can run, all that could join them have arrived.
static bool converge(Block* block, unsigned warp) {
    bool any = false;
    for (uint32_t left = block->groups[warp]; left; left &= left - 1) {
        Group& group = block->group[warp][__builtin_ctz(left)];
        if (!group.converge || !group.arrived) continue;
        group.members = group.unread = group.arrived;
        block->runnable[warp] |= group.arrived;
        group.arrived = 0;
        any = true;
    }
    return any;
}

// The next runnable lane of a warp after the running thread, round robin.
static unsigned next_lane_of(Block* block, unsigned warp) {
    uint32_t runnable = block->runnable[warp];
    if (warp != block->current / WARP) return __builtin_ctz(runnable);
    uint32_t after = runnable & ~lanes_before(block->current % WARP) << 1;
    return __builtin_ctz(after ? after : runnable);
}

static bool choose_in_order(Block* block) {
    unsigned here = block->current / WARP;
    for (unsigned step = 0; step < block->warps; step++) {
        unsigned warp = here + step < block->warps ? here + step : here + step - block->warps;
        if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
        uint32_t runnable = block->runnable[warp];
        if (!runnable) {
            if (!block->groups[warp] || !converge(block, warp)) continue;
            runnable = block->runnable[warp];
        }
        if (in_lockstep(block, warp)) {
            block->lockstep = FIRST_LANE;
            block->last = warp * WARP + 31 - __builtin_clz(runnable);
            block->runnable[warp] = 0;
            enter(block, warp, __builtin_ctz(runnable));
        } else {
            enter_alone(block, warp, next_lane_of(block, warp));
        }
        return true;
    }
    return false;
}

static bool choose_shuffled(Block* block) {
    uint32_t candidates = 0;
    for (unsigned warp = 0; warp < block->warps; warp++)
        if (block->runnable[warp] || !block->started[warp]) candidates |= 1u << warp;
    for (unsigned warp = 0; warp < block->warps && !candidates; warp++)
        if (converge(block, warp)) candidates = 1u << warp;
    if (!candidates) return false;
    unsigned warp = random_bit(block, candidates);
    if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
    enter_alone(block, warp, random_bit(block, block->runnable[warp]));
    return true;
}

static void report_deadlock(Block* block) {
    unsigned at_barrier = 0, in_warp = 0, first_barrier = NO_THREAD, first_warp = NO_THREAD;
    for (unsigned t = 0; t < block->threads; t++) {
        if (!(block->alive[t / WARP] >> (t % WARP) & 1)) continue;
        bool barrier = block->at_barrier[t / WARP] >> (t % WARP) & 1;
        unsigned& first = barrier ? first_barrier : first_warp;
        (barrier ? at_barrier : in_warp)++;
        if (first == NO_THREAD) first = t;
    }
    unsigned thread = first_warp != NO_THREAD ? first_warp : first_barrier;
    bool known = block->mode & CHECKED;  // the fast build does not record where threads wait
    CodeLocation location, other;
    if (known) location.line = block->waits_at[thread];
    if (known && first_barrier != NO_THREAD && thread != first_barrier) other.line = block->waits_at[first_barrier];
    fault(MISSING_LANES, thread, location, other.line.line ? first_barrier : NO_THREAD, other,
          "%u threads wait in an operation of their warp for lanes that never come (%u threads wait at __syncthreads(), "
          "%u have returned): every lane that the mask names must call it",
          in_warp, at_barrier, block->threads - block->live);
}

unsigned choose(Block* block) {
    block->lockstep = DIVERGED;
    if (block->mode & SHUFFLED ? choose_shuffled(block) : choose_in_order(block)) return block->current;
    if (!block->aborted) report_deadlock(block);
    return give_up(block);
}

void yield_from(Block* block, unsigned me) {
    unsigned next = choose(block);
    prefetch_stack(block, next + AHEAD - 1);
    if (next != me) switch_stack(&block->stack_pointer[me], block->stack_pointer[next]);
}

void yield(Block* block, unsigned me) {
    if (block->mode & PLAIN) become_fibers(block, me);
    block->runnable[me / WARP] |= 1u << (me % WARP);
    yield_from(block, me);
}

unsigned arrive(Block* block, SourceLine line) {
    if (block->mode & PLAIN) {
        const Index size = block->launch->block, index = sim_thread_idx;
        become_fibers(block, block->mode & CHECKED ? block->current : (index.z * size.y + index.y) * size.x + index.x);
    }
    if (block->mode & CHECKED) block->waits_at[block->current] = line;
    return block->current;
}

// ---- spin loops -------------------------------------------------------------------------------------------------------

// Make the next thread that can run the current one, round robin over the whole block.
static bool choose_next_thread(Block* block, unsigned me) {
    unsigned here = me / WARP;
    uint32_t before = lanes_before(me % WARP);
    for (unsigned step = 0; step <= block->warps; step++) {
        unsigned warp = (here + step) % block->warps;
        if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
        uint32_t lanes = block->runnable[warp] & (step == 0 ? ~before : step == block->warps ? before : ~0u);
        if (!lanes) continue;
        enter_alone(block, warp, __builtin_ctz(lanes));
        return true;
    }
    return false;
}

static void let_others_run(Block* block) {
    unsigned me = block->mode & PLAIN ? arrive(block, {}) : block->current;
    diverge(block);
    if (block->mode & SHUFFLED) return yield(block, me);
    if (!choose_next_thread(block, me)) return;
    block->runnable[me / WARP] |= 1u << (me % WARP);
    switch_stack(&block->stack_pointer[me], block->stack_pointer[block->current]);
}

}  // namespace sim

// Called after an atomic that changed nothing: the thread may be spinning until another thread has done its part.
extern "C" void sim_may_spin() {
    constexpr unsigned PATIENCE = 64;
    sim::Block* block = sim_block;
    if (++block->idle_atomics % PATIENCE == 0 && block->live > 1) sim::let_others_run(block);
}
