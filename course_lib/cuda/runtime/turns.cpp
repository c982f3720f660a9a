// Whose turn it is: the order of lanes and warps, in sweeps, by masks, or shuffled; and what is said when nobody can go on.
#include "scheduler.h"

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

// ---- sweeps -----------------------------------------------------------------------------------------------------------

static uint32_t lanes_before(unsigned lane) { return (1u << lane) - 1; }

// Whether all lanes of a warp that are left can run and are neighbours.
static bool can_sweep(const Block* block, unsigned warp) {
    uint32_t runnable = block->runnable[warp], filled = runnable | lanes_before(__builtin_ctz(runnable));
    return !block->mode && runnable == block->alive[warp] && (filled & (filled + 1)) == 0;
}

void end_sweep(Block* block) {
    if (!sweeping(block)) return;
    unsigned warp = block->warp, lane = block->current % WARP;
    uint32_t before = block->alive[warp] & lanes_before(lane);
    if (block->sweep == AT_BARRIER) {
        block->at_barrier[warp] |= before;
        block->waiting += __builtin_popcount(before);
    } else if (block->sweep == MEETING) {
        block->arrived[warp] |= before;
    } else if (block->sweep == LEAVING) {
        block->alive[warp] &= ~before;
        block->live -= __builtin_popcount(before);
    }
    block->runnable[warp] = block->alive[warp] & ~before & ~(1u << lane);
    block->sweep = NO_SWEEP;
}

// ---- who goes next ----------------------------------------------------------------------------------------------------

// The next runnable lane of a warp after the running thread, round and round.
static unsigned ordered_lane(Block* block, unsigned warp) {
    uint32_t runnable = block->runnable[warp];
    if (warp != block->current / WARP) return __builtin_ctz(runnable);
    uint32_t after = runnable & ~lanes_before(block->current % WARP) << 1;
    return __builtin_ctz(after ? after : runnable);
}

static unsigned enter(Block* block, unsigned warp, unsigned lane) {
    block->warp = warp;
    block->current = warp * WARP + lane;
    block->whole = block->full[warp];
    block->values = block->value[block->phase[warp]][warp];
    return block->current;
}

static bool ordered_turn(Block* block) {
    unsigned here = block->current / WARP;
    for (unsigned step = 0; step < block->warps; step++) {
        unsigned warp = here + step < block->warps ? here + step : here + step - block->warps;
        if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
        uint32_t runnable = block->runnable[warp];
        if (!runnable) {
            if (!block->groups[warp] || !finish_convergence(block, warp)) continue;
            runnable = block->runnable[warp];
        }
        if (can_sweep(block, warp)) {
            block->sweep = OPEN;
            block->last = warp * WARP + 31 - __builtin_clz(runnable);
            block->runnable[warp] = 0;
            enter(block, warp, __builtin_ctz(runnable));
        } else {
            unsigned lane = ordered_lane(block, warp);
            block->runnable[warp] &= ~(1u << lane);
            enter(block, warp, lane);
        }
        return true;
    }
    return false;
}

static bool shuffled_turn(Block* block) {
    uint32_t candidates = 0;
    for (unsigned warp = 0; warp < block->warps; warp++)
        if (block->runnable[warp] || !block->started[warp]) candidates |= 1u << warp;
    for (unsigned warp = 0; warp < block->warps && !candidates; warp++)
        if (finish_convergence(block, warp)) candidates = 1u << warp;
    if (!candidates) return false;
    unsigned warp = random_bit(block, candidates);
    if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
    unsigned lane = random_bit(block, block->runnable[warp]);
    block->runnable[warp] &= ~(1u << lane);
    enter(block, warp, lane);
    return true;
}

static void report_deadlock(Block* block) {
    unsigned at_barrier = 0, in_warp = 0, first_barrier = NOBODY, first_warp = NOBODY;
    for (unsigned t = 0; t < block->threads; t++) {
        if (!(block->alive[t / WARP] >> (t % WARP) & 1)) continue;
        bool barrier = block->at_barrier[t / WARP] >> (t % WARP) & 1;
        unsigned& first = barrier ? first_barrier : first_warp;
        (barrier ? at_barrier : in_warp)++;
        if (first == NOBODY) first = t;
    }
    unsigned who = first_warp != NOBODY ? first_warp : first_barrier;
    bool known = block->mode & CHECKED;  // otherwise nobody has noted where threads wait
    Place place, other;
    if (known) place.site = block->site[who];
    if (known && first_barrier != NOBODY && who != first_barrier) other.site = block->site[first_barrier];
    fault(MISSING_LANES, who, place, other.site.line ? first_barrier : NOBODY, other,
          "%u threads wait in an operation of their warp for lanes that never come (%u threads wait at __syncthreads(), "
          "%u have returned): every lane that the mask names must call it",
          in_warp, at_barrier, block->threads - block->live);
}

unsigned choose(Block* block) {
    block->sweep = NO_SWEEP;
    if (block->mode & SHUFFLED ? shuffled_turn(block) : ordered_turn(block)) return block->current;
    if (!block->aborted) report_deadlock(block);
    go_to(block->main_stack_pointer);  // the block is given up
}

void give_turn(Block* block, unsigned me) {
    unsigned next = choose(block);
    prefetch_stack(block, next + AHEAD - 1);
    if (next != me) switch_stack(&block->stack_pointer[me], block->stack_pointer[next]);
}

void yield(Block* block, unsigned me) {
    if (block->mode & PLAIN) become_fibers(block, me);
    block->runnable[me / WARP] |= 1u << (me % WARP);
    give_turn(block, me);
}

// Make the next thread that can run the current one, round and round, one by one.
static bool next_thread(Block* block, unsigned me) {
    unsigned here = me / WARP;
    uint32_t before = lanes_before(me % WARP);
    for (unsigned step = 0; step <= block->warps; step++) {
        unsigned warp = (here + step) % block->warps;
        if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
        uint32_t lanes = block->runnable[warp] & (step == 0 ? ~before : step == block->warps ? before : ~0u);
        if (!lanes) continue;
        unsigned lane = __builtin_ctz(lanes);
        block->runnable[warp] &= ~(1u << lane);
        enter(block, warp, lane);
        return true;
    }
    return false;
}

// A thread may be waiting in a loop of atomics for what another has still to do.
static void wait_for_others(Block* block) {
    unsigned me = block->mode & PLAIN ? arrive(block, {}) : block->current;
    end_sweep(block);
    if (block->mode & SHUFFLED) return yield(block, me);
    if (!next_thread(block, me)) return;
    block->runnable[me / WARP] |= 1u << (me % WARP);
    switch_stack(&block->stack_pointer[me], block->stack_pointer[block->current]);
}

}  // namespace sim

extern "C" void sim_waits_for_others() {
    constexpr unsigned PATIENCE = 64;
    sim::Block* block = sim_block;
    if (++block->tries % PATIENCE == 0 && block->live > 1) sim::wait_for_others(block);
}
