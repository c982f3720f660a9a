// Trace: a record of the first accesses of a launch, for pictures.
#include <cstring>
#include <vector>

#include "events.h"

namespace sim {

struct Traced {
    void* pc;
    uint64_t offset;
    uint32_t thread, bytes;
    uint64_t block;
    int space, write;
    char name[48];
};
static std::vector<Traced> traced;
static size_t most_traced;

void Trace::on(const LaunchBegin&) {
    if (!traced.empty()) most_traced = traced.size();  // those of the launch before
    recording = traced.size() < most_traced;
}

void Trace::record(const MemoryAccess& event) {
    const Block* block = event.block;
    const Array& array = event.array;
    const Access& access = event.access;
    if (!access.instruction) return;
    Traced now{access.pc, uint64_t(access.address - array.data), block->current, access.bytes, block->linear, array.space,
               access.write, {}};
    strncpy(now.name, array.name, sizeof now.name - 1);
    traced.push_back(now);
    recording = traced.size() < most_traced;
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
