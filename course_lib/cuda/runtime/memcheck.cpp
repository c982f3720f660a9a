// Memcheck: accesses out of bounds, misaligned, through null pointers and into the host's memory.
//
// An access that would do harm is reported, and the hook ends its thread: nothing can reach memory that is not the kernel's.
#include "memcheck.h"

#if !defined(__wasm__)
#include <unistd.h>
#endif

#include "address_map.h"
#include "shadow.h"

namespace sim {

static int64_t element_at(int64_t offset, int64_t bytes) {
    return offset >= 0 ? offset / bytes : -((bytes - 1 - offset) / bytes);
}
static const char* verb(const Access& access) {
    return access.atomic ? "an atomic operation on" : access.write ? "a write of" : "a read of";
}

#if defined(__wasm__)
static bool readable(const char* address) { return reinterpret_cast<uintptr_t>(address) < __builtin_wasm_memory_size(0) << 16; }
#else
static bool readable(const char* address) {
    static int pipe_ends[2] = {-1, -1};
    if (pipe_ends[0] < 0 && pipe(pipe_ends)) return false;
    char byte;
    return write(pipe_ends[1], address, 1) == 1 && read(pipe_ends[0], &byte, 1) == 1;
}
#endif

// ---- harmful accesses -------------------------------------------------------------------------------------------------

Verdict outside_slot(const Slot& slot, const Access& access, int64_t offset) {
    const char* name = name_of(slot);
    int64_t elements = slot.bytes / access.bytes;
    long long index = element_at(offset, access.bytes);
    if (!slot.live)
        fault(OUT_OF_BOUNDS, {access.pc, {}},
              "%s %u bytes far away from any array (an array that was freed, or a very wrong index)", verb(access),
              access.bytes);
    else if (offset < 0)
        fault(OUT_OF_BOUNDS, {access.pc, {}}, "%s %u bytes at element %lld of '%s': %lld bytes before its start", verb(access),
              access.bytes, index, name, (long long)-offset);
    else if (elements == 0)
        fault(OUT_OF_BOUNDS, {access.pc, {}}, "%s %u bytes at '%s', which has only %zu", verb(access), access.bytes, name,
              slot.bytes);
    else
        fault(OUT_OF_BOUNDS, {access.pc, {}},
              "%s %u bytes at element %lld of '%s', which has %lld (%zu bytes): %lld bytes past its end", verb(access),
              access.bytes, index, name, (long long)elements, slot.bytes,
              (long long)(offset + access.bytes - int64_t(slot.bytes)));
    return HARMFUL;
}

Verdict outside_shared(const Block* block, const SharedArray& array, const Access& access, int64_t offset) {
    size_t bytes = array.dynamic ? block->launch->shared_bytes : array.bytes;
    fault(OUT_OF_BOUNDS, {access.pc, {}}, "%s %u bytes at element %lld of __shared__ '%s', which has %zu (%zu bytes%s)",
          verb(access), access.bytes, (long long)element_at(offset, access.bytes), array.name,
          bytes / access.bytes, bytes, array.dynamic ? ": the launch's shared_mem" : "");
    return HARMFUL;
}

static Verdict outside_variable(const Variable& variable, int64_t past, const Variable* next, const Access& access) {
    int64_t before = next ? next->data - access.address : past + 1;
    bool nearer = before < past || !variable.name[0];  // to the next one
    const Variable& meant = nearer && next ? *next : variable;
    fault(OUT_OF_BOUNDS, {access.pc, {}}, "%s %u bytes, %lld bytes %s the variable '%s', which has %zu bytes", verb(access),
          access.bytes, (long long)(nearer ? before : past), nearer ? "before the start of" : "past the end of", meant.name,
          meant.bytes);
    return HARMFUL;
}

static Verdict outside_device_memory(const Access& access) {
    auto address = reinterpret_cast<unsigned long long>(access.address);
    bool host = address >= 65536 && readable(access.address);
    if (address < NEAR_NULL && !host)
        fault(NULL_POINTER, {access.pc, {}}, "%s %u bytes at address %#llx: the pointer is null (0)", verb(access),
              access.bytes, address);
    else if (host)
        fault(HOST_POINTER, {access.pc, {}},
              "%s %u bytes at address %#llx, which is the host's memory: a GPU cannot reach it. Pass arrays, not addresses%s",
              verb(access), access.bytes, address,
              has_shared_arrays() ? "; or is it a very wrong index of a __shared__ array?" : "");
    else
        fault(OUT_OF_BOUNDS, {access.pc, {}},
              "%s %u bytes at address %#llx, where there is nothing: a very wrong index or a pointer never set", verb(access),
              access.bytes, address);
    return HARMFUL;
}

static Verdict check_alignment(const Access& access, const char* name) {
    uint64_t address = reinterpret_cast<uint64_t>(access.address);
    if (address % access.bytes == 0 || (access.bytes == 16 && address % 4 == 0 && holds_structures(name))) return WITHIN;
    fault(MISALIGNED, {access.pc, {}}, "%s %u bytes of '%s' at an address that is no multiple of %u: a GPU refuses it",
          verb(access), access.bytes, name, access.bytes);
    return HARMFUL;
}

// ---- each kind of memory ----------------------------------------------------------------------------------------------

static Verdict in_slot(Slot& slot, const Access& access, Array& array) {
    if (!slot.live || access.address < slot.data || access.address + access.bytes > slot.data + slot.bytes)
        return outside_slot(slot, access, access.address - slot.data);
    array = {GLOBAL, name_of(slot), slot.data, slot.bytes, shadow_of(slot.shadow, slot.bytes), slot.poisoned, false};
    return WITHIN;
}

static Verdict in_shared(const Block* block, const Access& access, Array& array) {
    const SharedArray* found = shared_array_at(access.address);
    if (!found) return UNWATCHED;
    size_t bytes = found->dynamic ? block->launch->shared_bytes : found->bytes;
    int64_t offset = access.address - found->data;
    if (offset < 0 || uint64_t(offset) + access.bytes > bytes) return outside_shared(block, *found, access, offset);
    array = {SHARED, found->name, found->data, bytes, shared_shadow(found->first_word), false, false};
    return WITHIN;
}

// Variables of the file, and literals, which are constant.
static Verdict in_variable(const Access& access, Array& array) {
    auto [here, next] = variables_at(access.address);
    if (!here) return UNWATCHED;
    int64_t past = access.address + access.bytes - (here->data + here->bytes);
    if (past > 0) return outside_variable(*here, past, next, access);
    if (here->constant || !here->name[0]) return UNWATCHED;
    array = {GLOBAL, here->name, here->data, here->bytes, shadow_of(here->shadow, here->bytes), false, true};
    return WITHIN;
}

Verdict memcheck(const Block* block, const Access& access, bool aligned, Array& array) {
    Slot* slot = slot_of(access.address);
    Verdict verdict = slot                         ? in_slot(*slot, access, array)
                      : is_shared(access.address)  ? in_shared(block, access, array)
                      : in_library(access.address) ? in_variable(access, array)
                                                   : outside_device_memory(access);
    return verdict == WITHIN && aligned ? check_alignment(access, array.name) : verdict;
}

}  // namespace sim
