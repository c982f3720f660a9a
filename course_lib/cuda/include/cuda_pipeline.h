// __pipeline_memcpy_async and what belongs to it. `zfill`: how many of the last bytes are zeros; such a copy is made at once.
#pragma once
#include "simulator/async_copies.h"

SIM_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zfill = 0) {
    if (!zfill) return sim_copy_async(0, 1, to, from, bytes);
    for (size_t i = 0; i < bytes; i++) ((char*)to)[i] = i < bytes - zfill ? ((const char*)from)[i] : 0;
}
SIM_INLINE void __pipeline_commit() { ptx::cp_async_commit(); }
SIM_INLINE void __pipeline_wait_prior(size_t left) {
    unsigned group = ptx::sim_group(0);
    ptx::sim_complete_before(group > left ? group - left : 0);
}
