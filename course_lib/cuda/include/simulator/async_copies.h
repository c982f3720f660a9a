// Copies by a group or a thread that end when they are waited for: cooperative_groups/memcpy_async.h, cuda/pipeline,
// cuda_pipeline.h. They are cp.async's (ptx.h), so that data which is used before the wait is the old, and is reported.
#pragma once
#include "ptx.h"

// Thread `rank` of `size` copies its part, as wide as cp.async takes at once; what is narrower is copied at once.
template <unsigned ALIGNED = 1> SIM_INLINE void sim_copy_async(unsigned rank, unsigned size, void* to, const void* from, size_t bytes) {
    size_t all = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
    unsigned width = ALIGNED % 16 == 0 || all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
    for (size_t at = size_t(rank) * width; at < bytes; at += size_t(size) * width) {
        if (width == 1) ((char*)to)[at] = ((const char*)from)[at];
        else ptx::sim_issue((char*)to + at, (const char*)from + at, width);
    }
}
