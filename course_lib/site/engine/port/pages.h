// WebAssembly: whose a page of the one linear memory is. All of the kernel's memory lies in it, side by side.
#pragma once
#include "memory.h"

namespace sim {

constexpr size_t PAGE = 65536;
// Numbers of owners: a slot's number for an array and the gaps on either side of it; these; 0 for anybody else.
enum : uint16_t { NO_MEMORY = 0xFFFF, SHARED_MEMORY = 0x8000 };  // near the null pointer; and the number of a shared array
extern uint16_t page_owner[65536];
inline uint16_t owner_of(uintptr_t address) { return page_owner[address / PAGE]; }

}  // namespace sim
