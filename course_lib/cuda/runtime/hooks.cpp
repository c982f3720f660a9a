// What compiled kernels call before each load and store; the names are those of the compiler's thread sanitizer.
//
// Nearly all accesses are surely harmless: aligned, inside the array that the same instruction touched before, and in order
// with the last read and write of that word. These are noted right here. Every other access goes to checker.cpp.
#include <cstring>

#include "counters.h"
#include "homes.h"
#include "shadow.h"

namespace sim {

template <unsigned BYTES> static bool holds_poison(const char* address) {
    uint32_t words[(BYTES + 3) / 4];
    memcpy(words, address - reinterpret_cast<uintptr_t>(address) % 4, sizeof words);
    for (uint32_t word : words)
        if (word == POISON) return true;
    return false;
}

template <unsigned BYTES, bool WRITE, bool ATOMIC = false> static void access(void* at, void* pc) {
    constexpr unsigned WORDS = (BYTES + 3) / 4;
    char* address = static_cast<char*>(at);
    if (is_local(address)) return;
    Counter* counter = quick_counter(pc, WRITE);
    uint64_t offset = address - counter->data;
    if (__builtin_expect(counter->pc != pc || offset > counter->last || offset % BYTES || watching, 0))
        return check(address, BYTES, WRITE, ATOMIC, pc, true);
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
            return check(address, BYTES, WRITE, ATOMIC, pc, true);
    last_pc = pc;
    accesses++;
    uint32_t relative_pc = static_cast<char*>(pc) - library_base;
    for (unsigned i = 0; i < WORDS; i++) {
        if (WRITE) note_write(word[i], thread, bytes, relative_pc, ATOMIC);
        else note_read(word[i], thread, bytes, relative_pc);
    }
    note_access(block, counter, thread, offset);
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
// clang up to 14 calls the C library's own functions instead; the linker sends those calls to __wrap_* (flags.py).
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
// sim_check_copy is called by what vector_access.py writes.
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
    if (!is_local(address)) return;
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
