// What ptx.h and mma.h ask before copies that do not wait, and before matrix operations: what a GPU demands of their places.
#include <cstring>

#include "counters.h"
#include "homes.h"
#include "shadow.h"

namespace sim {

// End the thread unless the address lies in memory of this kind; `subject` names what lies there, `rule` says why not. Of an
// address where nothing lies the access itself tells.
static void must_lie_in(Memory wanted, const void* address, Place place, const char* subject, const char* rule) {
    static const char* const MEMORIES[] = {"global memory", "__shared__ memory", "a thread's local memory"};
    Home home = home_of(static_cast<const char*>(address));
    if (home.memory == wanted || home.memory == NOWHERE) return;
    Block* block = sim_block;
    enter_runtime(block);
    bool named = home.name[0];
    fault(OUT_OF_BOUNDS, block->current, place, NOBODY, {}, "%s lies in %s%s%s%s: %s", subject, MEMORIES[home.memory],
          named ? " ('" : "", home.name, named ? "')" : "", rule);
    end_thread(block);
}

}  // namespace sim

using namespace sim;

extern "C" {

// A copy may read and write at any time from its issue to its wait: both ends are noted then and there, with the issue's place,
// and in between its destination counts as unwritten. Returns the place.
void* sim_check_issue(void* to, void* from, unsigned bytes) {
    void* pc = __builtin_return_address(0);
    must_lie_in(IN_SHARED, to, {pc, {}}, "the destination of this copy",
                "it must lie in __shared__ memory, or a GPU writes to a wrong address");
    must_lie_in(IN_GLOBAL, from, {pc, {}}, "the source of this copy",
                "it must lie in global memory, or a GPU reads from a wrong address");
    check(static_cast<char*>(from), bytes, false, false, pc, true);
    check(static_cast<char*>(to), bytes, true, false, pc, true);
    Counter* counter = quick_counter(pc, true);
    uint64_t offset = static_cast<char*>(to) - counter->data;
    if (counter->pc == pc && offset <= counter->last)
        for (unsigned i = 0; i < bytes / 4; i++) counter->shadow[offset / 4 + i].written = 0;
    return pc;
}

// `words`: what was read at the issue.
void sim_check_landing(void* to, void* from, const unsigned* words, unsigned bytes, void* pc) {
    check(static_cast<char*>(from), bytes, false, false, pc, true, false);
    check(static_cast<char*>(to), bytes, true, false, pc, true, false);
    Block* block = sim_block;
    if (memcmp(from, words, bytes) == 0 || block->aborted) return;
    fault(RACE, block->current, {pc, {}}, NOBODY, {},
          "the source of this copy is overwritten before the copy has been waited for: a GPU copies the old or the new value");
}

void sim_check_row(const void* row) {
    must_lie_in(IN_SHARED, row, {__builtin_return_address(0), {}}, "the row that this lane names",
                "ldmatrix reads only __shared__ memory, and a GPU reads from a wrong address there");
}

// The tile that a warp loads or stores as a fragment; its rows (or columns) are `stride` elements apart.
void sim_check_tile(const void* tile, unsigned stride, unsigned bytes, const char* file, int line) {
    Home home = home_of(static_cast<const char*>(tile));
    uint64_t offset = static_cast<const char*>(tile) - home.start, apart = uint64_t(stride) * bytes;
    if (home.memory == NOWHERE || (offset % 32 == 0 && apart % 16 == 0)) return;
    Block* block = sim_block;
    enter_runtime(block);
    if (apart % 16)
        fault(MISALIGNED, block->current, {nullptr, {file, line}}, NOBODY, {},
              "the rows of this tile of '%s' are %u elements (%llu bytes) apart: a GPU takes only multiples of %u elements "
              "(16 bytes), padding included",
              home.name, stride, (unsigned long long)apart, 16 / bytes);
    else
        fault(MISALIGNED, block->current, {nullptr, {file, line}}, NOBODY, {},
              "this tile begins %llu bytes after the start of '%s': a GPU takes only tiles that begin at multiples of 32 bytes",
              (unsigned long long)offset, home.name);
    end_thread(block);
}

// Of lanes that have returned, the meeting itself has told.
void sim_check_warp(const char* file, int line) {
    Block* block = sim_block;
    uint32_t lanes = block->full[block->current / WARP];
    if (lanes == ~0u || block->aborted) return;
    fault(MISSING_LANES, block->current, {nullptr, {file, line}}, NOBODY, {},
          "this warp has only %d threads, as the block's size is no multiple of 32: a matrix operation takes all 32 lanes",
          __builtin_popcount(lanes));
}
}
