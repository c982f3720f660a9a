// Meetings of a part of a warp, and all meetings of checked and shuffled runs: lanes that named the same mask.
#include "scheduler.h"

namespace sim {

const char* const OPERATIONS[] = {"a matrix operation", "a shuffle", "a vote", "a match", "a reduction", "__syncwarp()"};

// Lanes that asked who is active: everybody of the warp who could come has come.
bool finish_convergence(Block* block, unsigned warp) {
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

static void finish(Block* block, unsigned warp, Group& group) {
    uint32_t members = group.arrived;
    if (block->mode & CHECKED) {
        unsigned first = __builtin_ctz(members);
        uint32_t missing = group.mask & block->full[warp] & ~members;
        // A GPU waits for lanes that have not returned only, and then a vote is one of those that are left. Where no lane returns
        // early, those that are gone have passed by; and who shuffles with them, or multiplies, gets nothing that is defined.
        bool asks_all = group.operation == ACTION || group.operation == SHUFFLE;
        if (missing && !block->aborted && (asks_all || !returns_early))
            fault(MISSING_LANES, warp * WARP + first, {nullptr, group.site}, NOBODY, {},
                  "the mask 0x%08x names lanes that have returned and never come (0x%08x) to %s", group.mask, missing,
                  OPERATIONS[group.operation]);
        if (group.operation == SYNC) {
            enter_runtime(block);
            check_warp_sync(block, warp, members);
            trace_warp_sync(block, warp, members, group.site.line);
            leave_runtime(block);
        }
    }
    if (group.action) group.action(group.values, members);
    group.members = group.unread = group.values[WARP] = members;
    group.arrived = 0;
    block->runnable[warp] |= members;
}

void finish_meetings(Block* block, unsigned warp) {
    if (block->arrived[warp] && block->arrived[warp] == block->alive[warp]) complete(block, warp);
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
        give_turn(block, me);
    }
    group->unread &= ~(1u << lane);
    if (!group->unread && !group->arrived) block->groups[warp] &= ~(1u << block->my_group[me]);
    return *group;
}

const uint64_t* meet_part(Block* block, unsigned me, uint32_t mask, uint64_t value, int operation, Action action,
                          Site site) {
    unsigned warp = me / WARP, lane = me % WARP;
    if (!(mask >> lane & 1)) {
        if (block->mode & CHECKED)
            fault(MISSING_LANES, me, {nullptr, site}, NOBODY, {},
                  "lane %u calls %s with mask 0x%08x, which does not name lane %u itself", lane, OPERATIONS[operation],
                  mask, lane);
        mask |= 1u << lane;
    }
    Group* group = join(block, warp, mask, false, operation, site);
    if ((block->mode & CHECKED) && group->operation != operation && !block->aborted)
        fault(MISSING_LANES, me, {nullptr, site}, warp * WARP + __builtin_ctz(group->arrived), {nullptr, group->site},
              "lanes of one warp meet in different operations: %s here, %s there", OPERATIONS[operation],
              OPERATIONS[group->operation]);
    if (action) group->action = action;
    return attend(block, me, group, value).values;
}

}  // namespace sim

using namespace sim;

unsigned sim_converge(const char* file, int line) {
    Block* block = sim_block;
    unsigned me = arrive(block, {file, line});
    end_sweep(block);
    return attend(block, me, join(block, me / WARP, 0, true, VOTE, {file, line}), 0).members;
}
