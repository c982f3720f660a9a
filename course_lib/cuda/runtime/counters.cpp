// How warps touch memory: requests, 32-byte sectors and bank wavefronts for every instruction that loads or stores.
//
// Accesses are put together when a warp's lanes have synchronised or have all returned. Most requests are simple: offsets that
// never fall lie in as many sectors as they have steps, and words less than 32 apart are in different banks.
#include "counters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace sim {

constexpr uint32_t FIRST_CAPACITY = 16, MOST_PENDING = 1 << 16;
static std::vector<Instruction*> pending_instructions[MAX_WARPS];
static bool overflow;

// ---- pending accesses: given back at each flush, so that one warp after the other uses the same few lines of cache ---------

using Rounds = uint32_t (*)[WARP];
static std::vector<Rounds> spare[17];  // by the logarithm of their capacity

static Rounds take_rounds(uint32_t capacity) {
    auto& stack = spare[__builtin_ctz(capacity)];
    if (stack.empty()) return static_cast<Rounds>(aligned_alloc(64, capacity * sizeof(*Rounds())));
    Rounds rounds = stack.back();
    stack.pop_back();
    return rounds;
}

static void give_back(Pending& pending) {
    spare[__builtin_ctz(pending.capacity)].push_back(pending.rounds);
    pending.capacity = 0;
}

static void flush_warp(unsigned warp);

void grow(Block* block, Instruction* instruction, unsigned warp) {
    Pending& pending = instruction->pending[warp];
    bool inside = worker_of(block)->in_runtime;
    if (!inside) enter_runtime(block);
    if (!pending.capacity) {
        if (block->mode & PLAIN)  // earlier warps have returned
            for (unsigned earlier = 0; earlier < warp; earlier++) flush_warp(earlier);
        pending.capacity = std::max(pending.usual, FIRST_CAPACITY);
        pending.rounds = take_rounds(pending.capacity);
        pending_instructions[warp].push_back(instruction);
    } else if (pending.capacity == MOST_PENDING) {
        overflow = true;
    } else {
        Rounds larger = take_rounds(2 * pending.capacity);
        memcpy(larger, pending.rounds, pending.capacity * sizeof *larger);
        pending.usual = 2 * pending.capacity;
        give_back(pending);
        pending.rounds = larger;
        pending.capacity = pending.usual;
    }
    if (!inside) leave_runtime(block);
}

// ---- putting requests together ----------------------------------------------------------------------------------------------

// The distinct numbers of a request, in constant time each.
struct Set {
    uint32_t key[256], mark[256] = {}, now = 0;
    void clear() { now++; }
    bool add(uint32_t number) {
        for (unsigned at = number * 0x9E3779B1u >> 24;; at = (at + 1) % 256) {
            if (mark[at] != now) {
                mark[at] = now;
                key[at] = number;
                return true;
            }
            if (key[at] == number) return false;
        }
    }
};
static Set set;

// How many different values of (offset .. offset+bytes-1) / unit there are.
static unsigned distinct(const uint32_t* offsets, unsigned lanes, unsigned bytes, unsigned unit) {
    unsigned count = 0;
    set.clear();
    for (unsigned i = 0; i < lanes; i++)
        for (uint32_t number = offsets[i] / unit; number <= (offsets[i] + bytes - 1) / unit && count < 200; number++)
            count += set.add(number);
    return count;
}

static void count_global(Instruction* instruction, const uint32_t* offsets, unsigned lanes) {
    unsigned bytes = instruction->bytes, sectors = 1, lines = 1, falls = 0;
    bool within = bytes <= 32 && (bytes & (bytes - 1)) == 0;  // an access lies in one sector
    for (unsigned i = 1; i < lanes; i++) {
        sectors += offsets[i] / 32 != offsets[i - 1] / 32;
        lines += offsets[i] / 128 != offsets[i - 1] / 128;
        falls += offsets[i] < offsets[i - 1];
        within &= offsets[i] % bytes == 0;
    }
    bool plain = within && offsets[0] % bytes == 0 && !falls;
    instruction->sectors += plain ? sectors : distinct(offsets, lanes, bytes, 32);
    instruction->wavefronts += plain ? lines : distinct(offsets, lanes, bytes, 128);
}

// Shared memory has 32 banks of 4 bytes; lanes that are served together take as many wavefronts as the busiest bank has
// different words.
static unsigned wavefronts(const uint32_t* offsets, unsigned lanes, unsigned bytes) {
    uint32_t low = ~0u, high = 0;
    for (unsigned i = 0; i < lanes; i++) {
        low = std::min(low, offsets[i]);
        high = std::max(high, offsets[i]);
    }
    if ((high + bytes - 1) / 4 - low / 4 < 32) return 1;
    unsigned busiest = 0, count = 0;
    uint8_t in_bank[32] = {};
    set.clear();
    for (unsigned i = 0; i < lanes; i++)
        for (uint32_t word = offsets[i] / 4; word <= (offsets[i] + bytes - 1) / 4 && count < 200; word++)
            if (set.add(word)) {
                count++;
                busiest = std::max<unsigned>(busiest, ++in_bank[word % 32]);
            }
    return busiest;
}

// Whether lanes that differ in one bit of their number read the same address.
static bool paired(const uint32_t* offsets, const uint8_t* lane, unsigned lanes, unsigned bit) {
    uint32_t at[WARP];
    uint32_t active = 0;
    for (unsigned i = 0; i < lanes; i++) at[lane[i]] = offsets[i], active |= 1u << lane[i];
    for (unsigned i = 0; i < lanes; i++)
        if (active >> (lane[i] ^ bit) & 1 && at[lane[i] ^ bit] != offsets[i]) return false;
    return true;
}

// Lanes of 8 bytes are served by half-warps, of 16 by quarter-warps; twice as many where all pairs of lanes, n and n ^ 1 or n and
// n ^ 2, load from the same address. (forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228; an H100 counts
// so.) `lane` says which lanes the offsets belong to.
static void count_shared(Instruction* instruction, const uint32_t* offsets, const uint8_t* lane, unsigned lanes) {
    unsigned together = instruction->bytes <= 4 ? 32 : instruction->bytes <= 8 ? 16 : 8;
    if (together < 32 && !instruction->write && (paired(offsets, lane, lanes, 1) || paired(offsets, lane, lanes, 2))) together *= 2;
    for (unsigned first = 0, end; first < lanes; first = end) {
        end = first + 1;
        while (end < lanes && lane[end] / together == lane[first] / together) end++;
        instruction->wavefronts += wavefronts(offsets + first, end - first, instruction->bytes);
    }
}

static void count_round(Instruction* instruction, const uint32_t* offsets, const uint8_t* lane, unsigned lanes) {
    instruction->requests++;
    instruction->lanes += lanes;
    if (instruction->space == SHARED) count_shared(instruction, offsets, lane, lanes);
    else count_global(instruction, offsets, lanes);
}

static void flush(Instruction* instruction, unsigned warp) {
    static const uint8_t ALL[WARP] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    Pending& pending = instruction->pending[warp];
    const uint32_t* executed = pending.executed;
    uint32_t rounds = *std::max_element(executed, executed + WARP), full = *std::min_element(executed, executed + WARP);
    for (uint32_t round = 0; round < full; round++) count_round(instruction, pending.rounds[round], ALL, WARP);
    for (uint32_t round = full; round < rounds; round++) {
        uint32_t offsets[WARP];
        uint8_t lane[WARP];
        unsigned lanes = 0;
        for (unsigned i = 0; i < WARP; i++)
            if (executed[i] > round) lane[lanes] = i, offsets[lanes++] = pending.rounds[round][i];
        count_round(instruction, offsets, lane, lanes);
    }
    give_back(pending);
    memset(pending.executed, 0, sizeof pending.executed);
}

static void flush_warp(unsigned warp) {
    for (Instruction* instruction : pending_instructions[warp]) flush(instruction, warp);
    pending_instructions[warp].clear();
}

// ---- events -----------------------------------------------------------------------------------------------------------

void Counters::on(const MemoryAccess& event) {
    if (Instruction* instruction = event.access.instruction)
        count_access(event.block, instruction, event.block->current, event.access.address - event.array.data);
}

void Counters::on(const IntervalEnd&) {
    for (unsigned warp = 0; warp < MAX_WARPS; warp++) flush_warp(warp);
}

void Counters::on_syncwarp(const WarpSync& event) { flush_warp(event.warp); }

void Counters::on(const LaunchBegin&) {
    for (unsigned warp = 0; warp < MAX_WARPS; warp++) {
        for (Instruction* instruction : pending_instructions[warp]) give_back(instruction->pending[warp]);
        pending_instructions[warp].clear();
    }
    clear_instructions();
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
int sim_counter_count() { return all_instructions().size(); }
void sim_counter(int i, CounterResult* out) {
    const Instruction& c = *all_instructions()[i];
    *out = {c.pc, c.space, c.write, int(c.bytes), c.requests, c.lanes, c.sectors, c.wavefronts};
}
int sim_counters_overflowed() { return overflow; }
}
