// The table of a kernel's instructions, by their program counters.
#include "instructions.h"

#include <algorithm>
#include <cstring>

namespace sim {

constexpr unsigned TABLE = 8192;
static Instruction none;  // at no pc
Instruction* cached[2][CACHED];
static const bool filled = (std::fill(&cached[0][0], &cached[0][0] + 2 * CACHED, &none), true);
static Instruction* table[TABLE];
static std::vector<Instruction*> instructions;

const std::vector<Instruction*>& all_instructions() { return instructions; }

Instruction* find_instruction(void* pc, Space space, bool write, unsigned bytes) {
    size_t at = (reinterpret_cast<uint64_t>(pc) * 0x9E3779B97F4A7C15ull >> 40) % TABLE;
    for (unsigned tries = 0; tries < TABLE; tries++, at = (at + 1) % TABLE) {
        Instruction*& found = table[at];
        if (!found) {
            found = new Instruction{};
            found->pc = pc;
            found->space = space;
            found->write = write;
            found->bytes = bytes;
            found->pending = new Pending[MAX_WARPS]{};
            instructions.push_back(found);
            return found;
        }
        if (found->pc == pc && found->space == space && found->write == write) return found;
    }
    return nullptr;
}

void clear_instructions() {
    for (Instruction* instruction : instructions) {
        cached_instruction(instruction->pc, instruction->write) = &none;
        delete[] instruction->pending;
        delete instruction;
    }
    instructions.clear();
    memset(table, 0, sizeof table);
}

}  // namespace sim
