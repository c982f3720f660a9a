// Allocate and free device memory.
//
// Slots lie 32 GiB apart with nothing mapped between the arrays, so an index of 32 bits that is wrong can touch no other
// array: it faults. The end of each array is flush with its mapping's end (to 16 bytes, which float4 needs), so one
// element too far faults as well once an array is a multiple of 16 bytes long. Freed mappings are kept for reuse.
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace sim {

Slot slots[SLOT_COUNT];
static std::mutex lock;
static std::vector<unsigned> free_slots, kept_slots;  // never mapped; mapped, their array gone
static size_t kept_bytes;
static bool filled;
constexpr char CANARY = 0x5A;  // fills the bytes between an array's end and its mapping's
constexpr size_t KEEP_BYTES = 256 << 20, LARGE = 4 << 20;

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

static void unmap(unsigned number) {
    Slot& slot = slots[number];
    munmap(slot.mapping, slot.mapped);
    free(slot.shadow);
    slot = Slot{};
    free_slots.push_back(number);
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

static unsigned map_slot(size_t mapped) {
    if (!filled)
        for (unsigned number = SLOT_COUNT; number-- > 1;) free_slots.push_back(number);
    filled = true;
    if (free_slots.empty() && !kept_slots.empty()) {
        kept_bytes -= slots[kept_slots.back()].mapped;
        unmap(kept_slots.back());
        kept_slots.pop_back();
    }
    if (free_slots.empty()) return 0;
    unsigned number = free_slots.back();
    char* wanted = reinterpret_cast<char*>(SLOTS_BEGIN + number * SLOT_BYTES + SLOT_BYTES / 2);
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
    memset(slot.data + bytes, CANARY, used - bytes);
    if (kind == 0) {
        uint32_t* word = reinterpret_cast<uint32_t*>(slot.data);
        for (size_t i = 0; i < bytes / 4; i++) word[i] = POISON;
        if (bytes % 4) memcpy(slot.data + bytes / 4 * 4, &POISON, bytes % 4);
    }
    return slot.data;
}

// Whether the up to 15 bytes between an array's end and the end of its mapping are as they were.
int sim_intact(void* data) {
    Slot* slot = slot_of(data);
    if (!slot || !slot->live) return 1;
    char* end = slot->mapping + slot->mapped;
    for (char* at = slot->data + slot->bytes; at < end; at++)
        if (*at != CANARY) {
            memset(slot->data + slot->bytes, CANARY, end - slot->data - slot->bytes);
            return 0;
        }
    return 1;
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

// Bytes from `data` to the end of its array, or -1 if it is not inside a live array.
int64_t sim_room(const void* data) {
    Slot* slot = slot_of(data);
    const char* at = static_cast<const char*>(data);
    if (!slot || !slot->live || at < slot->data || at > slot->data + slot->bytes) return -1;
    return slot->data + slot->bytes - at;
}

// The parameter's name, for messages.
void sim_name(const void* data, const char* name) {
    if (Slot* slot = slot_of(data)) {
        strncpy(slot->name, name, sizeof slot->name - 1);
    }
}
}
