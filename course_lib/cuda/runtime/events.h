// The events of a checked launch, and the checkers that listen to them.
//
// The hooks and the scheduler emit events; each checker has a file of its own, overrides what it listens to, and knows no other
// (the plugins of Oclgrind are the model, the names are those of compute-sanitizer's tools). The list of checkers is fixed when
// the runtime is compiled, so an event is a few direct calls. Checked launches run on one worker, so nothing here needs a lock.
//
// Most accesses cause no event: hooks.cpp sees at once that no checker has anything to say about them.
#pragma once
#include <cstdint>

#include "runtime.h"

namespace sim {

struct Word;
struct Instruction;

enum Space { GLOBAL, SHARED };

// The memory that an access lies in.
struct Array {
    Space space;
    const char* name;
    char* data;
    size_t bytes;
    Word* shadow;
    bool poisoned;  // came from `empty`
    bool variable;  // a `__device__` variable
};

struct Access {
    char* address;
    unsigned bytes;
    bool write, atomic;
    void* pc;
    Instruction* instruction;  // null: this is no request of its own, or there are too many instructions
};

// What a lane calls when it arrives at an operation of its warp.
struct Arrival {
    uint32_t mask;
    int operation;
    SourceLine line;
};

struct LaunchInfo {
    uint64_t dynamic_bytes;  // of shared memory
    bool padded;             // the file's structs have bytes between their members, which are never written
    bool returns_early;      // the kernel has a `return` of its own: lanes that are gone may have taken it
};

// What a checker does not listen to, it inherits from here.
struct Checker {
    static void launch_begin(const LaunchInfo&) {}
    static void block_begin(Block*) {}
    static void block_end(Block*) {}
    static void barrier(Block*, unsigned) {}                      // all have arrived, last that thread; NO_THREAD: one returned
    static void warp_arrive(Block*, unsigned, const Arrival&, const Group&) {}  // of a thread, in the group that it joins
    static void warp_sync(Block*, unsigned, const Group&) {}      // all lanes of a warp's group have arrived
    static void fence(Block*, bool) {}                            // for all blocks, or for this one
    static void thread_end(Block*, unsigned) {}
    static void before_access(Block*, void*) {}                   // from that pc; the access before has taken place
    static void access(Block*, const Array&, const Access&, bool&) {}  // the flag: a checker before has reported it
    static bool wants_every_access() { return false; }
};

// In which the last access and the stack of a launch that is stopped are found (backtraces.cpp).
struct Backtraces : Checker {
    static void launch_begin(const LaunchInfo&);
    static void before_access(Block*, void* pc);
};
// What orders the threads (clocks.cpp).
struct Clocks : Checker {
    static void launch_begin(const LaunchInfo&);
    static void block_begin(Block*);
    static void warp_sync(Block*, unsigned warp, const Group&);
    static void fence(Block*, bool for_all);
    static void access(Block*, const Array&, const Access&, bool& reported);
};
// Barriers that not all threads reach, warp operations that lack lanes.
struct Synccheck : Checker {
    static void launch_begin(const LaunchInfo&);
    static void barrier(Block*, unsigned last);
    static void warp_arrive(Block*, unsigned thread, const Arrival&, const Group&);
    static void warp_sync(Block*, unsigned warp, const Group&);
};
// Reads of memory that has never been written.
struct Initcheck : Checker {
    static void launch_begin(const LaunchInfo&);
    static void block_end(Block*);
    static void barrier(Block*, unsigned last);
    static void access(Block*, const Array&, const Access&, bool& reported);
};
// Accesses that nothing orders.
struct Racecheck : Checker {
    static void launch_begin(const LaunchInfo&);
    static void block_begin(Block*);
    static void block_end(Block*);
    static void barrier(Block*, unsigned last);
    static void fence(Block*, bool for_all);
    static void thread_end(Block*, unsigned thread);
    static void before_access(Block*, void* pc);
    static void access(Block*, const Array&, const Access&, bool& reported);
    static bool wants_every_access();
};
// The record of the last accesses that the two above read (shadow.cpp); so it comes after them.
struct Shadow : Checker {
    static void launch_begin(const LaunchInfo&);
    static void access(Block*, const Array&, const Access&, bool& reported);
};
// Requests, sectors and wavefronts of each instruction.
struct Counters : Checker {
    static void launch_begin(const LaunchInfo&);
    static void block_end(Block*);
    static void barrier(Block*, unsigned last);
    static void warp_sync(Block*, unsigned warp, const Group&);
    static void access(Block*, const Array&, const Access&, bool& reported);
};
// A record of accesses, for pictures.
struct Trace : Checker {
    static void launch_begin(const LaunchInfo&);
    static void access(Block*, const Array&, const Access&, bool& reported);
    static bool wants_every_access();
};

void advance_interval();  // clocks.cpp: what happened before is ordered before all that follows

namespace events {

template <class... Each> struct FanOut {
    static void launch_begin(const LaunchInfo& info) { (Each::launch_begin(info), ...); }
    static void block_begin(Block* block) { (Each::block_begin(block), ...); }
    static void block_end(Block* block) { (Each::block_end(block), ...); }
    static void barrier(Block* block, unsigned last) { (Each::barrier(block, last), ...); }
    static void warp_arrive(Block* block, unsigned thread, const Arrival& arrival, const Group& group) {
        (Each::warp_arrive(block, thread, arrival, group), ...);
    }
    static void warp_sync(Block* block, unsigned warp, const Group& group) { (Each::warp_sync(block, warp, group), ...); }
    static void fence(Block* block, bool for_all) { (Each::fence(block, for_all), ...); }
    static void thread_end(Block* block, unsigned thread) { (Each::thread_end(block, thread), ...); }
    static void before_access(Block* block, void* pc) { (Each::before_access(block, pc), ...); }
    static void access(Block* block, const Array& array, const Access& access) {
        bool reported = false;
        (Each::access(block, array, access, reported), ...);
    }
    static bool wants_every_access() { return (Each::wants_every_access() || ...); }
};
using All = FanOut<Backtraces, Clocks, Synccheck, Initcheck, Racecheck, Shadow, Counters, Trace>;

// Whether each access must become an event, however harmless it looks.
inline bool every_access;
inline void choose_path(const Block* block) { every_access = block->mode & SHUFFLED || All::wants_every_access(); }

// What the scheduler emits. Launches that are not checked have no events.
template <class Event> inline void emit(Block* block, Event event) {
    if (!(block->mode & CHECKED)) return;
    enter_runtime(block);
    event();
    leave_runtime(block);
}
inline void block_begin(Block* block) {
    emit(block, [=] { All::block_begin(block), choose_path(block); });
}
inline void block_end(Block* block) {
    emit(block, [=] { All::block_end(block), advance_interval(); });
}
inline void barrier(Block* block, unsigned last) {
    emit(block, [=] { All::barrier(block, last), advance_interval(); });
}
inline void warp_arrive(Block* block, unsigned thread, const Arrival& arrival, const Group& group) {
    emit(block, [&] { All::warp_arrive(block, thread, arrival, group); });
}
inline void warp_sync(Block* block, unsigned warp, const Group& group) {
    emit(block, [&] { All::warp_sync(block, warp, group); });
}
inline void thread_end(Block* block, unsigned thread) {
    emit(block, [=] { All::thread_end(block, thread); });
}

}  // namespace events
}  // namespace sim
