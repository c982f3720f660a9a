// What the parts of the memory checker share. Checked launches run on one worker, so nothing here needs a lock.
#pragma once
#include <cstdint>

#include "runtime.h"

namespace sim {

// One `__shared__` array of the kernel's file; its place is that of this worker's copy.
struct SharedArray {
    char* data;
    size_t bytes;
    char name[64];
    bool dynamic;
    size_t first_word;  // of its shadow
};

enum Space { GLOBAL, SHARED };

// What is known of the last accesses to four bytes of memory.
struct Word {
    uint32_t write_epoch, read_epoch;  // when: epochs grow at barriers and between blocks
    uint32_t write_pc, read_pc;        // from where, relative to the kernel's library
    uint32_t write_block;
    uint32_t read_lanes;               // who read in that epoch, within read_warp
    uint16_t write_thread, write_stamp, read_stamp;  // stamps count a warp's __syncwarp()s
    uint8_t read_warp;
    uint8_t written : 4, write_mask : 4;             // bytes written in this block; bytes of the last write
    uint8_t read_mask : 4, atomic : 1, many_warps : 1;
};

struct Access {
    char* address;
    unsigned bytes;
    bool write, atomic;
    void* pc;
};

extern uint32_t epoch, block_epoch, launch_epoch;
extern char* library_base;

// shadow.cpp
void check_words(Block*, Word*, const Access&, Space, uint64_t offset, const char* name);
void settle(Block*);                      // decide about the write whose value had to be awaited
void settle_thread(Block*, unsigned thread);
void shadow_launch_begin();
Place place_of(uint32_t relative_pc);

// counters.cpp
void count_request(Block*, Space, const Access&, uint64_t offset);
void flush_warp(unsigned warp);
void flush_all();
void clear_counters();

}  // namespace sim
