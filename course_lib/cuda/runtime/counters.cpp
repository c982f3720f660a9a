// How warps touch memory: requests, 32-byte sectors and bank wavefronts for every instruction that loads or stores.
//
// The lanes of a warp run one after the other here, so a request is put together afterwards: the k-th time that each lane
// comes to the same instruction since the last barrier. Offsets count from the array's start, which a GPU aligns to 256.
#include <algorithm>
#include <cstring>
#include <vector>

#include "checker.h"

namespace sim {

struct Request {
    uint32_t lanes = 0;
    uint64_t offset[WARP];
};

struct Counter {
    void* pc;
    int space, write, bytes;
    uint64_t requests, lanes, sectors, wavefronts, lines;
    uint32_t open;                       // warps with unfinished requests
    std::vector<Request> pending[MAX_WARPS];
    uint32_t executed[MAX_WARPS][WARP];  // how often each lane has come by
};

constexpr unsigned TABLE = 8192;
constexpr size_t MOST_PENDING = 1 << 16;
static Counter* table[TABLE];
static std::vector<Counter*> counters, open_counters[MAX_WARPS];
static bool overflow;

static Counter* find(void* pc, int space, bool write, unsigned bytes) {
    size_t at = (reinterpret_cast<uint64_t>(pc) * 0x9E3779B97F4A7C15ull >> 40) % TABLE;
    for (unsigned tries = 0; tries < TABLE; tries++, at = (at + 1) % TABLE) {
        Counter* counter = table[at];
        if (!counter) {
            counter = new Counter{};
            counter->pc = pc;
            counter->space = space;
            counter->write = write;
            counter->bytes = bytes;
            table[at] = counter;
            counters.push_back(counter);
            return counter;
        }
        if (counter->pc == pc && counter->space == space && counter->write == int(write)) return counter;
    }
    return nullptr;
}

// How many different values of (offset .. offset+bytes-1) / unit a request has.
static unsigned distinct(const Request& request, unsigned bytes, unsigned unit) {
    uint64_t seen[WARP * 2 + 64];
    unsigned count = 0;
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) {
        uint64_t offset = request.offset[__builtin_ctz(lanes)];
        for (uint64_t unit_number = offset / unit; unit_number <= (offset + bytes - 1) / unit; unit_number++) {
            unsigned i = count;
            while (i > 0 && seen[i - 1] != unit_number) i--;
            if (i == 0 && count < sizeof seen / sizeof *seen) seen[count++] = unit_number;
        }
    }
    return count;
}

// Shared memory has 32 banks of 4 bytes. Lanes of 8 bytes are served by half-warps, of 16 by quarter-warps; each part
// takes as many wavefronts as its busiest bank has different words.
static unsigned bank_wavefronts(const Request& request, unsigned bytes) {
    unsigned together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8, total = 0;
    for (unsigned first = 0; first < WARP; first += together) {
        uint32_t part = request.lanes & (together == 32 ? ~0u : ((1u << together) - 1) << first);
        if (!part) continue;
        uint64_t words[WARP * 4 + 16];
        unsigned count = 0, busiest = 0;
        uint8_t in_bank[32] = {};
        for (; part; part &= part - 1) {
            uint64_t offset = request.offset[__builtin_ctz(part)];
            for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) {
                if (std::find(words, words + count, word) != words + count || count == sizeof words / sizeof *words)
                    continue;
                words[count++] = word;
                busiest = std::max<unsigned>(busiest, ++in_bank[word % 32]);
            }
        }
        total += busiest;
    }
    return total;
}

static void flush(Counter* counter, unsigned warp) {
    for (const Request& request : counter->pending[warp]) {
        counter->requests++;
        counter->lanes += __builtin_popcount(request.lanes);
        if (counter->space == SHARED) {
            counter->wavefronts += bank_wavefronts(request, counter->bytes);
        } else {
            counter->sectors += distinct(request, counter->bytes, 32);
            counter->wavefronts += distinct(request, counter->bytes, 128);
        }
    }
    counter->pending[warp].clear();
    memset(counter->executed[warp], 0, sizeof counter->executed[warp]);
    counter->open &= ~(1u << warp);
}

void flush_warp(unsigned warp) {
    for (Counter* counter : open_counters[warp]) flush(counter, warp);
    open_counters[warp].clear();
}

void flush_all() {
    for (unsigned warp = 0; warp < MAX_WARPS; warp++) flush_warp(warp);
}

void count_request(Block* block, Space space, const Access& access, uint64_t offset) {
    unsigned warp = block->current / WARP, lane = block->current % WARP;
    Counter* counter = find(access.pc, space, access.write, access.bytes);
    if (!counter) return;
    if (!(counter->open >> warp & 1)) {
        counter->open |= 1u << warp;
        open_counters[warp].push_back(counter);
    }
    auto& pending = counter->pending[warp];
    uint32_t turn = counter->executed[warp][lane]++;
    if (turn >= pending.size()) {
        if (turn >= MOST_PENDING) {
            overflow = true;
            return;
        }
        pending.emplace_back();
    }
    pending[turn].lanes |= 1u << lane;
    pending[turn].offset[lane] = offset;
}

void clear_counters() {
    for (Counter* counter : counters) delete counter;
    counters.clear();
    for (auto& open : open_counters) open.clear();
    memset(table, 0, sizeof table);
    overflow = false;
}

}  // namespace sim

using namespace sim;

extern "C" {
struct CounterResult {
    void* pc;
    int space, write, bytes;
    uint64_t requests, lanes, sectors, wavefronts;
};
int sim_counter_count() { return counters.size(); }
void sim_counter(int i, CounterResult* out) {
    const Counter& c = *counters[i];
    *out = {c.pc, c.space, c.write, c.bytes, c.requests, c.lanes, c.sectors, c.wavefronts};
}
int sim_counters_overflowed() { return overflow; }
}
