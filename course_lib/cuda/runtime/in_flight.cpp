#include "in_flight.h"

#include <mutex>
#include <string>
#include <vector>

#include "memory.h"
#include "shadow.h"

namespace sim {

struct Work {
    std::string name;
    const void* stream;
    uint32_t first, last;              // of a launch
    const char *begin, *end;           // of a copy
    bool writes;
};
static std::mutex& lock = *new std::mutex;  // never destroyed: destructors of the program come later
static std::vector<Work>& works = *new std::vector<Work>;
static bool joined;
using Hold = std::lock_guard<std::mutex>;

constexpr size_t MOST_WORKS = 256;  // a program that never waits: the oldest are forgotten

static void add(Work work) {
    Hold hold(lock);
    if (works.size() == MOST_WORKS) works.erase(works.begin());
    works.push_back(work);
}

void launched(const char* kernel, const void* stream, uint32_t first, uint32_t last) {
    add({kernel, stream, first, last, nullptr, nullptr, false});
}

const char* in_flight(const Slot& slot, const char* address, bool writes) {
    Hold hold(lock);
    if (works.empty()) return nullptr;
    Word word{};
    if (void* storage = slot.shadow) word = shadow_of(storage, slot.bytes)[(address - slot.data) / 4];
    const uint8_t byte = 1 << (address - slot.data) % 4;
    auto within = [](const Work& work, uint32_t interval) { return interval >= work.first && interval <= work.last; };
    for (const Work& work : works) {
        bool written = within(work, word.write_interval) && word.written & byte && !(word.kind & ATOMIC);
        bool read = writes && within(work, word.read_interval) && word.read_mask & byte;
        bool copied = address >= work.begin && address < work.end && (writes || work.writes);
        if (written || read || copied) return work.name.c_str();
    }
    return nullptr;
}

}  // namespace sim

using namespace sim;

extern "C" {

void sim_program_copying(const void* stream, const void* pinned, size_t bytes, bool into) {
    auto begin = static_cast<const char*>(pinned);
    add({"cudaMemcpyAsync", stream, 1, 0, begin, begin + bytes, into});
}

void sim_program_wait(const void* stream) {
    Hold hold(lock);
    size_t kept = 0;
    for (Work& work : works)
        if (stream && !joined && work.stream && work.stream != stream) works[kept++] = work;
    works.resize(kept);
}

void sim_program_join() { joined = true; }
}
