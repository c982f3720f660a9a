// What compiled kernels call before each load and store; the names are those of the compiler's thread sanitizer.
//
// Nearly all accesses are surely harmless: aligned, inside the array that the same instruction touched before, and in order
// with the last read and write of that word. These are noted right here. Every other access goes to checker.cpp.
#include <cstring>

#include "counters.h"
#include "memory.h"
#include "shadow.h"

namespace sim {

template <unsigned BYTES> static bool holds_poison(const char* address) {
    uint32_t words[(BYTES + 3) / 4];
    memcpy(words, address - reinterpret_cast<uintptr_t>(address) % 4, sizeof words);
    for (uint32_t word : words)
        if (word == POISON) return true;
    return false;
}

template <unsigned BYTES, bool WRITE, bool ATOMIC = false, bool COUNTED = true> static void access(void* at, void* pc) {
    constexpr unsigned WORDS = (BYTES + 3) / 4;
    char* address = static_cast<char*>(at);
    if (uint64_t(address - stacks_low) < STACK_BYTES * MAX_THREADS) return;  // local variables
    Counter* counter = quick_counter(pc, WRITE);
    uint64_t offset = address - counter->data;
    if (__builtin_expect(counter->pc != pc || offset > counter->last || offset % BYTES || watching, 0))
        return check(address, BYTES, WRITE, ATOMIC, pc, true, COUNTED);
    Block* block = sim_block;
    unsigned thread = block->current;
    Space space = counter->space;
    Word* word = counter->shadow + offset / 4;
    uint8_t bytes = BYTES < 4 ? ((1u << BYTES) - 1) << offset % 4 : 15;
    if ((!WRITE || ATOMIC) && __builtin_expect(counter->poisoned, 0) && holds_poison<BYTES>(address))
        return check(address, BYTES, WRITE, ATOMIC, pc, true);
    if (ATOMIC && atomics_tell) return check(address, BYTES, WRITE, ATOMIC, pc, true);
    for (unsigned i = 0; i < WORDS; i++)
        if (__builtin_expect(!harmless(word[i], thread, bytes, space, WRITE, ATOMIC), 0))
            return check(address, BYTES, WRITE, ATOMIC, pc, true, COUNTED);
    last_pc = pc;
    accesses++;
    uint32_t relative_pc = static_cast<char*>(pc) - library_base;
    for (unsigned i = 0; i < WORDS; i++) {
        if (WRITE) note_write(word[i], thread, bytes, relative_pc, ATOMIC);
        else note_read(word[i], thread, bytes, relative_pc);
    }
    if (COUNTED) note_access(block, counter, thread, offset);
}

// A GPU reads and writes 1, 2, 4, 8 or 16 bytes at once. What is of another size takes several accesses, and so does a struct
// that is aligned to less than its size: how much less nobody tells here, but most are made of floats.
static void in_pieces(void* at, size_t bytes, bool write, void* pc) {
    size_t widest = bytes <= 16 ? 4 : 16, fits = bytes & -bytes;  // the largest power of two that divides the size
    size_t each = fits < widest ? fits : widest;
    for (size_t i = 0; i < bytes; i += each) check(static_cast<char*>(at) + i, each, write, false, pc, false);
}

}  // namespace sim

using namespace sim;

#define CALLER __builtin_return_address(0)

extern "C" {

void sim_check_atomic(void* address, unsigned bytes, void* pc) {
    if (bytes == 4) access<4, true, true>(address, pc);
    else if (bytes == 8) access<8, true, true>(address, pc);
    else check(static_cast<char*>(address), bytes, true, true, pc, true);
}

#define HOOKS(BYTES)                                                                                                   \
    void __tsan_read##BYTES(void* p) { access<BYTES, false>(p, CALLER); }                                              \
    void __tsan_write##BYTES(void* p) { access<BYTES, true>(p, CALLER); }                                              \
    void __tsan_volatile_read##BYTES(void* p) { access<BYTES, false>(p, CALLER); }                                     \
    void __tsan_volatile_write##BYTES(void* p) { access<BYTES, true>(p, CALLER); }                                     \
    void __tsan_read_write##BYTES(void* p) {                                                                           \
        access<BYTES, false>(p, CALLER);                                                                               \
        access<BYTES, true>(p, CALLER);                                                                                \
    }                                                                                                                  \
    void __tsan_unaligned_read##BYTES(void* p) { in_pieces(p, BYTES, false, CALLER); }                                 \
    void __tsan_unaligned_write##BYTES(void* p) { in_pieces(p, BYTES, true, CALLER); }                                 \
    void __tsan_unaligned_volatile_read##BYTES(void* p) { in_pieces(p, BYTES, false, CALLER); }                        \
    void __tsan_unaligned_volatile_write##BYTES(void* p) { in_pieces(p, BYTES, true, CALLER); }                        \
    void __tsan_unaligned_read_write##BYTES(void* p) {                                                                 \
        in_pieces(p, BYTES, false, CALLER);                                                                            \
        in_pieces(p, BYTES, true, CALLER);                                                                             \
    }
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)

void __tsan_read_range(void* p, size_t n) { in_pieces(p, n, false, CALLER); }
void __tsan_write_range(void* p, size_t n) { in_pieces(p, n, true, CALLER); }
// clang up to 14 calls the C library's own functions instead; the linker sends those calls to __wrap_* (build.py).
#define COPY(NAME)                                                                                                     \
    void* NAME(void* to, const void* from, size_t n) {                                                                 \
        in_pieces(const_cast<void*>(from), n, false, CALLER);                                                          \
        in_pieces(to, n, true, CALLER);                                                                                \
        return memmove(to, from, n);                                                                                   \
    }
#define SET(NAME)                                                                                                      \
    void* NAME(void* to, int value, size_t n) {                                                                        \
        in_pieces(to, n, true, CALLER);                                                                                \
        return memset(to, value, n);                                                                                   \
    }
// sim_check_copy is called by what whole.py writes.
COPY(sim_check_copy) COPY(__tsan_memcpy) COPY(__tsan_memmove) COPY(__wrap_memcpy) COPY(__wrap_memmove)
SET(__tsan_memset) SET(__wrap_memset)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

struct SourceLocation { const char* file; uint32_t line, column; };
struct TypeDescriptor { uint16_t kind, info; char name[1]; };
struct TypeMismatchData { SourceLocation location; const TypeDescriptor* type; uint8_t alignment, kind; };
struct OutOfBoundsData { SourceLocation location; const char* array_type; const char* index_type; };

void __ubsan_handle_out_of_bounds(OutOfBoundsData* data, uint64_t index) {
    Block* block = sim_block;
    enter_runtime(block);
    fault(OUT_OF_BOUNDS, block->current, {nullptr, {data->location.file, int(data->location.line)}}, NOBODY, {},
          "index %lld is outside of an array of type %s", (long long)int32_t(index), data->array_type + 4);
    end_thread(block);
}
// An access where the compiler knows what the pointer points into, and that it ends before. Of the kernel's own stacks nobody
// else tells; every other place has a hook.
void __ubsan_handle_type_mismatch_v1(TypeMismatchData* data, char* address) {
    if (uint64_t(address - stacks_low) >= STACK_BYTES * MAX_THREADS) return;
    Block* block = sim_block;
    enter_runtime(block);
    fault(OUT_OF_BOUNDS, block->current, {nullptr, {data->location.file, int(data->location.line)}}, NOBODY, {},
          "a %s of %s through a pointer lies outside of the local array or variable that it points into",
          data->kind == 1 ? "write" : "read", data->type->name);
    end_thread(block);
}
void __ubsan_handle_missing_return(SourceLocation* location) {
    Block* block = sim_block;
    enter_runtime(block);
    fault(CRASH, block->current, {nullptr, {location->file, int(location->line)}}, NOBODY, {},
          "a function that promises a value has come to its end without `return`");
    end_thread(block);
}
void __ubsan_handle_divrem_overflow(SourceLocation* location, uint64_t, uint64_t) {
    Block* block = sim_block;
    enter_runtime(block);
    fault(DIVISION_BY_ZERO, block->current, {nullptr, {location->file, int(location->line)}}, NOBODY, {},
          "an integer is divided by zero: a GPU goes on with a meaningless result");
    end_thread(block);
}
}

// ---- copies that do not wait, and matrix operations (ptx.h, mma.h) -----------------------------------------------------------

// End the thread, with `text` of the array's name, unless the address lies in memory of this kind. Nowhere: the access tells.
static void must_lie_in(Memory wanted, const void* address, Place place, const char* subject, const char* rule) {
    static const char* const MEMORIES[] = {"global memory", "__shared__ memory", "a thread's local memory"};
    Home home = home_of(static_cast<const char*>(address));
    if (home.memory == wanted || home.memory == NOWHERE) return;
    Block* block = sim_block;
    enter_runtime(block);
    bool named = home.name[0];
    fault(OUT_OF_BOUNDS, block->current, place, NOBODY, {}, "%s lies in %s%s%s%s: %s", subject, MEMORIES[home.memory],
          named ? " ('" : "", home.name, named ? "')" : "", rule);
    end_thread(block);
}

template <bool WRITE, bool COUNTED> static void access_of(unsigned bytes, void* at, void* pc) {
    if (bytes == 4) access<4, WRITE, false, COUNTED>(at, pc);
    else if (bytes == 8) access<8, WRITE, false, COUNTED>(at, pc);
    else access<16, WRITE, false, COUNTED>(at, pc);
}

extern "C" {

// A copy may read and write at any time from its issue to its wait: both ends are noted then and there, with the issue's place,
// and in between its destination counts as unwritten. Returns the place.
void* sim_check_issue(void* to, void* from, unsigned bytes) {
    void* pc = CALLER;
    must_lie_in(IN_SHARED, to, {pc, {}}, "the destination of this copy",
                "it must lie in __shared__ memory, or a GPU writes to a wrong address");
    must_lie_in(IN_GLOBAL, from, {pc, {}}, "the source of this copy",
                "it must lie in global memory, or a GPU reads from a wrong address");
    access_of<false, true>(bytes, from, pc);
    access_of<true, true>(bytes, to, pc);
    Counter* counter = quick_counter(pc, true);
    uint64_t offset = static_cast<char*>(to) - counter->data;
    if (counter->pc == pc && offset <= counter->last)
        for (unsigned i = 0; i < bytes / 4; i++) counter->shadow[offset / 4 + i].written = 0;
    return pc;
}

// `words`: what was read at the issue.
void sim_check_landing(void* to, void* from, const unsigned* words, unsigned bytes, void* pc) {
    access_of<false, false>(bytes, from, pc);
    access_of<true, false>(bytes, to, pc);
    Block* block = sim_block;
    if (memcmp(from, words, bytes) == 0 || block->aborted) return;
    fault(RACE, block->current, {pc, {}}, NOBODY, {},
          "the source of this copy is overwritten before the copy has been waited for: a GPU copies the old or the new value");
}

void sim_check_row(const void* row) {
    must_lie_in(IN_SHARED, row, {CALLER, {}}, "the row that this lane names",
                "ldmatrix reads only __shared__ memory, and a GPU reads from a wrong address there");
}

// The tile that a warp loads or stores as a fragment; its rows (or columns) are `stride` elements apart.
void sim_check_tile(const void* tile, unsigned stride, unsigned bytes, const char* file, int line) {
    Home home = home_of(static_cast<const char*>(tile));
    uint64_t offset = static_cast<const char*>(tile) - home.start, apart = uint64_t(stride) * bytes;
    if (home.memory == NOWHERE || (offset % 32 == 0 && apart % 16 == 0)) return;
    Block* block = sim_block;
    enter_runtime(block);
    if (apart % 16)
        fault(MISALIGNED, block->current, {nullptr, {file, line}}, NOBODY, {},
              "the rows of this tile of '%s' are %u elements (%llu bytes) apart: a GPU takes only multiples of %u elements "
              "(16 bytes), padding included",
              home.name, stride, (unsigned long long)apart, 16 / bytes);
    else
        fault(MISALIGNED, block->current, {nullptr, {file, line}}, NOBODY, {},
              "this tile begins %llu bytes after the start of '%s': a GPU takes only tiles that begin at multiples of 32 bytes",
              (unsigned long long)offset, home.name);
    end_thread(block);
}

// Of lanes that have returned, the meeting itself has told.
void sim_check_warp(const char* file, int line) {
    Block* block = sim_block;
    uint32_t lanes = block->full[block->current / WARP];
    if (lanes == ~0u || block->aborted) return;
    fault(MISSING_LANES, block->current, {nullptr, {file, line}}, NOBODY, {},
          "this warp has only %d threads, as the block's size is no multiple of 32: a matrix operation takes all 32 lanes",
          __builtin_popcount(lanes));
}
}
