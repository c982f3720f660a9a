// The arrays and variables of the kernel's file, as the launcher describes them, and which of them an address lies in.
#include "address_map.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace sim {

char *library_base, *library_end, *stacks_low;
static std::vector<SharedArray> shared_arrays;  // offsets until a worker adds its own base
static std::vector<SharedArray> mapped;         // this worker's
static char *tls_low, *tls_high;
static std::vector<Variable> variables;  // by address
static char* variables_end;
static std::vector<std::string> of_structures;  // names of arrays
static size_t anchor_offset, image_bytes;
static char* (*find_anchor)();

void map_worker(const Worker* worker) {
    mapped = shared_arrays;
    stacks_low = worker->stacks;
    if (!find_anchor) return;
    char* base = find_anchor() - anchor_offset;
    tls_low = base;
    tls_high = base + image_bytes;
    for (SharedArray& array : mapped) array.data = base + reinterpret_cast<size_t>(array.data);
}

size_t lay_out_shared_shadow(uint64_t dynamic_bytes) {
    size_t words = 0;
    for (SharedArray& array : shared_arrays) {
        array.first_word = words;
        words += (array.dynamic ? dynamic_bytes : array.bytes) / 4 + 2;
    }
    return words;
}

// An access near shared arrays, but in none, has left the first or the last one.
bool is_shared(const char* address) {
    constexpr uint64_t BESIDE = 64 << 10;
    if (!tls_low) return false;
    if (address >= tls_low && address < tls_high) return true;
    if (in_library(address)) return false;  // literals may lie right beside
    return !mapped.empty() && address >= tls_low - BESIDE && address < tls_high + BESIDE;
}

bool holds_structures(const char* name) {
    return std::find(of_structures.begin(), of_structures.end(), name) != of_structures.end();
}

bool has_shared_arrays() { return !mapped.empty(); }

// The first of some arrays or variables, by address, that begins behind an address.
template <class A> static auto behind(std::vector<A>& arrays, const char* address) {
    return std::upper_bound(arrays.begin(), arrays.end(), address,
                            [](const char* address, const A& array) { return address < array.data; });
}

SharedArray* shared_array_at(char* address) {
    if (mapped.empty()) return nullptr;
    auto after = behind(mapped, address), at = after == mapped.begin() ? after : after - 1;
    if (!at->name[0] && address >= at->data && address < at->data + at->bytes) return nullptr;
    while (!at->name[0] && at != mapped.begin()) --at;
    while (after != mapped.end() && !after->name[0]) ++after;
    bool nearer = after != mapped.end() && after->data - address < address - (at->data + at->bytes);  // in a gap
    return nearer ? &*after : &*at;
}

AdjacentVariables variables_at(char* address) {
    auto after = behind(variables, address);
    if (after == variables.begin() || address >= variables_end) return {nullptr, nullptr};
    return {&*(after - 1), after == variables.end() ? nullptr : &*after};
}

Region region_of(const char* address) {
    if (is_local(address)) return {IN_LOCAL, "", address};
    if (const Slot* slot = slot_of(address)) return {IN_GLOBAL, name_of(*slot), slot->data};
    if (is_shared(address)) {
        const SharedArray* found = nullptr;  // the last one that begins before
        for (const SharedArray& array : mapped)
            if (array.name[0] && (!found || array.data <= address)) found = &array;
        return found ? Region{IN_SHARED, found->name, found->data} : Region{IN_SHARED, "", address};
    }
    if (!in_library(address)) return {UNMAPPED, "", address};
    auto after = behind(variables, address);
    if (after == variables.begin()) return {IN_GLOBAL, "", address};
    return {IN_GLOBAL, (after - 1)->name, (after - 1)->data};
}

}  // namespace sim

using namespace sim;

extern "C" {

// The kernel's library, and how to find a worker's copy of its shared arrays: by the address of an anchor among them.
void sim_check_library(void* base, uint64_t bytes, void* anchor_function, uint64_t anchor, uint64_t image) {
    library_base = static_cast<char*>(base);
    library_end = library_base + bytes;
    find_anchor = reinterpret_cast<char* (*)()>(anchor_function);
    anchor_offset = anchor;
    image_bytes = image;
    shared_arrays.clear();
    for (Variable& variable : variables) free(variable.shadow);
    variables.clear();
    of_structures.clear();
}

void sim_check_structures(const char* name) { of_structures.push_back(name); }

// To be called in the order of their addresses; `end`: where the memory for variables ends.
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
}
