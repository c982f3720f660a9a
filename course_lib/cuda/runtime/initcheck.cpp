// Initcheck: reads of memory that has never been written.
//
// Global memory of `empty` holds a pattern, the poison; of shared memory the shadow says which bytes this block has written.
#include "initcheck.h"

#include <vector>

namespace sim {

static bool padded;

// A read of unwritten shared memory: reported unless another thread writes there before the barrier, which is a race.
struct UnwrittenRead {
    const Word* word;
    unsigned thread, element;
    void* pc;
    const char* name;
    bool in_flight;  // a copy to it has been issued, but not waited for
};
static std::vector<UnwrittenRead> unwritten_reads;
constexpr size_t MOST_UNWRITTEN = 4096;

static void check_poison(const Array& array, const Access& access) {
    unsigned unwritten = poisoned_words(access.address, access.bytes);
    unsigned words = (reinterpret_cast<uintptr_t>(access.address) % 4 + access.bytes + 3) / 4;
    if (!unwritten || (padded && unwritten < words)) return;
    fault(UNINITIALISED, {access.pc, {}},
          "element %lld of '%s' is read, but nothing has written it (memory is as empty() or cudaMalloc gives it)",
          (long long)((access.address - array.data) / access.bytes), array.name);
}

// Whether what a structure's copy reads is unwritten only in its padding.
static bool reads_padding(const Array& array, const Access& access) {
    bool any = false;
    if (padded)
        for_each_word(array, access, [&](const Word& word, uint8_t bytes, uint64_t) {
            return any |= word.write_interval >= block_interval && word.written & bytes;
        });
    return any;
}

void Initcheck::on_read(const MemoryAccess& event) {
    const Block* block = event.block;
    const Array& array = event.array;
    const Access& access = event.access;
    if (block->aborted) return;
    if (array.poisoned) check_poison(array, access);
    if (array.space == GLOBAL || reads_padding(array, access)) return;
    for_each_word(array, access, [&](const Word& word, uint8_t bytes, uint64_t offset) {
        if (initialised(word, bytes, SHARED)) return false;
        bool in_flight = word.write_interval >= block_interval && !word.written;
        if (unwritten_reads.size() < MOST_UNWRITTEN)
            unwritten_reads.push_back(
                {&word, block->current, unsigned(offset / access.bytes), access.pc, array.name, in_flight});
        return event.reported = true;
    });
}

void Initcheck::on(const IntervalEnd&) {
    for (const UnwrittenRead& read : unwritten_reads)
        if (read.word->write_interval != interval || last_writer(*read.word) == read.thread || read.word->kind & ATOMIC)
            fault(UNINITIALISED, read.thread, {read.pc, {}}, NO_THREAD, {}, "element %u of __shared__ '%s' is read, but %s",
                  read.element, read.name,
                  read.in_flight ? "the copy to it has not been waited for (cp_async_wait)"
                                 : "no thread of this block has written it");
    unwritten_reads.clear();
}

void Initcheck::on(const LaunchBegin& event) {
    padded = event.padded;
    unwritten_reads.clear();
}

}  // namespace sim
