// The memory checker: judges every load and store before it happens.
//
// An access that would do harm is reported and ends its thread, so nothing can reach memory that is not the kernel's.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "counters.h"
#include "homes.h"
#include "shadow.h"

namespace sim {

bool watching, padded, returns_early;
uint64_t accesses;
void* last_pc;
static std::vector<Word> shared_shadow;
void end_thread(Block* block) {
    block->aborted = true;
    unsigned thread = block->current;
    if (block->mode & PLAIN) become_fibers(block, thread);
    leave_runtime(block);
    leave_thread(block);
}

// ---- bad addresses --------------------------------------------------------------------------------------------------------

static int64_t element_at(int64_t offset, int64_t bytes) { return offset >= 0 ? offset / bytes : -((bytes - 1 - offset) / bytes); }
static const char* verb(const Access& access) { return access.atomic ? "an atomic operation on" : access.write ? "a write of" : "a read of"; }

static bool readable(const char* address) {
    static int pipe_ends[2] = {-1, -1};
    if (pipe_ends[0] < 0 && pipe(pipe_ends)) return false;
    char byte;
    return write(pipe_ends[1], address, 1) == 1 && read(pipe_ends[0], &byte, 1) == 1;
}

[[noreturn]] static void bad_slot_access(Block* block, const Slot& slot, const Access& access) {
    const char* name = name_of(slot);
    if (!slot.live) {
        fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
              "%s %u bytes far away from any array (an array that was freed, or a very wrong index)", verb(access), access.bytes);
    } else {
        int64_t offset = access.address - slot.data;
        int64_t elements = slot.bytes / access.bytes;
        int64_t index = element_at(offset, access.bytes);
        if (offset < 0)
            fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
                  "%s %u bytes at element %lld of '%s': %lld bytes before its start", verb(access), access.bytes,
                  (long long)index, name, (long long)-offset);
        else
            fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
                  "%s %u bytes at element %lld of '%s', which has %lld (%zu bytes): %lld bytes past its end", verb(access),
                  access.bytes, (long long)index, name, (long long)elements, slot.bytes,
                  (long long)(offset + access.bytes - int64_t(slot.bytes)));
    }
    end_thread(block);
}

[[noreturn]] static void bad_address(Block* block, const Access& access) {
    uint64_t number = reinterpret_cast<uint64_t>(access.address);
    bool host = number >= 65536 && readable(access.address);
    if (number < NEAR_NULL && !host)
        fault(NULL_POINTER, block->current, {access.pc, {}}, NOBODY, {},
              "%s %u bytes at address %#llx: the pointer is null (0)", verb(access), access.bytes, (unsigned long long)number);
    else if (host)
        fault(HOST_POINTER, block->current, {access.pc, {}}, NOBODY, {},
              "%s %u bytes at address %#llx, which is the host's memory: a GPU cannot reach it. Pass arrays, not addresses%s",
              verb(access), access.bytes, (unsigned long long)number,
              shares_memory() ? "; or is it a very wrong index of a __shared__ array?" : "");
    else
        fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
              "%s %u bytes at address %#llx, where there is nothing: a very wrong index or a pointer never set",
              verb(access), access.bytes, (unsigned long long)number);
    end_thread(block);
}

static void check_alignment(Block* block, const Access& access, const char* name) {
    uint64_t number = reinterpret_cast<uint64_t>(access.address);
    if (number % access.bytes == 0 || (access.bytes == 16 && number % 4 == 0 && holds_structures(name))) return;
    fault(MISALIGNED, block->current, {access.pc, {}}, NOBODY, {},
          "%s %u bytes of '%s' at an address that is no multiple of %u: a GPU refuses it", verb(access), access.bytes, name,
          access.bytes);
    end_thread(block);
}

static void check_poison(Block* block, const Array& array, const Access& access) {
    const char* first = access.address - reinterpret_cast<uint64_t>(access.address) % 4;
    unsigned unwritten = 0, words = 0;
    for (const char* at = first; at < access.address + access.bytes; at += 4, words++) {
        uint32_t word;
        memcpy(&word, at, 4);
        unwritten += word == POISON;
    }
    if (!unwritten || (padded && unwritten < words) || block->aborted) return;
    fault(UNINITIALISED, block->current, {access.pc, {}}, NOBODY, {},
          "element %lld of '%s' is read, but the array came from empty() and nobody has written it",
          (long long)((access.address - array.data) / access.bytes), array.name);
}

// ---- a record of accesses, for pictures -------------------------------------------------------------------------------------

enum TraceOp { TRACE_READ, TRACE_WRITE, TRACE_ATOMIC, TRACE_BARRIER, TRACE_WARP_SYNC, TRACE_SHUFFLE };

struct Traced {
    void* pc;
    uint64_t offset;
    uint32_t thread, bytes;
    uint64_t block;
    int space, op, line;
    uint32_t other;   // of a warp synchronisation the lanes, of a shuffle the lane that the value comes from
    char value[16];   // of a read
    char name[48];
};
static std::vector<Traced> traced;
static size_t most_traced;

static void trace(Block* block, Space space, const Access& access, uint64_t offset, const char* name) {
    if (traced.size() >= most_traced) return;
    int op = access.atomic ? TRACE_ATOMIC : access.write ? TRACE_WRITE : TRACE_READ;
    Traced now{access.pc, offset, block->current, access.bytes, block->linear, space, op, 0, 0, {}, {}};
    if (!access.write) memcpy(now.value, access.address, std::min<size_t>(access.bytes, sizeof now.value));
    strncpy(now.name, name, sizeof now.name - 1);
    traced.push_back(now);
}

static void trace_event(Block* block, TraceOp op, unsigned thread, uint32_t other, int line) {
    if (traced.size() < most_traced) traced.push_back({nullptr, 0, thread, 0, block->linear, 0, op, line, other, {}, {}});
}
void trace_barrier(Block* block, int line) { trace_event(block, TRACE_BARRIER, 0, 0, line); }
void trace_warp_sync(Block* block, unsigned warp, uint32_t lanes, int line) {
    trace_event(block, TRACE_WARP_SYNC, warp * WARP, lanes, line);
}

void decide_watching() {
    bool shuffled = sim_block && (sim_block->mode & SHUFFLED);
    watching = shuffled || traced.size() < most_traced || settling();
}

// ---- an access --------------------------------------------------------------------------------------------------------------

// Let hooks.cpp pass what this instruction touches in the same array next, if it is harmless.
static void remember(Counter* counter, const Access& access, const Array& array) {
    if (!counter) return;
    counter->data = array.data;
    counter->last = array.bytes - access.bytes;
    counter->shadow = array.shadow;
    counter->poisoned = array.poisoned;
    quick_counter(access.pc, access.write) = counter;
}

static void check_inside(Block* block, const Array& array, const Access& access, bool aligned) {
    if (aligned) check_alignment(block, access, array.name);
    uint64_t offset = access.address - array.data;
    if (array.poisoned && (!access.write || access.atomic)) check_poison(block, array, access);
    check_words(block, array, access);
    if (!access.counted) return;
    remember(count_request(block, array.space, access, offset), access, array);
    trace(block, array.space, access, offset, array.name);
}

// Whole cache lines of notes, all zero at first. `notes` is what to free.
static Word* shadow_of(void*& notes, size_t bytes) {
    if (!notes) notes = calloc(bytes / 4 + 4, sizeof(Word));
    return reinterpret_cast<Word*>((reinterpret_cast<uintptr_t>(notes) + 63) / 64 * 64);
}

static void check_global(Block* block, Slot& slot, const Access& access, bool aligned) {
    if (!slot.live || access.address < slot.data || access.address + access.bytes > slot.data + slot.bytes)
        bad_slot_access(block, slot, access);
    Word* shadow = shadow_of(slot.shadow, slot.bytes);
    const char* name = name_of(slot);
    check_inside(block, {GLOBAL, name, slot.data, slot.bytes, shadow, slot.poisoned, false}, access, aligned);
}

static void check_shared(Block* block, const Access& access, bool aligned) {
    SharedArray* found = shared_array_at(access.address);
    if (!found) return;
    const SharedArray& array = *found;
    size_t bytes = array.dynamic ? block->launch->shared_bytes : array.bytes;
    int64_t offset = access.address - array.data;
    if (offset < 0 || offset + access.bytes > bytes) {
        fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
              "%s %u bytes at element %lld of __shared__ '%s', which has %zu (%zu bytes%s)", verb(access), access.bytes,
              (long long)element_at(offset, access.bytes), array.name, bytes / access.bytes, bytes,
              array.dynamic ? ": the launch's shared_mem" : "");
        end_thread(block);
    }
    Word* shadow = &shared_shadow[array.first_word];
    check_inside(block, {SHARED, array.name, array.data, bytes, shadow, false, false}, access, aligned);
}

[[noreturn]] static void bad_variable_access(Block* block, const Variable& variable, int64_t past, const Variable* next,
                                             const Access& access) {
    int64_t before = next ? next->data - access.address : past + 1;
    bool nearer = before < past || !variable.name[0];  // to the next one
    const Variable& meant = nearer && next ? *next : variable;
    fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
          "%s %u bytes, %lld bytes %s the variable '%s', which has %zu bytes", verb(access), access.bytes,
          (long long)(nearer ? before : past), nearer ? "before the start of" : "past the end of", meant.name, meant.bytes);
    end_thread(block);
}

// Variables of the file, and literals, which nobody writes.
static void check_library(Block* block, const Access& access, bool aligned) {
    auto [here, next] = variables_at(access.address);
    if (!here) return;
    Variable& variable = *here;
    int64_t past = access.address + access.bytes - (variable.data + variable.bytes);
    if (past > 0) bad_variable_access(block, variable, past, next, access);
    if (variable.constant || !variable.name[0]) return;
    Word* shadow = shadow_of(variable.notes, variable.bytes);
    check_inside(block, {GLOBAL, variable.name, variable.data, variable.bytes, shadow, false, true}, access, aligned);
}

void check(char* address, unsigned bytes, bool write, bool atomic, void* pc, bool aligned, bool counted) {
    Block* block = sim_block;
    if (is_local(address)) return;
    if (!block || !worker_of(block)->in_kernel || bytes == 0) return;
    if ((block->mode & SHUFFLED) && (accesses * 0x9E3779B97F4A7C15ull >> 61) == 0) yield(block, block->current);
    enter_runtime(block);
    accesses++;
    last_pc = pc;
    settle(block);
    Access access{address, bytes, write, atomic, pc, counted};
    if (Slot* slot = slot_of(address)) check_global(block, *slot, access, aligned);
    else if (is_shared(address)) check_shared(block, access, aligned);
    else if (in_library(address)) check_library(block, access, aligned);
    else bad_address(block, access);
    decide_watching();
    leave_runtime(block);
}

}  // namespace sim

using namespace sim;

extern "C" {

// ---- called by the launcher ---------------------------------------------------------------------------------------------------

void sim_check_begin(uint64_t dynamic_bytes, int has_padding, int has_return) {
    padded = has_padding;
    returns_early = has_return;
    if (!traced.empty()) most_traced = traced.size();  // those of the launch before
    shared_shadow.assign(share_out_shadow(dynamic_bytes), Word{});
    clear_counters();
    shadow_launch_begin();
    accesses = 0;
    last_pc = nullptr;
    stops_launch_begin();
}

uint64_t sim_access_count() { return accesses; }

// Remember the first `most` accesses of the next checked launch.
void sim_trace(uint64_t most) {
    most_traced = most;
    traced.clear();
}
uint64_t sim_traced(const Traced** out) {
    *out = traced.data();
    return traced.size();
}

// ---- called by the simulator's headers ----------------------------------------------------------------------------------------

void sim_checked_fence(int for_all) { check_fence(sim_block, for_all); }
void sim_check_source(unsigned source, uint32_t members, const char* file, int line) {
    Block* block = sim_block;
    if (most_traced) {
        enter_runtime(block);
        trace_event(block, TRACE_SHUFFLE, block->current, source % WARP, line);
        leave_runtime(block);
    }
    if (members >> (source % WARP) & 1 || block->aborted) return;
    fault(MISSING_LANES, block->current, {nullptr, {file, line}}, NOBODY, {},
          "lane %u takes a value from lane %u, which does not take part in this shuffle: the value is undefined",
          block->current % WARP, source % WARP);
}
}
