// The events of a checked launch, and the checkers that listen to them.
//
// The hooks and the scheduler emit events; each checker has a file of its own, handles the events that it listens to, and knows
// no other checker (the plugins of Oclgrind are the model, the names are those of compute-sanitizer's tools). The list of them
// is fixed at compile time: an event is a few direct calls. Checked launches run on one worker, so nothing here needs a lock.
//
// Most accesses are no event: hooks.cpp sees at once that no checker has anything to report about them.
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
    bool of_block = false;     // an atomic of the scope of its block: atomicAdd_block and the like
};

// ---- the events -------------------------------------------------------------------------------------------------------

struct LaunchBegin {
    uint64_t dynamic_bytes;  // of shared memory
    bool padded;             // the file's structs have bytes between their members, which are never written
    bool returns_early;      // the kernel has a `return` of its own: lanes that are gone may have taken it
};
struct BlockBegin { Block* block; };
// A block of a cooperative launch waits for the grid, all blocks have come, it goes on.
struct BlockLeave { Block* block; };
struct GridSync { Block* block; };
struct BlockResume { Block* block; };
struct ThreadEnd { Block* block; unsigned thread; };

// All threads that have not returned have arrived, `last` last; NO_THREAD: the others waited for one that has returned.
struct Barrier { Block* block; unsigned last; };
// A barrier interval ends with a barrier or with the block.
struct IntervalEnd { Block* block; };
struct IntervalBegin { Block* block; };

// A lane arrives at an operation of its warp, and joins a group.
struct WarpArrive { Block* block; unsigned thread; uint32_t mask; int operation; SourceLine line; const Group& group; };
// All lanes of a group have arrived.
struct WarpSync { Block* block; unsigned warp; const Group& group; };
// A lane takes the value of lane `source`.
struct Shuffle { Block* block; unsigned source; uint32_t members; SourceLine line; };
struct MatrixOperation { Block* block; SourceLine line; };

struct Fence { Block* block; bool for_all; };        // for all blocks, or for this one
struct BeforeAccess { Block* block; void* pc; };     // the access before has happened
struct MemoryAccess {                                // within bounds, and about to happen
    Block* block;
    const Array& array;
    const Access& access;
    bool& reported;                                  // by a checker before this one
};
struct ChoosePath { Block* block; bool& every_access; };  // set it where each access must be an event, however harmless

// ---- the checkers -----------------------------------------------------------------------------------------------------
//
// What is decided at every access and every operation of a warp is decided here, without a call.

// The last access, for a launch that is stopped.
struct Backtraces {
    static inline void* last_pc;
    static void on(const LaunchBegin&);
    static void on(const BeforeAccess& event) { last_pc = event.pc; }
};
// What orders the threads.
struct Clocks {
    static void on(const LaunchBegin&);
    static void on(const BlockBegin&);
    static void on(const IntervalBegin&);
    static void on(const GridSync&);
    static void on(const BlockResume&);
    static void on(const WarpSync& event) {
        if (event.group.operation == SYNC) on_syncwarp(event);
    }
    static void on_syncwarp(const WarpSync&);
    static void on(const Fence&);
    static void on(const MemoryAccess& event) {
        if (event.access.atomic) on_atomic(event);
    }
    static void on_atomic(const MemoryAccess&);
};
// Barriers that not all threads reach, warp operations that lack lanes.
struct Synccheck {
    static void on(const LaunchBegin&);
    static void on(const Barrier&);
    static void on(const WarpArrive& event) {
        if (!(event.mask >> event.thread % WARP & 1) || event.group.operation != event.operation) report(event);
    }
    static void on(const WarpSync& event) {
        if (uint32_t missing = event.group.mask & event.block->full[event.warp] & ~event.group.arrived) report(event, missing);
    }
    static void on(const Shuffle& event) {
        if (!(event.members >> event.source % WARP & 1)) report(event);
    }
    static void on(const MatrixOperation&);
    static void report(const WarpArrive&);
    static void report(const WarpSync&, uint32_t missing);
    static void report(const Shuffle&);
};
// Reads of memory that has never been written.
struct Initcheck {
    static void on(const LaunchBegin&);
    static void on(const IntervalEnd&);
    static void on(const MemoryAccess& event) {
        if (!event.access.write || event.access.atomic) on_read(event);
    }
    static void on_read(const MemoryAccess&);
};
// Accesses that nothing orders.
struct Racecheck {
    static inline bool awaits_value;  // of the last write: equal ones do not race
    static void on(const LaunchBegin&);
    static void on(const BlockBegin&);
    static void on(const IntervalEnd&);
    static void on(const Fence&);
    static void on(const ThreadEnd&);
    static void on(const BeforeAccess& event) {
        if (awaits_value) compare_values(event.block);
    }
    static void on(const MemoryAccess&);
    static void on(const ChoosePath& event) { event.every_access |= awaits_value; }
    static void compare_values(const Block*);
};
// The record of the last accesses that the two above read; so it comes after them.
struct Shadow {
    static void on(const LaunchBegin&);
    static void on(const BlockBegin&);
    static void on(const BlockLeave&);
    static void on(const BlockResume&);
    static void on(const MemoryAccess&);
};
// Requests, sectors and wavefronts of each instruction.
struct Counters {
    static void on(const LaunchBegin&);
    static void on(const IntervalEnd&);
    static void on(const WarpSync& event) {
        if (event.group.operation == SYNC) on_syncwarp(event);
    }
    static void on(const MemoryAccess&);
    static void on_syncwarp(const WarpSync&);
};
// A record of accesses and of synchronisation, for pictures.
struct Trace {
    static inline bool recording;
    static void on(const LaunchBegin&);
    static void on(const Barrier& event) {
        if (recording) record(event);
    }
    static void on(const WarpSync& event) {
        if (recording) record(event);
    }
    static void on(const Shuffle& event) {
        if (recording) record(event);
    }
    static void on(const MemoryAccess& event) {
        if (recording) record(event);
    }
    static void on(const ChoosePath& event) { event.every_access |= recording; }
    static void record(const MemoryAccess&);
    static void record(const Barrier&);
    static void record(const WarpSync&);
    static void record(const Shuffle&);
};

// ---- delivery ---------------------------------------------------------------------------------------------------------

template <class Checker, class Event> auto deliver(const Event& event, int) -> decltype(Checker::on(event)) {
    Checker::on(event);
}
template <class Checker, class Event> void deliver(const Event&, ...) {}  // it does not listen

template <class... Each> struct FanOut {
    template <class Event> static void on(const Event& event) { (deliver<Each>(event, 0), ...); }
};
using Checkers = FanOut<Backtraces, Clocks, Synccheck, Initcheck, Racecheck, Shadow, Counters, Trace>;

// What the scheduler emits. Launches that are not checked have no events.
template <class Event> inline void emit(const Event& event) {
    if (!(event.block->mode & CHECKED)) return;
    enter_runtime(event.block);
    Checkers::on(event);
    leave_runtime(event.block);
}
inline void end_interval(Block* block) {
    emit(IntervalEnd{block});
    emit(IntervalBegin{block});
}

// Whether each access must be an event. To be asked again after each.
inline bool every_access;
inline void choose_path(Block* block) {
    every_access = block->mode & SHUFFLED;
    Checkers::on(ChoosePath{block, every_access});
}

}  // namespace sim
