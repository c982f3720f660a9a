// The memory checker: judges every load and store before it happens.
//
// An access that would do harm is reported and ends its thread, so nothing can reach memory that is not the kernel's.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "counters.h"
#include "memory.h"
#include "shadow.h"

namespace sim {

char *library_base, *stacks_low;
bool watching;
uint64_t accesses;
void* last_pc;
static std::vector<SharedArray> shared_arrays;  // offsets until a worker adds its own base
static std::vector<SharedArray> here;
static std::vector<Word> shared_shadow;
static char *tls_low, *tls_high, *library_end;
// A variable at file scope or a static one, in the order of their places.
struct Variable {
    char* data;
    size_t bytes;
    char name[64];  // empty: the compiler's own
    bool constant;
    void* notes;    // the shadow
};
static std::vector<Variable> variables;
static char* variables_end;
static size_t mark_offset, image_bytes;
static char* (*find_mark)();

void check_worker_begin() {
    here = shared_arrays;
    stacks_low = worker_of(sim_block)->stacks;
    if (!find_mark) return;
    char* base = find_mark() - mark_offset;
    tls_low = base;
    tls_high = base + image_bytes;
    for (SharedArray& array : here) array.data = base + reinterpret_cast<size_t>(array.data);
}

Place check_place(void* pc) {
    char* at = static_cast<char*>(pc);
    if (at >= library_base && at < library_end) return {at + 1, {}};  // as if it were a return address
    return {last_pc, {}};
}

// Where a launch that is stopped, or that crashes, may have been, the innermost first: `pc`; whatever lies on the stack from `low` on and looks
// like a way back into the kernel's code; the last access. A place in our own headers has no line of the learner's, but its
// caller has.
static void* stopped_at[16];
static int stopped_count;

void check_stop(void* pc, const char* low) {
    auto note = [](char* place) {
        if (place >= library_base && place < library_end) stopped_at[stopped_count++] = place;
    };
    stopped_count = 0;
    note(static_cast<char*>(pc) + 1);  // as if it were a return address, like the others
    uint64_t depth = low - stacks_low;
    bool on_stack = depth < STACK_BYTES * MAX_THREADS;
    uint64_t guard = sysconf(_SC_PAGESIZE);  // at the low end, and not to be read
    if (on_stack && depth % STACK_BYTES < guard) low += guard - depth % STACK_BYTES, depth = low - stacks_low;
    const char* end = on_stack ? low + (STACK_BYTES - depth % STACK_BYTES) : low;
    for (const char* at = low - depth % 8; at < end && stopped_count < 15; at += 8) {
        char* word;
        memcpy(&word, at, 8);
        note(word);
    }
    note(static_cast<char*>(last_pc));
}

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
              "%s %u bytes at address %#llx, which is the host's memory: a GPU cannot reach it. Pass arrays, not addresses",
              verb(access), access.bytes, (unsigned long long)number);
    else
        fault(OUT_OF_BOUNDS, block->current, {access.pc, {}}, NOBODY, {},
              "%s %u bytes at address %#llx, where there is nothing: a very wrong index or a pointer never set",
              verb(access), access.bytes, (unsigned long long)number);
    end_thread(block);
}

static void check_alignment(Block* block, const Access& access, const char* name) {
    if (reinterpret_cast<uint64_t>(access.address) % access.bytes == 0) return;
    fault(MISALIGNED, block->current, {access.pc, {}}, NOBODY, {},
          "%s %u bytes of '%s' at an address that is no multiple of %u: a GPU refuses it", verb(access), access.bytes, name,
          access.bytes);
    end_thread(block);
}

static void check_poison(Block* block, const Array& array, const Access& access) {
    const char* first = access.address - reinterpret_cast<uint64_t>(access.address) % 4;
    for (const char* at = first; at < access.address + access.bytes; at += 4) {
        uint32_t word;
        memcpy(&word, at, 4);
        if (word != POISON || block->aborted) continue;
        fault(UNINITIALISED, block->current, {access.pc, {}}, NOBODY, {},
              "element %lld of '%s' is read, but the array came from empty() and nobody has written it",
              (long long)((access.address - array.data) / access.bytes), array.name);
        return;
    }
}

// ---- a record of accesses, for pictures -------------------------------------------------------------------------------------

struct Traced {
    void* pc;
    uint64_t offset;
    uint32_t thread, bytes;
    uint64_t block;
    int space, write;
    char name[48];
};
static std::vector<Traced> traced;
static size_t most_traced;

static void trace(Block* block, Space space, const Access& access, uint64_t offset, const char* name) {
    if (traced.size() >= most_traced) return;
    Traced now{access.pc, offset, block->current, access.bytes, block->linear, space, access.write, {}};
    strncpy(now.name, name, sizeof now.name - 1);
    traced.push_back(now);
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
    auto after = std::upper_bound(here.begin(), here.end(), access.address,
                                  [](char* address, const SharedArray& array) { return address < array.data; });
    if (here.empty()) return;
    auto at = after == here.begin() ? after : after - 1;
    if (!at->name[0] && access.address >= at->data && access.address < at->data + at->bytes) return;
    while (!at->name[0] && at != here.begin()) --at;
    while (after != here.end() && !after->name[0]) ++after;
    // In the gap between two arrays it is meant for the nearer one.
    if (after != here.end() && after->data - access.address < access.address - (at->data + at->bytes)) at = after;
    SharedArray& array = *at;
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

// An access near shared arrays, but in none, has left the first or the last one.
static bool is_shared(const char* address) {
    constexpr uint64_t BESIDE = 64 << 10;
    if (!tls_low) return false;
    if (address >= tls_low && address < tls_high) return true;
    if (address >= library_base && address < library_end) return false;  // literals may lie right beside
    return !here.empty() && address >= tls_low - BESIDE && address < tls_high + BESIDE;
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
    auto after = std::upper_bound(variables.begin(), variables.end(), access.address,
                                  [](char* address, const Variable& variable) { return address < variable.data; });
    if (after == variables.begin() || access.address >= variables_end) return;
    Variable& variable = *(after - 1);
    int64_t past = access.address + access.bytes - (variable.data + variable.bytes);
    if (past > 0) bad_variable_access(block, variable, past, after == variables.end() ? nullptr : &*after, access);
    if (variable.constant || !variable.name[0]) return;
    Word* shadow = shadow_of(variable.notes, variable.bytes);
    check_inside(block, {GLOBAL, variable.name, variable.data, variable.bytes, shadow, false, true}, access, aligned);
}

void check(char* address, unsigned bytes, bool write, bool atomic, void* pc, bool aligned, bool counted) {
    Block* block = sim_block;
    if (uint64_t(address - stacks_low) < STACK_BYTES * MAX_THREADS) return;  // local variables
    if (!block || !worker_of(block)->in_kernel || bytes == 0) return;
    if ((block->mode & SHUFFLED) && (accesses * 0x9E3779B97F4A7C15ull >> 61) == 0) yield(block, block->current);
    enter_runtime(block);
    accesses++;
    last_pc = pc;
    settle(block);
    Access access{address, bytes, write, atomic, pc, counted};
    if (Slot* slot = slot_of(address)) check_global(block, *slot, access, aligned);
    else if (is_shared(address)) check_shared(block, access, aligned);
    else if (access.address >= library_base && access.address < library_end) check_library(block, access, aligned);
    else bad_address(block, access);
    decide_watching();
    leave_runtime(block);
}

Home home_of(const char* address) {
    if (uint64_t(address - stacks_low) < STACK_BYTES * MAX_THREADS) return {IN_LOCAL, "", address};
    if (const Slot* slot = slot_of(address)) return {IN_GLOBAL, name_of(*slot), slot->data};
    if (is_shared(address)) {
        const SharedArray* home = nullptr;  // the last one that begins before
        for (const SharedArray& array : here)
            if (array.name[0] && (!home || array.data <= address)) home = &array;
        return home ? Home{IN_SHARED, home->name, home->data} : Home{IN_SHARED, "", address};
    }
    if (address < library_base || address >= library_end) return {NOWHERE, "", address};
    const Variable* home = nullptr;
    for (const Variable& variable : variables)
        if (variable.data <= address) home = &variable;
    return home ? Home{IN_GLOBAL, home->name, home->data} : Home{IN_GLOBAL, "", address};
}

}  // namespace sim

using namespace sim;

extern "C" {

// ---- called by the launcher ---------------------------------------------------------------------------------------------------

void sim_check_library(void* base, uint64_t bytes, void* mark_function, uint64_t mark, uint64_t image) {
    library_base = static_cast<char*>(base);
    library_end = library_base + bytes;
    find_mark = reinterpret_cast<char* (*)()>(mark_function);
    mark_offset = mark;
    image_bytes = image;
    shared_arrays.clear();
    for (Variable& variable : variables) free(variable.notes);
    variables.clear();
}

// To be called in the order of their places; `end`: where the memory for variables ends.
void sim_check_variable(void* data, uint64_t bytes, void* end, const char* name, int constant) {
    Variable variable{static_cast<char*>(data), bytes, {}, constant != 0, nullptr};
    strncpy(variable.name, name, sizeof variable.name - 1);
    variables.push_back(variable);
    variables_end = static_cast<char*>(end);
}

// Without a name: a byte of the compiler's own, not the learner's memory.
void sim_check_shared_array(uint64_t offset, uint64_t bytes, const char* name, int dynamic) {
    SharedArray array{reinterpret_cast<char*>(offset), bytes, {}, dynamic != 0, 0};
    strncpy(array.name, name, sizeof array.name - 1);
    shared_arrays.push_back(array);
    std::sort(shared_arrays.begin(), shared_arrays.end(),
              [](const SharedArray& a, const SharedArray& b) { return a.data < b.data; });
}

void sim_check_begin(uint64_t dynamic_bytes) {
    size_t words = 0;
    for (SharedArray& array : shared_arrays) {
        array.first_word = words;
        words += (array.dynamic ? dynamic_bytes : array.bytes) / 4 + 2;
    }
    shared_shadow.assign(words, Word{});
    clear_counters();
    shadow_launch_begin();
    accesses = 0;
    last_pc = nullptr;
    stopped_count = 0;
}

// The places that `check_stop` has found.
int sim_stopped_at(void* const** out) {
    *out = stopped_at;
    return stopped_count;
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
    if (members >> (source % WARP) & 1 || block->aborted) return;
    fault(MISSING_LANES, block->current, {nullptr, {file, line}}, NOBODY, {},
          "lane %u takes a value from lane %u, which does not take part in this shuffle: the value is undefined",
          block->current % WARP, source % WARP);
}
}
