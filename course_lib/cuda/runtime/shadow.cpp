// Shadow memory: where it lies, and the reads that are harder to record.
#include "shadow.h"

#include <cstdlib>
#include <map>
#include <vector>

#include "address_map.h"

namespace sim {

static std::vector<Word> shared_words;  // of this worker's shared arrays
static std::map<const Block*, std::vector<Word>> of_others;  // of blocks of a cooperative launch that wait
static uint32_t begun;                                       // the first interval of the block that runs now

Word* shadow_of(void*& storage, size_t bytes) {
    constexpr size_t LINE = 64;  // of the cache
    if (!storage) storage = calloc(bytes / 4 + LINE / sizeof(Word) + 2, sizeof(Word));
    return reinterpret_cast<Word*>((reinterpret_cast<uintptr_t>(storage) + LINE - 1) / LINE * LINE);
}

Word* shared_shadow(size_t first_word) { return &shared_words[first_word]; }

// Of the readers of an interval the first warp's are kept, with their pc: a later one is often the thread that then writes.
void record_other_read(Word& word, unsigned thread, uint8_t bytes, uint32_t pc) {
    unsigned warp = thread / WARP, lane = thread % WARP;
    bool parts = word.read_mask != bytes && word.read_lanes != 1u << lane;
    if (word.read_warp != warp && word.read_mask == bytes) {
        word.readers |= MANY_WARPS;
        return;
    }
    if (word.read_warp != warp || (parts && word.readers & MANY_WARPS)) {  // one part of the word is forgotten
        word.read_lanes = 0;
        word.readers &= EARLIER_BLOCKS;
        word.read_mask = 0;
    } else if (parts) {
        word.readers |= PARTS;
    } else if (word.read_clock != warp_clocks[warp].now && !(word.readers & MANY_WARPS)) {
        for (uint32_t lanes = word.read_lanes; lanes; lanes &= lanes - 1) {
            unsigned earlier = __builtin_ctz(lanes);
            if (warp_ordered(warp, earlier, word.read_clock, lane)) word.read_lanes &= ~(1u << earlier);
        }
    }
    if (!word.read_lanes) word.read_pc = pc;
    word.read_warp = warp;
    word.read_lanes |= 1u << lane;
    word.read_mask |= bytes;
    word.read_clock = warp_clocks[warp].now;
}

// ---- events -----------------------------------------------------------------------------------------------------------

void Shadow::on(const LaunchBegin& event) {
    of_others.clear();
    shared_words.assign(lay_out_shared_shadow(event.dynamic_bytes), Word{});
}

void Shadow::on(const BlockBegin& event) {
    if (event.block->launch->resident) begun = block_interval;
}

void Shadow::on(const BlockLeave& event) {
    size_t words = shared_words.size();
    for (Word& word : shared_words) word.write_interval *= word.write_interval >= begun;  // 0: not written by this block
    of_others[event.block].swap(shared_words);  // not copied: instructions know where it lies
    shared_words.assign(words, Word{});
}

void Shadow::on(const BlockResume& event) {
    of_others[event.block].swap(shared_words);
    begun = block_interval;
    for (Word& word : shared_words) {
        if (word.write_interval) word.write_interval = block_interval;
        word.read_interval = 0;
    }
}

void Shadow::on(const MemoryAccess& event) {
    const Access& access = event.access;
    uint32_t pc = library_offset(access.pc), thread = event.block->current;
    for_each_word(event.array, access, [&](Word& word, uint8_t bytes, uint64_t) {
        if (access.write) record_write(word, thread, bytes, pc, access.atomic);
        else record_read(word, thread, bytes, pc);
        if (access.of_block) word.kind |= OF_BLOCK;
        return false;
    });
}

}  // namespace sim
