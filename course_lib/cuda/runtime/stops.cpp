// Where a checked launch that ends early has been: its last access, and the way back from where it was stopped.
#include <unistd.h>

#include <cstring>

#include "homes.h"

namespace sim {

Place check_place(void* pc) {
    if (in_library(pc)) return {static_cast<char*>(pc) + 1, {}};  // as if it were a return address
    return {last_pc, {}};
}

// Where a launch that is stopped, or that crashes, may have been, the innermost first: `pc`; whatever lies on the stack from
// `low` on and looks like a way back into the kernel's code; the last access. A place in our own headers has no line of the
// learner's, but its caller has.
static void* stopped_at[16];
static int stopped_count;

void check_stop(void* pc, const char* low) {
    auto note = [](char* place) {
        if (in_library(place)) stopped_at[stopped_count++] = place;
    };
    stopped_count = 0;
    note(static_cast<char*>(pc) + 1);  // as if it were a return address, like the others
    uint64_t depth = low - stacks_low;
    bool on_stack = is_local(low);
    uint64_t guard = sysconf(_SC_PAGESIZE);  // at the low end, and not to be read
    if (on_stack && depth % STACK_BYTES < guard) low += guard - depth % STACK_BYTES, depth = low - stacks_low;
    const char* end = on_stack ? low + (STACK_BYTES - depth % STACK_BYTES) : low;
    for (const char* at = low - depth % 8; at < end && stopped_count < 15; at += 8) {
        char* word;
        memcpy(&word, at, 8);
        note(word);
    }
    note(static_cast<char*>(last_pc));
}

void stops_launch_begin() { stopped_count = 0; }

}  // namespace sim

using namespace sim;

// The places that `check_stop` has found.
extern "C" int sim_stopped_at(void* const** out) {
    *out = stopped_at;
    return stopped_count;
}
