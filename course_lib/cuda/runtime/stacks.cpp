// Stacks of the fibers: for each worker 32 sets of 32, a set for each warp in flight.
//
// A set is taken when its warp starts and given back when the warp's last lane has returned, so kernels that wait only
// within warps run on the same few stacks again and again, which stay in the cache.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "memory.h"
#include "runtime.h"

namespace sim {

// Deep frames end in an unmapped page. Tops are staggered: at equal distances they would fall into the same cache sets.
char* stack_top(const Block* block, unsigned warp, unsigned lane) {
    size_t number = block->stacks[warp] * WARP + lane;
    char* base = worker_of(const_cast<Block*>(block))->stacks;
    return base + (number + 1) * STACK_BYTES - number * 192 % 4096;
}

bool on_own_stacks(const Block* block, const char* address) {
    const char* base = worker_of(const_cast<Block*>(block))->stacks;
    return address >= base && address < base + STACK_BYTES * MAX_THREADS;
}

void make_stacks(Block* block) {
    static std::atomic<unsigned> made{0};
    uint64_t number = ++made, wanted = slot_range.begin + slot_range.bytes - number * SLOT_BYTES;
    void* hint = number <= STACK_SLOTS ? reinterpret_cast<void*>(wanted) : nullptr;
    void* memory = mmap(hint, STACK_BYTES * MAX_THREADS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    worker_of(block)->stacks = static_cast<char*>(memory);
}

// Make a set usable the first time a warp needs it (a process may only have so many mappings).
void open_stack_set(Block* block, unsigned set) {
    static thread_local uint32_t opened = 0;
    if (opened >> set & 1) return;
    size_t page = sysconf(_SC_PAGESIZE);
    char* first = worker_of(block)->stacks + size_t(set) * WARP * STACK_BYTES;
    if (!worker_of(block)->guarded) mprotect(first, WARP * STACK_BYTES, PROT_READ | PROT_WRITE);
    for (unsigned lane = 0; lane < WARP && worker_of(block)->guarded; lane++)
        mprotect(first + lane * STACK_BYTES + page, STACK_BYTES - page, PROT_READ | PROT_WRITE);
    opened |= 1u << set;
}

}  // namespace sim
