// What compiled kernels call before each load and store (the names are those of the compiler's thread sanitizer), and where its
// undefined-behaviour sanitizer has found a fault.
//
// Nearly all accesses are surely harmless: aligned, inside the array that the same instruction accessed before, and ordered
// after the last read and write of that word. These are recorded right here; every other access becomes an event.
#include "hooks.h"

#include <cstdio>
#include <cstring>

#include "address_map.h"
#include "backtraces.h"
#include "counters.h"
#include "initcheck.h"
#include "memcheck.h"
#include "racecheck.h"
#include "scheduler.h"

namespace sim {

static uint64_t accesses;

void access_event(char* address, unsigned bytes, bool write, bool atomic, void* pc, bool aligned, bool counted, bool of_block) {
    Block* block = sim_block;
    if (is_local(address)) return;
#if defined(__wasm__)  // no program of the host runs in a page
    if (!block) return;
#else
    if (!block) return host_access(address, write, pc);
#endif
    if (!worker_of(block)->in_kernel || bytes == 0) return;
#if !defined(__wasm__)  // a coroutine waits where the kernel says so, and not in a hook
    if ((block->mode & SHUFFLED) && (accesses * 0x9E3779B97F4A7C15ull >> 61) == 0) yield(block, block->current);
#endif
    enter_runtime(block);
    accesses++;
    Checkers::on(BeforeAccess{block, pc});
    Access access{address, bytes, write, atomic, pc, nullptr, of_block};
    Array array;
    Verdict verdict = memcheck(block, access, aligned, array);
    if (verdict == HARMFUL) abort_thread(block);
    if (verdict == WITHIN) {
        if (counted) {
            Instruction* last = cached_instruction(pc, write);
            bool same = last->pc == pc && last->space == array.space;
            access.instruction = same ? last : find_instruction(pc, array.space, write, bytes);
        }
        bool reported = false;
        Checkers::on(MemoryAccess{block, array, access, reported});
        if (access.instruction) cache_instruction(access.instruction, array, bytes);
    }
    choose_path(block);
    leave_runtime(block);
}

void report_and_abort(Kind kind, CodeLocation where, const char* format, ...) {
    enter_runtime(sim_block);
    char message[sizeof Fault::message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fault(kind, where, "%s", message);
    abort_thread(sim_block);
}

// The fast path. The first half asks whether any checker has something to report, the second records the access for each.
template <unsigned BYTES, bool WRITE, bool ATOMIC = false> static void access(void* at, void* pc) {
    constexpr unsigned WORDS = (BYTES + 3) / 4;
    constexpr bool READ = !WRITE || ATOMIC;
    char* address = static_cast<char*>(at);
    if (is_local(address)) return;
    Instruction* instruction = cached_instruction(pc, WRITE);
    uint64_t offset = address - instruction->data;
    if (__builtin_expect(instruction->pc != pc || offset > instruction->last || offset % BYTES || every_access, 0))
        return access_event(address, BYTES, WRITE, ATOMIC, pc, true);
    Block* block = sim_block;
    unsigned thread = block->current;
    Space space = instruction->space;
    Word* word = instruction->shadow + offset / 4;
    uint8_t bytes = BYTES < 4 ? ((1u << BYTES) - 1) << offset % 4 : 15;
    if (READ && __builtin_expect(instruction->poisoned, 0) && poisoned_words(address, BYTES))
        return access_event(address, BYTES, WRITE, ATOMIC, pc, true);
    if (ATOMIC && watch_atomics) return access_event(address, BYTES, WRITE, ATOMIC, pc, true);
    for (unsigned i = 0; i < WORDS; i++)
        if (__builtin_expect((READ && !initialised(word[i], bytes, space)) ||
                             !race_free(word[i], thread, bytes, space, WRITE, ATOMIC), 0))
            return access_event(address, BYTES, WRITE, ATOMIC, pc, true);

    Backtraces::on(BeforeAccess{block, pc});
    accesses++;
    for (unsigned i = 0; i < WORDS; i++) {
        if (WRITE) record_write(word[i], thread, bytes, library_offset(pc), ATOMIC);
        else record_read(word[i], thread, bytes, library_offset(pc));
    }
    count_access(block, instruction, thread, offset);
}

// A GPU reads and writes 1, 2, 4, 8 or 16 bytes at once. What is of another size takes several accesses, and so does a struct
// that is aligned to less than its size: how much less is not known here, but most are made of floats.
static void in_parts(void* at, size_t bytes, bool write, void* pc) {
    size_t widest = bytes <= 16 ? 4 : 16, fits = bytes & -bytes;  // the largest power of two that divides the size
    size_t each = fits < widest ? fits : widest;
    for (size_t i = 0; i < bytes; i += each) access_event(static_cast<char*>(at) + i, each, write, false, pc, false);
}

}  // namespace sim

using namespace sim;

extern "C" {

static bool of_one_block;  // the next atomic
void sim_check_block_scope() { of_one_block = true; }
void sim_check_atomic(void* address, unsigned bytes, void* pc) {
    if (of_one_block) {
        of_one_block = false;
        access_event(static_cast<char*>(address), bytes, true, true, pc, true, true, true);
    } else if (bytes == 4) access<4, true, true>(address, pc);
    else if (bytes == 8) access<8, true, true>(address, pc);
    else access_event(static_cast<char*>(address), bytes, true, true, pc, true);
}

#define HOOKS(BYTES)                                                                                                   \
    void __tsan_read##BYTES(void* p SIM_SITE) { access<BYTES, false>(p, SIM_CALLER); }                                              \
    void __tsan_write##BYTES(void* p SIM_SITE) { access<BYTES, true>(p, SIM_CALLER); }                                              \
    void __tsan_volatile_read##BYTES(void* p SIM_SITE) { access<BYTES, false>(p, SIM_CALLER); }                                     \
    void __tsan_volatile_write##BYTES(void* p SIM_SITE) { access<BYTES, true>(p, SIM_CALLER); }                                     \
    void __tsan_read_write##BYTES(void* p SIM_SITE) {                                                                           \
        access<BYTES, false>(p, SIM_CALLER);                                                                               \
        access<BYTES, true>(p, SIM_CALLER);                                                                                \
    }                                                                                                                  \
    void __tsan_unaligned_read##BYTES(void* p SIM_SITE) { in_parts(p, BYTES, false, SIM_CALLER); }                                 \
    void __tsan_unaligned_write##BYTES(void* p SIM_SITE) { in_parts(p, BYTES, true, SIM_CALLER); }                                 \
    void __tsan_unaligned_volatile_read##BYTES(void* p SIM_SITE) { in_parts(p, BYTES, false, SIM_CALLER); }                        \
    void __tsan_unaligned_volatile_write##BYTES(void* p SIM_SITE) { in_parts(p, BYTES, true, SIM_CALLER); }                        \
    void __tsan_unaligned_read_write##BYTES(void* p SIM_SITE) {                                                                 \
        in_parts(p, BYTES, false, SIM_CALLER);                                                                            \
        in_parts(p, BYTES, true, SIM_CALLER);                                                                             \
    }
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)

void __tsan_read_range(void* p, size_t n SIM_SITE) { in_parts(p, n, false, SIM_CALLER); }
void __tsan_write_range(void* p, size_t n SIM_SITE) { in_parts(p, n, true, SIM_CALLER); }
// clang up to 14 calls the C library's own functions instead; the linker sends those calls to __wrap_* (flags.py).
#define COPY(NAME)                                                                                                     \
    void* NAME(void* to, const void* from, size_t n SIM_SITE) {                                                                 \
        in_parts(const_cast<void*>(from), n, false, SIM_CALLER);                                                          \
        in_parts(to, n, true, SIM_CALLER);                                                                                \
        return memmove(to, from, n);                                                                                   \
    }
#define SET(NAME)                                                                                                      \
    void* NAME(void* to, int value, size_t n SIM_SITE) {                                                                        \
        in_parts(to, n, true, SIM_CALLER);                                                                                \
        return memset(to, value, n);                                                                                   \
    }
// What a checked build of clang calls for a vector access that its optimiser must not split: sim_check_copy.
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
static CodeLocation at(const SourceLocation& location) { return {nullptr, {location.file, int(location.line)}}; }


void __ubsan_handle_out_of_bounds(OutOfBoundsData* data, uintptr_t index) {
    report_and_abort(OUT_OF_BOUNDS, at(data->location), "index %lld is outside of an array of type %s",
                     (long long)int32_t(index), data->array_type + 4);
}
// An access where the compiler knows what the pointer points into, and that it ends before. Only this hook
// sees the threads' own stacks; all other memory has hooks of its own.
void __ubsan_handle_type_mismatch_v1(TypeMismatchData* data, char* address) {
    if (!is_local(address)) return;
    report_and_abort(OUT_OF_BOUNDS, at(data->location),
                     "a %s of %s through a pointer lies outside of the local array or variable that it points into",
                     data->kind == 1 ? "write" : "read", data->type->name);
}
void __ubsan_handle_missing_return(SourceLocation* location) {
    report_and_abort(CRASH, at(*location), "a function that promises a value has come to its end without `return`");
}
void __ubsan_handle_divrem_overflow(SourceLocation* location, uintptr_t, uintptr_t) {
    report_and_abort(DIVISION_BY_ZERO, at(*location), "an integer is divided by zero: a GPU goes on with a meaningless result");
}

// ---- called by the launcher -------------------------------------------------------------------------------------------

void sim_check_begin(uint64_t dynamic_bytes, int padded, int returns_early) {
    accesses = 0;
    Checkers::on(LaunchBegin{dynamic_bytes, padded != 0, returns_early != 0});
}
uint64_t sim_access_count() { return accesses; }

// ---- called by the simulator's headers --------------------------------------------------------------------------------

void sim_check_fence(int for_all) { Checkers::on(Fence{sim_block, for_all != 0}); }
void sim_check_source(unsigned source, uint32_t members, const char* file, int line) {
    Checkers::on(Shuffle{sim_block, source, members, {file, line}});
}
}
