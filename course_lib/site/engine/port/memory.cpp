// WebAssembly: device memory, in the one linear memory. A table of pages says whose each is; the gaps between arrays belong to
// the nearer one. Pages that nobody touches cost nothing.
//
// An index that is wrong by more than a gap would land in another array: origins.cpp tells it by where its pointer came from.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "pages.h"

namespace sim {

const Range slot_range{0, 0};  // no address says by itself that it is device memory
Slot slots[MOST_SLOTS];
uint16_t page_owner[65536];
static unsigned used = 1;
static size_t first_page, next_page, end_page;  // taken from the linear memory, and never given back
constexpr size_t GAP = 8;                       // pages on either side of an array
constexpr size_t GUARD = 2048;                  // bytes with a pattern, on either side

Slot* slot_of(const void* address) {
    uint16_t owner = owner_of(reinterpret_cast<uintptr_t>(address));
    return owner && owner < MOST_SLOTS ? &slots[owner] : nullptr;
}

static char byte_beside(const Slot& slot) { return 0x5A + (&slot - slots); }

int altered(const Slot& slot) {
    auto kept = [&](const char* from, const char* to) {
        return std::all_of(from, to, [&](char byte) { return byte == byte_beside(slot); });
    };
    if (!kept(slot.data + slot.bytes, slot.mapping + slot.mapped)) return 1;
    return kept(slot.mapping, slot.data) ? 0 : 2;
}

// Pages in a row, from which nobody else takes any; 0: there are no more.
static size_t take_pages(size_t count) {
    if (!end_page) first_page = next_page = end_page = __builtin_wasm_memory_size(0);
    while (next_page + count > end_page) {
        size_t got = __builtin_wasm_memory_grow(0, next_page + count - end_page);
        if (got == size_t(-1)) return 0;
        if (got != end_page) first_page = next_page = got;  // the heap has grown meanwhile: begin anew behind it
        end_page = __builtin_wasm_memory_size(0);
    }
    next_page += count;
    return next_page - count;
}

}  // namespace sim

using namespace sim;

extern "C" {

// kind 0: uninitialised (filled with POISON); 1: zeros; 2: about to be written by the caller. Null if there is no room.
void* sim_alloc(size_t bytes, int kind) {
    size_t pages = (bytes + 2 * GUARD + PAGE - 1) / PAGE, first = used < MOST_SLOTS ? take_pages(pages + 2 * GAP) : 0;
    if (!first) return nullptr;
    std::fill_n(page_owner + first, pages + 2 * GAP, uint16_t(used));
    Slot& slot = slots[used++];
    slot.mapping = reinterpret_cast<char*>((first + GAP) * PAGE);
    slot.data = slot.mapping + GUARD;
    slot.bytes = bytes;
    slot.mapped = (bytes + 2 * GUARD + 15) / 16 * 16;
    slot.live = true;
    slot.poisoned = kind == 0;
    memset(slot.mapping, byte_beside(slot), slot.mapped);
    if (kind == 1) memset(slot.data, 0, bytes);
    if (kind == 0)
        for (size_t i = 0; i < bytes; i++) slot.data[i] = reinterpret_cast<const char*>(&POISON)[i % 4];
    return slot.data;
}

// Free all arrays.
void sim_free_all() {
    for (unsigned number = 1; number < used; number++) {
        free(slots[number].shadow);
        slots[number] = Slot{};
    }
    for (uint16_t& owner : page_owner)
        if (owner < MOST_SLOTS) owner = 0;
    used = 1;
    next_page = first_page;
}

int sim_altered(void* data) {
    Slot* slot = slot_of(data);
    return slot && slot->live ? altered(*slot) : 0;
}

// The parameter that an array is passed for.
void sim_name(void* data, const char* name) {
    if (Slot* slot = slot_of(data)) strncpy(slot->name, name, sizeof slot->name - 1);
}
}
