// How often each basic block of a kernel ran. In the counting build (flops.py) the compiler calls the function below at the
// start of each; one worker runs all blocks of the grid, so nothing here needs a lock.
#include <cstdint>
#include <cstring>

namespace {

struct BlockCount {
    uint64_t address;  // behind the call; 0 if the entry is free
    uint64_t count;
};
constexpr unsigned TABLE = 1 << 16;
BlockCount table[TABLE];
unsigned used;

}  // namespace

extern "C" {

void __sanitizer_cov_trace_pc() {
    auto address = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    unsigned at = address * 0x9E3779B97F4A7C15ull >> 48;
    while (table[at].address && table[at].address != address) at = (at + 1) % TABLE;
    if (!table[at].address && ++used > TABLE / 2) return;  // sim_block_counts will say that blocks are missing
    table[at].address = address;
    table[at].count++;
}

void sim_count_blocks() {
    memset(table, 0, sizeof table);
    used = 0;
}

// The table, its free entries included. Returns its length, or 0 if it was too small.
unsigned sim_block_counts(const BlockCount** out) {
    *out = table;
    return used > TABLE / 2 ? 0 : TABLE;
}
}
