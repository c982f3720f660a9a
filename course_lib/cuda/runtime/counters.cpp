// How warps touch memory: requests, 32-byte sectors and bank wavefronts for every instruction that loads or stores.
//
// Notes are put together when a warp's lanes have met or have all returned. Most requests are seen through at once: offsets
// that never fall lie in as many sectors as they have steps, and words less than 32 apart are in different banks.
#include "counters.h"

#include <cstring>
#include <vector>

namespace sim {

constexpr unsigned TABLE = 8192;
constexpr uint32_t FIRST_ROOM = 16, MOST_PENDING = 1 << 16;
static Counter nowhere;
Counter* quick[2][QUICK];
static const bool filled = (std::fill(&quick[0][0], &quick[0][0] + 2 * QUICK, &nowhere), true);
static Counter* table[TABLE];
static std::vector<Counter*> counters, open_counters[MAX_WARPS];
static bool overflow;

static Counter* find(void* pc, Space space, bool write, unsigned bytes) {
    size_t at = (reinterpret_cast<uint64_t>(pc) * 0x9E3779B97F4A7C15ull >> 40) % TABLE;
    for (unsigned tries = 0; tries < TABLE; tries++, at = (at + 1) % TABLE) {
        Counter*& counter = table[at];
        if (!counter) {
            counter = new Counter{};
            counter->pc = pc;
            counter->space = space;
            counter->write = write;
            counter->bytes = bytes;
            counter->pending = new Pending[MAX_WARPS]{};
            counters.push_back(counter);
            return counter;
        }
        if (counter->pc == pc && counter->space == space && counter->write == write) return counter;
    }
    return nullptr;
}

// ---- room for notes: given back at each flush, so that warps that run in turn use the same few lines of cache ------------------

using Rounds = uint32_t (*)[WARP];
static std::vector<Rounds> spare[17];  // by the logarithm of their room

static Rounds take_rounds(uint32_t room) {
    auto& stack = spare[__builtin_ctz(room)];
    if (stack.empty()) return static_cast<Rounds>(aligned_alloc(64, room * sizeof(*Rounds())));
    Rounds rounds = stack.back();
    stack.pop_back();
    return rounds;
}

static void give_back(Rounds rounds, uint32_t room) { spare[__builtin_ctz(room)].push_back(rounds); }

void make_room(Block* block, Counter* counter, unsigned warp) {
    Pending& pending = counter->pending[warp];
    bool inside = worker_of(block)->in_runtime;
    if (!inside) enter_runtime(block);
    if (!pending.room) {
        if (block->mode & PLAIN)  // earlier warps have returned
            for (unsigned earlier = 0; earlier < warp; earlier++) flush_warp(earlier);
        pending.room = std::max(pending.usual, FIRST_ROOM);
        pending.rounds = take_rounds(pending.room);
        open_counters[warp].push_back(counter);
    } else if (pending.room == MOST_PENDING) {
        overflow = true;
    } else {
        Rounds larger = take_rounds(2 * pending.room);
        memcpy(larger, pending.rounds, pending.room * sizeof *larger);
        give_back(pending.rounds, pending.room);
        pending.rounds = larger;
        pending.room *= 2;
        pending.usual = pending.room;
    }
    if (!inside) leave_runtime(block);
}

// ---- putting requests together ----------------------------------------------------------------------------------------------

// The different numbers of a request, in constant time each.
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

static void count_global(Counter* counter, const uint32_t* offsets, unsigned lanes) {
    unsigned bytes = counter->bytes, sectors = 1, lines = 1, falls = 0;
    bool within = bytes <= 32 && (bytes & (bytes - 1)) == 0;  // an access lies in one sector
    for (unsigned i = 1; i < lanes; i++) {
        sectors += offsets[i] / 32 != offsets[i - 1] / 32;
        lines += offsets[i] / 128 != offsets[i - 1] / 128;
        falls += offsets[i] < offsets[i - 1];
        within &= offsets[i] % bytes == 0;
    }
    bool plain = within && offsets[0] % bytes == 0 && !falls;
    counter->sectors += plain ? sectors : distinct(offsets, lanes, bytes, 32);
    counter->wavefronts += plain ? lines : distinct(offsets, lanes, bytes, 128);
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

// Lanes of 8 bytes are served by half-warps, of 16 by quarter-warps. `lane` says which lanes the offsets belong to.
static void count_shared(Counter* counter, const uint32_t* offsets, const uint8_t* lane, unsigned lanes) {
    unsigned together = counter->bytes <= 4 ? 32 : counter->bytes <= 8 ? 16 : 8;
    for (unsigned first = 0, end; first < lanes; first = end) {
        end = first + 1;
        while (end < lanes && lane[end] / together == lane[first] / together) end++;
        counter->wavefronts += wavefronts(offsets + first, end - first, counter->bytes);
    }
}

static void count_round(Counter* counter, const uint32_t* offsets, const uint8_t* lane, unsigned lanes) {
    counter->requests++;
    counter->lanes += lanes;
    if (counter->space == SHARED) count_shared(counter, offsets, lane, lanes);
    else count_global(counter, offsets, lanes);
}

static void flush(Counter* counter, unsigned warp) {
    static const uint8_t ALL[WARP] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    Pending& pending = counter->pending[warp];
    const uint32_t* executed = pending.executed;
    uint32_t rounds = *std::max_element(executed, executed + WARP), full = *std::min_element(executed, executed + WARP);
    for (uint32_t round = 0; round < full; round++) count_round(counter, pending.rounds[round], ALL, WARP);
    for (uint32_t round = full; round < rounds; round++) {
        uint32_t offsets[WARP];
        uint8_t lane[WARP];
        unsigned lanes = 0;
        for (unsigned i = 0; i < WARP; i++)
            if (executed[i] > round) lane[lanes] = i, offsets[lanes++] = pending.rounds[round][i];
        count_round(counter, offsets, lane, lanes);
    }
    give_back(pending.rounds, pending.room);
    pending.room = 0;
    memset(pending.executed, 0, sizeof pending.executed);
}

void flush_warp(unsigned warp) {
    for (Counter* counter : open_counters[warp]) flush(counter, warp);
    open_counters[warp].clear();
}

void flush_all() {
    for (unsigned warp = 0; warp < MAX_WARPS; warp++) flush_warp(warp);
}

Counter* count_request(Block* block, Space space, const Access& access, uint64_t offset) {
    Counter* counter = find(access.pc, space, access.write, access.bytes);
    if (counter) note_access(block, counter, block->current, offset);
    return counter;
}

void clear_counters() {
    for (unsigned warp = 0; warp < MAX_WARPS; warp++) {
        for (Counter* counter : open_counters[warp]) give_back(counter->pending[warp].rounds, counter->pending[warp].room);
        open_counters[warp].clear();
    }
    for (Counter* counter : counters) {
        quick_counter(counter->pc, counter->write) = &nowhere;
        delete[] counter->pending;
        delete counter;
    }
    counters.clear();
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
    *out = {c.pc, c.space, c.write, int(c.bytes), c.requests, c.lanes, c.sectors, c.wavefronts};
}
int sim_counters_overflowed() { return overflow; }
}
