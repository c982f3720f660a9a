// Where a checked launch that ends early has been: its last access, and the return addresses on its stack.
#include "backtraces.h"

#include <unistd.h>

#include <cstring>

#include "address_map.h"
#include "events.h"

namespace sim {

static void* backtrace[16];
static int depth;

CodeLocation location_at(void* pc) {
    if (in_library(pc)) return {static_cast<char*>(pc) + 1, {}};  // as if it were a return address
    return {Backtraces::last_pc, {}};
}

// The innermost first: `pc`; all words on the stack from `low` on that could be return addresses into the kernel's code; the
// last access. An address in our own headers has no line of the learner's, but its caller has.
void record_backtrace(void* pc, const char* low) {
    auto add = [](char* address) {
        if (in_library(address)) backtrace[depth++] = address;
    };
    depth = 0;
    add(static_cast<char*>(pc) + 1);  // as if it were a return address, like the others
    uint64_t offset = low - stacks_low;
    bool on_stack = is_local(low);
    uint64_t guard = sysconf(_SC_PAGESIZE);  // at the low end, and not to be read
    if (on_stack && offset % STACK_BYTES < guard) low += guard - offset % STACK_BYTES, offset = low - stacks_low;
    const char* end = on_stack ? low + (STACK_BYTES - offset % STACK_BYTES) : low;
    for (const char* at = low - offset % 8; at < end && depth < 15; at += 8) {
        char* word;
        memcpy(&word, at, 8);
        add(word);
    }
    add(static_cast<char*>(Backtraces::last_pc));
}

void Backtraces::on(const LaunchBegin&) {
    depth = 0;
    last_pc = nullptr;
}

}  // namespace sim

using namespace sim;

// The addresses that `record_backtrace` has found.
extern "C" int sim_backtrace(void* const** out) {
    *out = backtrace;
    return depth;
}
