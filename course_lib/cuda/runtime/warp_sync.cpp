// Operations that synchronise a warp: of the whole warp, beside the fast path of lockstep.h; and of the lanes that named the
// same mask, which all of them are in checked and in shuffled runs.
#include "events.h"
#include "scheduler.h"

namespace sim {

// ---- the whole warp ---------------------------------------------------------------------------------------------------

// All lanes have arrived: run the action for them. Two buffers of values are enough: a lane can only arrive at the operation
// after the next one when all have read this one's.
static void complete(Block* block, unsigned warp) {
    uint32_t phase = block->phase[warp], members = block->arrived[warp];
    uint64_t* values = block->value[phase][warp];
    values[WARP] = members;
    if (Action action = block->action[warp]) {
        action(values, members);
        block->action[warp] = nullptr;
    }
    block->runnable[warp] |= members;
    block->arrived[warp] = 0;
    block->phase[warp] = phase ^ 1;
}

// ---- part of a warp ---------------------------------------------------------------------------------------------------

static void complete(Block* block, unsigned warp, Group& group) {
    uint32_t members = group.arrived;
    emit(WarpSync{block, warp, group});
    if (group.action) group.action(group.values, members);
    group.members = group.unread = group.values[WARP] = members;
    group.arrived = 0;
    block->runnable[warp] |= members;
}

static bool all_arrived(const Block* block, unsigned warp, const Group& group) {
    return !group.converge && group.arrived == (group.mask & block->alive[warp]);
}

void release_waiting_lanes(Block* block, unsigned warp) {
    if (block->arrived[warp] && block->arrived[warp] == block->alive[warp]) complete(block, warp);
    for (uint32_t left = block->groups[warp]; left; left &= left - 1) {
        Group& group = block->group[warp][__builtin_ctz(left)];
        if (group.arrived && all_arrived(block, warp, group)) complete(block, warp, group);
    }
}

static Group* join(Block* block, unsigned warp, uint32_t mask, bool converge, int operation, SourceLine line) {
    for (uint32_t left = block->groups[warp]; left; left &= left - 1) {
        Group& group = block->group[warp][__builtin_ctz(left)];
        if (group.arrived && group.converge == converge && group.mask == mask &&
            (!converge || group.line.line == line.line))
            return &group;
    }
    unsigned number = __builtin_ctz(~block->groups[warp]);  // 32 groups are enough: a lane is in one at a time
    block->groups[warp] |= 1u << number;
    Group* group = &block->group[warp][number];
    group->arrived = group->unread = 0;
    group->mask = mask;
    group->converge = converge;
    group->operation = operation;
    group->line = line;
    group->action = nullptr;
    return group;
}

void leave_group(Block* block, unsigned me) {
    unsigned warp = me / WARP, number = block->my_group[me];
    Group& group = block->group[warp][number];
    group.unread &= ~(1u << me % WARP);
    if (!group.unread && !group.arrived) block->groups[warp] &= ~(1u << number);
}

static Group& wait_for(Block* block, unsigned me, Group* group, uint64_t value) {
    unsigned warp = me / WARP, lane = me % WARP;
    block->my_group[me] = group - block->group[warp];
    group->values[lane] = value;
    group->arrived |= 1u << lane;
    if (all_arrived(block, warp, *group)) {
        complete(block, warp, *group);
        block->runnable[warp] &= ~(1u << lane);
    } else {
        yield_from(block, me);
    }
#if !defined(__wasm__)  // a coroutine waits when all this has returned, and leaves its group then (lockstep.h)
    leave_group(block, me);
#endif
    return *group;
}

static const uint64_t* sync_part(Block* block, unsigned me, uint32_t mask, uint64_t value, int operation, Action action,
                                 SourceLine line) {
    Group* group = join(block, me / WARP, mask | 1u << me % WARP, false, operation, line);
    emit(WarpArrive{block, me, mask, operation, line, *group});
    if (action) group->action = action;
    return wait_for(block, me, group, value).values;
}

}  // namespace sim

using namespace sim;

const uint64_t* sim_warp_sync(unsigned mask, uint64_t value, int operation, Action action, const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, {file, line}), warp = block->warp;
    if (block->mode || block->full_mask & ~mask) {
        diverge(block);
        return sync_part(block, me, mask & block->full_mask, value, operation, action, {file, line});
    }
    uint64_t* values = block->values;
    uint32_t lanes = 1u << (me % WARP);
    values[me % WARP] = value;
    if (action) block->action[warp] = action;
    if (block->lockstep == FIRST_LANE || block->lockstep == AT_WARP_SYNC) {
        block->lockstep = AT_WARP_SYNC;
        if (me != block->last) {
            next_lane(block, me);
            return values;
        }
        lanes = block->alive[warp];
    } else {
        diverge(block);
    }
    block->arrived[warp] |= lanes;
    if (block->arrived[warp] == block->alive[warp]) complete(block, warp);
    yield_from(block, me);
    return values;
}

unsigned sim_converge(const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, {file, line});
    diverge(block);
    return wait_for(block, me, join(block, me / WARP, 0, true, VOTE, {file, line}), 0).members;
}
