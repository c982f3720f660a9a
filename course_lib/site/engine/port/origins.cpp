// WebAssembly: accesses that land in another array than the one that their pointer came from, or that wrap around the address
// space, which has only 32 bits here. rewrite.mjs hands over how each address was computed: a pointer, and an offset of 64 bits.
//
// Natively arrays lie so far apart that the address alone tells (cuda/runtime/memory.cpp).
#include "address_map.h"
#include "events.h"
#include "hooks.h"
#include "memcheck.h"
#include "pages.h"

namespace sim {

static char *shared_low, *shared_high;  // of the kernel's shared arrays
static char* find_shared() { return shared_low; }

[[noreturn]] static void lost(const Access& access, int64_t address, uint16_t origin) {
    Block* block = sim_block;
    enter_runtime(block);
    Checkers::on(BeforeAccess{block, access.pc});
    if (origin == NO_MEMORY) {
        fault(NULL_POINTER, {access.pc, {}}, "%s %u bytes at address %#llx: the pointer is null (0)",
              access.write ? "a write of" : "a read of", access.bytes, (unsigned long long)(address));
    } else if (origin < MOST_SLOTS) {
        outside_slot(slots[origin], access, address - int64_t(reinterpret_cast<uintptr_t>(slots[origin].data)));
    } else {
        auto* page = reinterpret_cast<char*>(size_t(origin - SHARED_MEMORY) * PAGE) + reinterpret_cast<uintptr_t>(shared_low) / PAGE * PAGE;
        const SharedArray& array = *shared_array_at(page);
        outside_shared(block, array, access, address - int64_t(reinterpret_cast<uintptr_t>(array.data)));
    }
    abort_thread(block);
}

}  // namespace sim

using namespace sim;

extern "C" {

// Before an access at `origin` + `offset`.
void sim_check_origin(char* origin, int64_t offset, unsigned bytes, unsigned write, void* place) {
    auto from = reinterpret_cast<uintptr_t>(origin);
    uint16_t owner = owner_of(from);
    if (!owner) return;
    uint64_t address = int64_t(from) + offset;
    if (address >> 32 == 0 && owner_of(address) == owner && owner != NO_MEMORY) return;
    if (owner == NO_MEMORY && from) return;  // no null pointer: memcheck knows more
    lost({reinterpret_cast<char*>(uintptr_t(address)), bytes, write != 0, false, place, nullptr}, address, owner);
}

// Where the kernel's own memory lies, and its shared arrays in it. Each of these begins a page.
void sim_place_kernel(char* low, char* high, char* shared, char* shared_end) {
    for (uint16_t& owner : page_owner)
        if (owner >= MOST_SLOTS) owner = 0;
    for (size_t page = 0; page < (1 << 20) / PAGE; page++) page_owner[page] = NO_MEMORY;
    shared_low = shared;
    shared_high = shared_end;
    auto* find = shared < shared_end ? reinterpret_cast<void*>(find_shared) : nullptr;
    void sim_check_library(void*, uint64_t, void*, uint64_t, uint64_t);
    sim_check_library(low, high - low, find, 0, shared_end - shared);
}

// A shared array has these pages to itself.
void sim_own_pages(char* array, size_t bytes) {
    size_t first = reinterpret_cast<uintptr_t>(array) / PAGE, base = reinterpret_cast<uintptr_t>(shared_low) / PAGE;
    for (size_t page = first; page <= (reinterpret_cast<uintptr_t>(array) + bytes - 1) / PAGE; page++)
        page_owner[page] = SHARED_MEMORY + (first - base);
}
}
