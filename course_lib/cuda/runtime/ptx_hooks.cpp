// What ptx.h and mma.h call before asynchronous copies and matrix operations: which addresses a GPU takes there.
#include <cstring>

#include "address_map.h"
#include "hooks.h"
#include "instructions.h"
#include "shadow.h"

namespace sim {

// End the thread unless the address lies in memory of this kind; `subject` names what lies there, `rule` says why not. Where no
// memory is, the access itself is reported.
static void must_lie_in(Memory wanted, const void* address, CodeLocation where, const char* subject, const char* rule) {
    static const char* const MEMORIES[] = {"global memory", "__shared__ memory", "a thread's local memory"};
    Region region = region_of(static_cast<const char*>(address));
    if (region.memory == wanted || region.memory == UNMAPPED) return;
    bool named = region.name[0];
    report_and_abort(OUT_OF_BOUNDS, where, "%s lies in %s%s%s%s: %s", subject, MEMORIES[region.memory], named ? " ('" : "",
                     region.name, named ? "')" : "", rule);
}

}  // namespace sim

using namespace sim;

extern "C" {

// A copy may read and write at any time from its issue to its wait: both ends are judged at both times, with the issue's pc,
// and in between its destination counts as unwritten. Returns the pc.
void* sim_check_issue(void* to, void* from, unsigned bytes SIM_SITE) {
    void* pc = SIM_CALLER;
    must_lie_in(IN_SHARED, to, {pc, {}}, "the destination of this copy",
                "it must lie in __shared__ memory, or a GPU writes to a wrong address");
    must_lie_in(IN_GLOBAL, from, {pc, {}}, "the source of this copy",
                "it must lie in global memory, or a GPU reads from a wrong address");
    access_event(static_cast<char*>(from), bytes, false, false, pc, true);
    access_event(static_cast<char*>(to), bytes, true, false, pc, true);
    Instruction* instruction = cached_instruction(pc, true);
    uint64_t offset = static_cast<char*>(to) - instruction->data;
    if (instruction->pc == pc && offset <= instruction->last)
        for (unsigned i = 0; i < bytes / 4; i++) instruction->shadow[offset / 4 + i].written = 0;
    return pc;
}

// `words`: what was read at the issue.
void sim_check_completion(void* to, void* from, const unsigned* words, unsigned bytes, void* pc) {
    access_event(static_cast<char*>(from), bytes, false, false, pc, true, false);
    access_event(static_cast<char*>(to), bytes, true, false, pc, true, false);
    if (memcmp(from, words, bytes) == 0 || sim_block->aborted) return;
    fault(RACE, {pc, {}},
          "the source of this copy is overwritten before the copy has been waited for: a GPU copies the old or the new value");
}

void sim_check_row(const void* row SIM_SITE) {
    must_lie_in(IN_SHARED, row, {SIM_CALLER, {}}, "the row that this lane names",
                "ldmatrix reads only __shared__ memory, and a GPU reads from a wrong address there");
}

// The tile that a warp loads or stores as a fragment; its rows (or columns) are `stride` elements apart.
void sim_check_tile(const void* tile, unsigned stride, unsigned bytes, const char* file, int line) {
    Region region = region_of(static_cast<const char*>(tile));
    uint64_t offset = static_cast<const char*>(tile) - region.start, pitch = uint64_t(stride) * bytes;
    if (region.memory == UNMAPPED || (offset % 32 == 0 && pitch % 16 == 0)) return;
    if (pitch % 16)
        report_and_abort(
            MISALIGNED, {nullptr, {file, line}},
            "the rows of this tile of '%s' are %u elements (%llu bytes) apart: a GPU takes only multiples of %u elements "
            "(16 bytes), padding included",
            region.name, stride, (unsigned long long)pitch, 16 / bytes);
    report_and_abort(
        MISALIGNED, {nullptr, {file, line}},
        "this tile begins %llu bytes after the start of '%s': a GPU takes only tiles that begin at multiples of 32 bytes",
        (unsigned long long)offset, region.name);
}

void sim_check_warp(const char* file, int line) { Checkers::on(MatrixOperation{sim_block, {file, line}}); }
}
