// Trace: a record of the first events of a launch, for pictures.
#include <algorithm>
#include <cstring>
#include <vector>

#include "events.h"

namespace sim {

enum TracedKind { TRACED_READ, TRACED_WRITE, TRACED_ATOMIC, TRACED_BARRIER, TRACED_WARP_SYNC, TRACED_SHUFFLE };

struct Traced {
    void* pc;
    uint64_t offset;
    uint32_t thread, bytes;
    uint64_t block;
    int space, kind, line;
    uint32_t other;  // of a warp synchronisation its lanes, of a shuffle the lane that the value comes from
    char value[16];  // of a read
    char name[48];
};
static std::vector<Traced> traced;
static size_t most_traced;

static void keep(const Traced& now) {
    traced.push_back(now);
    Trace::recording = traced.size() < most_traced;
}

static void keep(const Block* block, TracedKind kind, unsigned thread, uint32_t other, SourceLine line) {
    keep({nullptr, 0, thread, 0, block->linear, 0, kind, line.line, other, {}, {}});
}

void Trace::on(const LaunchBegin&) {
    if (!traced.empty()) most_traced = traced.size();  // those of the launch before
    recording = traced.size() < most_traced;
}

void Trace::record(const MemoryAccess& event) {
    const Block* block = event.block;
    const Array& array = event.array;
    const Access& access = event.access;
    if (!access.instruction) return;
    TracedKind kind = access.atomic ? TRACED_ATOMIC : access.write ? TRACED_WRITE : TRACED_READ;
    Traced now{access.pc, uint64_t(access.address - array.data), block->current, access.bytes, block->linear, array.space,
               kind, 0, 0, {}, {}};
    if (!access.write) memcpy(now.value, access.address, std::min<size_t>(access.bytes, sizeof now.value));
    strncpy(now.name, array.name, sizeof now.name - 1);
    keep(now);
}

// Any thread that waits knows the line.
void Trace::record(const Barrier& event) {
    unsigned first = 0;
    while (!(event.block->at_barrier[first / WARP] >> (first % WARP) & 1)) first++;
    keep(event.block, TRACED_BARRIER, 0, 0, event.block->waits_at[first]);
}

void Trace::record(const WarpSync& event) {
    if (event.group.operation == SYNC)
        keep(event.block, TRACED_WARP_SYNC, event.warp * WARP, event.group.arrived, event.group.line);
}

void Trace::record(const Shuffle& event) {
    keep(event.block, TRACED_SHUFFLE, event.block->current, event.source % WARP, event.line);
}

}  // namespace sim

using namespace sim;

extern "C" {

// Record the first `most` accesses of the next checked launch.
void sim_trace(uint64_t most) {
    most_traced = most;
    traced.clear();
}
uint64_t sim_traced(const Traced** out) {
    *out = traced.data();
    return traced.size();
}
}
