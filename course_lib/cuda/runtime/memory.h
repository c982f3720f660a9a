// Device memory: each array in an address slot of its own.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

constexpr uint64_t SLOT_BYTES = 1ull << 35;
constexpr unsigned MOST_SLOTS = 2048;
constexpr unsigned STACK_SLOTS = 64;  // the last of them: there no wrong index of a shared array reaches (stacks.cpp)
constexpr uint32_t POISON = 0xFFFEFFFEu;  // what memory never written holds: NaN in every float type

constexpr uint64_t NEAR_NULL = 16 << 20;  // what lies below, and is not mapped, was reached from a null pointer

struct Slot {
    char* data = nullptr;      // the array: ends (to 16 bytes) where the mapping ends
    size_t bytes = 0;
    char* mapping = nullptr;
    size_t mapped = 0;
    bool live = false;
    bool poisoned = false;     // came from `empty`
    void* shadow = nullptr;    // shadow memory (shadow.h)
    char name[48] = {};        // the parameter it was passed for
};

// Addresses that the system does not hand out by itself: all of them are device memory's.
struct Range {
    uint64_t begin, bytes;
};
extern const Range slot_range;
extern Slot slots[MOST_SLOTS];

inline const char* name_of(const Slot& slot) { return slot.name[0] ? slot.name : "an array that no parameter names"; }

// Whether the bytes around an array are as they were: 0 yes, 1 not those behind its end, 2 not those before its start.
int altered(const Slot&);

#if defined(__wasm__)
Slot* slot_of(const void* address);  // there the next array is nearer: course_lib/site/engine/port
#else
inline Slot* slot_of(const void* address) {
    uint64_t offset = reinterpret_cast<uint64_t>(address) - slot_range.begin;
    return offset < slot_range.bytes ? &slots[offset / SLOT_BYTES] : nullptr;
}
#endif

}  // namespace sim
