// Allocate and free device memory.
//
// Slots lie 32 GiB apart with nothing mapped between the arrays, so an index of 32 bits that is wrong can touch no other
// array: it faults. The end of each array is flush with its mapping's end (to 16 bytes, which float4 needs), so one
// element too far faults as well once an array is a multiple of 16 bytes long. What lies between the mapping's start and the
// array is NaN in every float type; written bytes on either side are found after the launch, by a pattern that differs from
// one array to the next (a copy without a bound check brings its source's along). Freed mappings are kept for reuse.
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace sim {

// Programs are loaded above 80 TiB, and the system hands out addresses from the top downward: 16 to 80 TiB are free. Where
// stacks may grow without limit (`ulimit -s unlimited`), it begins in the middle and goes upward: then the larger part that
// is left on either side.
static Range choose_range() {
    constexpr uint64_t TIB = 1ull << 40;
    constexpr Range usual{16 * TIB, MOST_SLOTS * SLOT_BYTES};
    void* page = mmap(nullptr, sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return usual;
    munmap(page, sysconf(_SC_PAGESIZE));
    uint64_t middle = reinterpret_cast<uint64_t>(page) / TIB * TIB, end = usual.begin + usual.bytes;
    if (middle < usual.begin || middle >= end) return usual;
    uint64_t below = TIB, above = middle + 8 * TIB;  // from there on
    uint64_t room_below = middle - TIB - below, room_above = above < end ? end - above : 0;
    return {room_below > room_above ? below : above, std::min(std::max(room_below, room_above), usual.bytes)};
}

const Range slot_range = choose_range();
Slot slots[MOST_SLOTS];
static std::mutex lock;
static std::vector<unsigned> free_slots, kept_slots;  // never mapped; mapped, their array gone
static size_t kept_bytes;
static bool filled;
constexpr size_t KEEP_BYTES = 256 << 20, LARGE = 4 << 20;

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

static void unmap(unsigned number) {
    Slot& slot = slots[number];
    munmap(slot.mapping, slot.mapped);
    free(slot.shadow);
    slot = Slot{};
    free_slots.push_back(number);
}

static void fill(char* from, size_t bytes, uint32_t word) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) memcpy(from + i, &word, 4);
    memcpy(from + bytes / 4 * 4, &word, bytes % 4);
}

static char byte_behind(const Slot& slot) { return 0x5A + (&slot - slots); }

// NaN as a float, as a half and as a bfloat16.
static uint32_t word_before(const Slot& slot) { return 0x10001u * (0xFF81 + (&slot - slots) % 125); }

// Fill what lies between the mapping's ends and the array.
static void guard(const Slot& slot) {
    char *end = slot.data + slot.bytes, *limit = slot.mapping + slot.mapped;
    memset(end, byte_behind(slot), limit - end);
    fill(slot.mapping, slot.data - slot.mapping, word_before(slot));
}

static unsigned find_kept(size_t mapped) {
    for (size_t i = kept_slots.size(); i-- > 0;) {
        unsigned number = kept_slots[i];
        if (slots[number].mapped != mapped) continue;
        kept_slots.erase(kept_slots.begin() + i);
        kept_bytes -= mapped;
        return number;
    }
    return 0;
}

// Arrays at equal distances would fall into the same cache sets: each begins some pages further than the one before.
static size_t stagger(unsigned number) { return number * 5 % 256 * sysconf(_SC_PAGESIZE); }

static unsigned map_slot(size_t mapped) {
    if (!filled)
        for (unsigned number = slot_range.bytes / SLOT_BYTES - STACK_SLOTS; number-- > 1;) free_slots.push_back(number);
    filled = true;
    if (free_slots.empty() && !kept_slots.empty()) {
        kept_bytes -= slots[kept_slots.back()].mapped;
        unmap(kept_slots.back());
        kept_slots.pop_back();
    }
    if (free_slots.empty()) return 0;
    unsigned number = free_slots.back();
    char* wanted = reinterpret_cast<char*>(slot_range.begin + number * SLOT_BYTES + SLOT_BYTES / 2) + stagger(number);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_FIXED_NOREPLACE
    flags |= MAP_FIXED_NOREPLACE;
#endif
    void* mapping = mmap(wanted, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapping == MAP_FAILED) return 0;
    if (mapping != wanted) {
        munmap(mapping, mapped);
        return 0;
    }
#ifdef MADV_HUGEPAGE
    if (mapped >= LARGE) madvise(mapping, mapped, MADV_HUGEPAGE);
#endif
    free_slots.pop_back();
    slots[number].mapping = wanted;
    slots[number].mapped = mapped;
    return number;
}

int altered(const Slot& slot) {
    char *end = slot.data + slot.bytes, *limit = slot.mapping + slot.mapped;
    size_t before = slot.data - slot.mapping;  // each word there equals the next
    uint32_t word = word_before(slot);
    bool behind = false;
    for (char* at = end; at < limit; at++) behind |= *at != byte_behind(slot);
    if (behind) return 1;
    return before && (memcmp(slot.mapping, &word, 4) || memcmp(slot.mapping, slot.mapping + 4, before - 4)) ? 2 : 0;
}

}  // namespace sim

using namespace sim;

extern "C" {

// kind 0: uninitialised (filled with POISON); 1: zeros; 2: about to be written by the caller. Null if there is no room.
void* sim_alloc(size_t bytes, int kind) {
    std::lock_guard<std::mutex> hold(lock);
    size_t used = round_up(bytes ? bytes : 1, 16), mapped = round_up(used, sysconf(_SC_PAGESIZE));
    unsigned number = find_kept(mapped);
    bool fresh = !number;
    if (fresh) number = map_slot(mapped);
    if (!number) return nullptr;
    Slot& slot = slots[number];
    slot.data = slot.mapping + (mapped - used);
    slot.bytes = bytes;
    slot.live = true;
    slot.poisoned = kind == 0;
    slot.name[0] = 0;
    free(slot.shadow);
    slot.shadow = nullptr;
    if (kind == 1 && !fresh) memset(slot.data, 0, used);
    guard(slot);
    if (kind == 0) fill(slot.data, bytes, POISON);
    return slot.data;
}

// `altered`, and restore them.
int sim_altered(void* data) {
    Slot* slot = slot_of(data);
    if (!slot || !slot->live) return 0;
    int side = altered(*slot);
    if (side) guard(*slot);
    return side;
}

void sim_free(void* data) {
    std::lock_guard<std::mutex> hold(lock);
    Slot* slot = slot_of(data);
    if (!slot || !slot->live) return;
    unsigned number = slot - slots;
    slot->live = false;
    free(slot->shadow);
    slot->shadow = nullptr;
    if (kept_bytes + slot->mapped > KEEP_BYTES) return unmap(number);
    kept_bytes += slot->mapped;
    kept_slots.push_back(number);
}

// The addresses that device memory may have.
void sim_slots(uint64_t* begin, uint64_t* bytes) {
    *begin = slot_range.begin;
    *bytes = slot_range.bytes;
}

// Bytes from `data` to the end of its array, or -1 if it is not inside a live array.
int64_t sim_room(const void* data) {
    Slot* slot = slot_of(data);
    const char* at = static_cast<const char*>(data);
    if (!slot || !slot->live || at < slot->data || at > slot->data + slot->bytes) return -1;
    return slot->data + slot->bytes - at;
}
}
