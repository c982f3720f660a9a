// Run one block: first as a plain loop over its threads, and from the first thread that must wait on as fibers.
//
// The loop itself runs on a fiber stack. A kernel that never waits is thus a loop that the compiler can vectorise; for
// one that waits, the loop's stack is frozen in the middle and becomes that thread's, and the others get stacks too.
// Here are the slow, general forms of waiting; the fast forms of the common cases are in turns.h.
#include <cstdio>

#include "runtime.h"
#include "turns.h"

extern "C" {
__thread sim::Block* sim_block SIM_TLS = nullptr;
// threadIdx, blockIdx, blockDim and gridDim of kernels that may wait, and whether the plain loop has been left.
__thread sim::Index sim_thread_idx SIM_TLS, sim_block_idx SIM_TLS, sim_block_dim SIM_TLS, sim_grid_dim SIM_TLS;
__thread bool sim_waited SIM_TLS;
}

namespace sim {

void open_stack_set(Block*, unsigned set);

static uint64_t random(Block* block) {  // xorshift64*
    uint64_t x = block->random;
    x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
    block->random = x;
    return x * 2685821657736338717ull;
}

static uint64_t mix(uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

static unsigned random_bit(Block* block, uint32_t mask) {
    for (unsigned skip = random(block) % __builtin_popcount(mask); skip; skip--) mask &= mask - 1;
    return __builtin_ctz(mask);
}

unsigned running_thread(Block* block) { return block->current; }

// ---- starting and ending threads --------------------------------------------------------------------------------------

[[noreturn]] static void go_to(void* stack_pointer) {
    void* forgotten;
    switch_stack(&forgotten, stack_pointer);
    __builtin_unreachable();
}

// The first function on every fiber but the plain loop's.
static void thread_main() {
    volatile char keep_clear[64];  // start_warp writes here while the last thread on this stack is leaving it
    keep_clear[0] = 0;
    Block* block = sim_block;
    block->run(block->launch, block->index, block->current, block->current + 1);
    leave_thread(block);
}

static void plain_main() {
    volatile char keep_clear[64];
    keep_clear[0] = 0;
    Block* block = sim_block;
    block->run(block->launch, block->index, 0, block->threads);
    if (block->slow & PLAIN) go_to(block->main_stack_pointer);
    block->current = block->frozen;
    leave_thread(block);
}

static unsigned take_stacks(Block* block) {
    unsigned set = __builtin_ctz(block->free_stacks);
    block->free_stacks &= ~(1u << set);
    open_stack_set(block, set);
    return set;
}

static void start_warp(Block* block, unsigned warp, uint32_t lanes) {
    if (!block->started[warp]) block->stacks[warp] = take_stacks(block);
    block->started[warp] = true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = __builtin_ctz(left);
        block->stack_pointer[warp * WARP + lane] = new_stack(stack_top(block, warp, lane), thread_main);
    }
    block->runnable[warp] |= lanes;
}

void become_fibers(Block* block, unsigned thread) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    block->slow &= ~PLAIN;
    sim_waited = true;  // tells the plain loop that it has been left
    block->frozen = block->current = thread;
    block->warp = warp;
    block->live = block->threads - thread;
    for (unsigned w = 0; w < warp; w++) block->alive[w] = 0, block->started[w] = true;
    block->alive[warp] &= ~0u << lane;
    // The frozen stack belongs to set 0, lane 0: lanes before `thread` have returned, so that lane's stack is free.
    block->started[warp] = true;
    block->stacks[warp] = 0;
    start_warp(block, warp, block->alive[warp] & ~(1u << lane));
}

static void finish_meetings(Block* block, unsigned warp);

__attribute__((noinline)) void leave_thread(Block* block) {
    unsigned me = block->current, warp = me / WARP;
    if (block->slow & CHECKED) check_thread_end(block, me);
    block->alive[warp] &= ~(1u << (me % WARP));
    block->live--;
    if (!block->alive[warp]) block->free_stacks |= 1u << block->stacks[warp];
    if (block->live == 0) go_to(block->main_stack_pointer);
    if (block->waiting && block->waiting == block->live) {
        if ((block->slow & CHECKED) && !block->aborted) {
            for (unsigned t = 0; t < block->threads; t++) {
                if (!(block->alive[t / WARP] >> (t % WARP) & 1)) continue;
                fault(MISSED_BARRIER, t, {nullptr, block->site[t]}, me, {},
                      "%u of the block's %u threads had already returned when the others waited at this "
                      "__syncthreads(): every thread of the block must reach it",
                      block->threads - block->live, block->threads);
                break;
            }
        }
        if (block->slow & CHECKED) check_barrier(block);
        sim_open_barrier(block);
    }
    finish_meetings(block, warp);
    uint32_t runnable = block->runnable[warp];
    unsigned next;
    if (runnable && !(block->slow & SHUFFLED)) {
        unsigned lane = __builtin_ctz(runnable);
        block->runnable[warp] = runnable & ~(1u << lane);
        next = warp * WARP + lane;
    } else {
        next = sim_next_warp(block);
    }
    block->current = next;
    block->warp = next / WARP;
    go_to(block->stack_pointer[next]);
}

// ---- nobody can go on -------------------------------------------------------------------------------------------------

static const char* const OPERATIONS[] = {"a matrix operation", "a shuffle", "a vote", "a match", "a reduction", "__syncwarp()"};

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
    Place other{};
    if (first_barrier != NOBODY && who != first_barrier) other.site = block->site[first_barrier];
    fault(MISSING_LANES, who, {nullptr, block->site[who]}, other.site.line ? first_barrier : NOBODY, other,
          "%u threads wait in an operation of their warp for lanes that never come (%u threads wait at __syncthreads(), "
          "%u have returned): every lane that the mask names must call it",
          in_warp, at_barrier, block->threads - block->live);
}

// ---- whose turn -------------------------------------------------------------------------------------------------------

// Lanes that asked who is active: everybody of the warp who could come has come.
static bool finish_convergence(Block* block, unsigned warp) {
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

static unsigned shuffled_turn(Block* block) {
    uint32_t candidates = 0;
    for (unsigned warp = 0; warp < block->warps; warp++)
        if (block->runnable[warp] || !block->started[warp]) candidates |= 1u << warp;
    if (!candidates) return NOBODY;
    unsigned warp = random_bit(block, candidates);
    if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
    unsigned lane = random_bit(block, block->runnable[warp]);
    block->runnable[warp] &= ~(1u << lane);
    return warp * WARP + lane;
}

static unsigned ordered_turn(Block* block) {
    unsigned here = block->current / WARP;
    for (unsigned step = 0; step < block->warps; step++) {
        unsigned warp = here + step < block->warps ? here + step : here + step - block->warps;
        if (!block->started[warp]) start_warp(block, warp, block->alive[warp]);
        uint32_t runnable = block->runnable[warp];
        if (!runnable) {
            if (!finish_convergence(block, warp)) continue;
            runnable = block->runnable[warp];
        }
        block->runnable[warp] = runnable & (runnable - 1);
        return warp * WARP + __builtin_ctz(runnable);
    }
    return NOBODY;
}

static unsigned next_turn(Block* block) {
    if (!(block->slow & SHUFFLED)) return ordered_turn(block);
    unsigned next = shuffled_turn(block);
    if (next != NOBODY) return next;
    for (unsigned warp = 0; warp < block->warps; warp++)
        if (finish_convergence(block, warp)) return shuffled_turn(block);
    return NOBODY;
}

// Give the turn away in a checked or shuffled run.
static void wait_turn(Block* block, unsigned me) {
    unsigned next = NOBODY;
    if (!(block->slow & SHUFFLED)) {
        uint32_t runnable = block->runnable[me / WARP];
        if (runnable) {
            uint32_t after = runnable & ((~0u << (me % WARP)) << 1);
            unsigned lane = __builtin_ctz(after ? after : runnable);
            block->runnable[me / WARP] &= ~(1u << lane);
            next = me / WARP * WARP + lane;
        }
    }
    if (next == NOBODY) next = sim_next_warp(block);
    block->current = next;
    block->warp = next / WARP;
    if (next == me) return;
    switch_stack(&block->stack_pointer[me], block->stack_pointer[next]);
}

void yield(Block* block, unsigned me) {
    if (block->slow & PLAIN) become_fibers(block, me);
    block->runnable[me / WARP] |= 1u << (me % WARP);
    wait_turn(block, me);
}

// ---- meetings of a part of a warp ---------------------------------------------------------------------------------------

static void finish(Block* block, unsigned warp, Group& group) {
    uint32_t members = group.arrived;
    if (block->slow & CHECKED) {
        unsigned first = __builtin_ctz(members);
        uint32_t missing = group.mask & block->full[warp] & ~members;
        if (missing && !block->aborted)
            fault(MISSING_LANES, warp * WARP + first, {nullptr, group.site}, NOBODY, {},
                  "the mask 0x%08x names lanes that have returned and never come (0x%08x) to %s", group.mask, missing,
                  OPERATIONS[group.operation]);
        if (group.operation == SYNC) check_warp_sync(block, warp, members);
    }
    if (group.action) group.action(group.values, members);
    group.members = group.unread = members;
    group.arrived = 0;
    block->runnable[warp] |= members;
}

static void finish_meetings(Block* block, unsigned warp) {
    if (block->arrived[warp] && block->arrived[warp] == block->alive[warp]) complete(block, warp, block->alive[warp]);
    for (uint32_t left = block->groups[warp]; left; left &= left - 1) {
        Group& group = block->group[warp][__builtin_ctz(left)];
        if (group.arrived && !group.converge && group.arrived == (group.mask & block->alive[warp]))
            finish(block, warp, group);
    }
}

static Group* join(Block* block, unsigned warp, uint32_t mask, bool converge, int operation, Site site) {
    for (uint32_t left = block->groups[warp]; left; left &= left - 1) {
        Group& group = block->group[warp][__builtin_ctz(left)];
        if (group.arrived && group.converge == converge && group.mask == mask &&
            (!converge || group.site.line == site.line))
            return &group;
    }
    unsigned number = __builtin_ctz(~block->groups[warp]);  // 32 groups are enough: a lane attends one at a time
    block->groups[warp] |= 1u << number;
    Group* free = &block->group[warp][number];
    free->arrived = free->unread = 0;
    free->mask = mask;
    free->converge = converge;
    free->operation = operation;
    free->site = site;
    free->action = nullptr;
    return free;
}

static Group& attend(Block* block, unsigned me, Group* group, uint64_t value) {
    unsigned warp = me / WARP, lane = me % WARP;
    block->my_group[me] = group - block->group[warp];
    group->values[lane] = value;
    group->arrived |= 1u << lane;
    if (!group->converge && group->arrived == (group->mask & block->alive[warp])) {
        finish(block, warp, *group);
        block->runnable[warp] &= ~(1u << lane);
    } else {
        wait_turn(block, me);
    }
    group->unread &= ~(1u << lane);
    if (!group->unread && !group->arrived) block->groups[warp] &= ~(1u << block->my_group[me]);
    return *group;
}

static unsigned arrive(Block* block, unsigned thread, Site site) {
    if (block->slow & PLAIN) become_fibers(block, thread);
    block->site[block->current] = site;
    return block->current;
}

}  // namespace sim

using namespace sim;

void sim_open_barrier(Block* block) {
    for (unsigned warp = 0; warp < block->warps; warp++) {
        block->runnable[warp] |= block->at_barrier[warp];
        block->at_barrier[warp] = 0;
    }
    block->waiting = 0;
    block->barriers++;
    block->votes[block->barriers % 2] = 0;
}

unsigned sim_next_warp(Block* block) {
    unsigned next = next_turn(block);
    if (next != NOBODY) {
        block->warp = next / WARP;
        return next;
    }
    if (!block->aborted) report_deadlock(block);
    go_to(block->main_stack_pointer);  // the block is given up
}

void sim_barrier(unsigned thread, const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, thread, {file, line});
    if (++block->waiting < block->live) {
        block->at_barrier[me / WARP] |= 1u << (me % WARP);
        return wait_turn(block, me);
    }
    if (block->slow & CHECKED) {
        for (unsigned t = 0; t < block->threads && !block->aborted; t++) {
            if (t == me || !(block->alive[t / WARP] >> (t % WARP) & 1) || block->site[t].line == line) continue;
            fault(DIVERGENT_BARRIER, me, {nullptr, {file, line}}, t, {nullptr, block->site[t]},
                  "threads of one block wait at different __syncthreads(): all of them must come to the same one");
            break;
        }
        check_barrier(block);
    }
    sim_open_barrier(block);
}

void sim_meet(unsigned thread, unsigned mask, uint64_t value, int operation, Action action, uint64_t* values,
              const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, thread, {file, line}), warp = me / WARP, lane = me % WARP;
    mask &= block->full[warp];
    if (!block->slow && mask == block->full[warp]) {  // the block's first wait: from here on the fast path
        const uint64_t* met = operation == ACTION ? meet<ACTION>(thread, mask, value, action, values, file, line)
                                                  : meet<SHUFFLE>(thread, mask, value, action, values, file, line);
        memcpy(values, met, WARP * sizeof *met);
        return;
    }
    if (!(mask >> lane & 1)) {
        if (block->slow & CHECKED)
            fault(MISSING_LANES, me, {nullptr, {file, line}}, NOBODY, {},
                  "lane %u calls %s with mask 0x%08x, which does not name lane %u itself", lane, OPERATIONS[operation],
                  mask, lane);
        mask |= 1u << lane;
    }
    Group* group = join(block, warp, mask, false, operation, {file, line});
    if ((block->slow & CHECKED) && group->operation != operation && !block->aborted)
        fault(MISSING_LANES, me, {nullptr, {file, line}}, warp * WARP + __builtin_ctz(group->arrived), {nullptr, group->site},
              "lanes of one warp meet in different operations: %s here, %s there", OPERATIONS[operation],
              OPERATIONS[group->operation]);
    if (action) group->action = action;
    Group& met = attend(block, me, group, value);
    memcpy(values, met.values, sizeof met.values);
    if ((block->slow & CHECKED) && operation == SHUFFLE) values[WARP] = met.members;
}

unsigned sim_converge(unsigned thread, const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, thread, {file, line});
    return attend(block, me, join(block, me / WARP, 0, true, VOTE, {file, line}), 0).members;
}

namespace sim {

// The order of blocks in a shuffled run: a fixed permutation of 0..count-1 (walks a Feistel network until in range).
static uint64_t shuffled(uint64_t number, uint64_t count, uint64_t seed) {
    unsigned half = 1;
    while ((1ull << (2 * half)) < count) half++;
    uint64_t low = (1ull << half) - 1;
    do {
        uint64_t left = number >> half, right = number & low;
        for (int round = 0; round < 3; round++) {
            uint64_t next = left ^ (mix(right + seed * 3 + round) & low);
            left = right;
            right = next;
        }
        number = left << half | right;
    } while (number >= count);
    return number;
}

void run_block(Block* block, const Launch* launch, Run run, uint64_t number) {
    const Index grid = launch->grid, size = launch->block;
    if (launch->seed) number = shuffled(number, uint64_t(grid.x) * grid.y * grid.z, launch->seed);
    block->run = run;
    block->launch = launch;
    block->linear = number;
    block->runs++;
    block->index = {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
    block->threads = block->live = size.x * size.y * size.z;
    block->warps = (block->threads + WARP - 1) / WARP;
    block->slow = PLAIN | (launch->checked ? CHECKED : 0) | (launch->seed ? SHUFFLED : 0);
    block->random = mix(launch->seed + number) | 1;
    block->current = block->warp = block->waiting = block->barriers = 0;
    block->votes[0] = block->votes[1] = 0;
    block->aborted = false;
    block->free_stacks = ~1u;  // set 0 is the plain loop's
    for (unsigned warp = 0; warp < block->warps; warp++) {
        unsigned left = block->threads - warp * WARP;
        block->full[warp] = block->alive[warp] = left >= WARP ? ~0u : (1u << left) - 1;
        block->runnable[warp] = block->at_barrier[warp] = block->arrived[warp] = block->phase[warp] = 0;
        block->action[warp] = nullptr;
        block->started[warp] = false;
        block->groups[warp] = 0;
    }
    open_stack_set(block, 0);
    if (block->slow & CHECKED) check_block_begin(block);
    block->stacks[0] = 0;
    char* top = stack_top(block, 0, 0);
    if (launch->seed) {  // no plain loop: any thread may be the first
        block->slow &= ~PLAIN;
        block->free_stacks = ~0u;
        block->current = next_turn(block);
        block->warp = block->current / WARP;
        switch_stack(&block->main_stack_pointer, block->stack_pointer[block->current]);
    } else {
        switch_stack(&block->main_stack_pointer, new_stack(top, plain_main));
    }
    if (block->slow & CHECKED) check_barrier(block);
}

}  // namespace sim
