// threadIdx, blockIdx, blockDim and gridDim.
//
// In a file whose kernels never wait they are variables of that file alone, so the compiler takes threadIdx for the
// plain loop counter that it is. Otherwise they are the runtime's, and across a wait each thread keeps its own threadIdx
// on its own stack. In the checked build they are functions, which the hooks do not see.
#pragma once
#include "vectors.h"

constexpr int warpSize = 32;

#ifdef SIM_CHECKED

#if defined(__wasm__)
// A structure is returned through memory there, so that a call would not be known to give the same again: a number each.
#define SIM_AXES(NAME, TYPE, OF)                                                                 \
    __attribute__((noinline, const)) SIM_UNCHECKED static unsigned NAME##_x() { return (OF).x; } \
    __attribute__((noinline, const)) SIM_UNCHECKED static unsigned NAME##_y() { return (OF).y; } \
    __attribute__((noinline, const)) SIM_UNCHECKED static unsigned NAME##_z() { return (OF).z; } \
    __attribute__((always_inline)) static inline TYPE NAME() { return TYPE{NAME##_x(), NAME##_y(), NAME##_z()}; }
SIM_AXES(sim_thread_index, uint3, sim_block->thread_index[sim_block->current])
SIM_AXES(sim_block_index, uint3, sim_block->index)
SIM_AXES(sim_block_size, dim3, sim_block->launch->block)
SIM_AXES(sim_grid_size, dim3, sim_block->launch->grid)
#else
__attribute__((noinline, const)) SIM_UNCHECKED static uint3 sim_thread_index() {
    const sim::Index& index = sim_block->thread_index[sim_block->current];
    return uint3{index.x, index.y, index.z};
}
__attribute__((noinline, const)) SIM_UNCHECKED static uint3 sim_block_index() {
    return uint3{sim_block->index.x, sim_block->index.y, sim_block->index.z};
}
__attribute__((noinline, const)) SIM_UNCHECKED static dim3 sim_block_size() {
    return reinterpret_cast<const dim3&>(sim_block->launch->block);  // a copy: a constructor would be instrumented
}
__attribute__((noinline, const)) SIM_UNCHECKED static dim3 sim_grid_size() {
    return reinterpret_cast<const dim3&>(sim_block->launch->grid);
}
#endif
#define threadIdx (sim_thread_index())
#define blockIdx (sim_block_index())
#define blockDim (sim_block_size())
#define gridDim (sim_grid_size())
SIM_FUNCTION unsigned sim_thread() { return sim_block->current; }
#define SIM_KEEP_INDEX(...) __VA_ARGS__;

#else

#ifdef SIM_NEVER_WAITS
static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local dim3 blockDim;
static thread_local dim3 gridDim;
static thread_local bool sim_waited;
#else
#pragma GCC visibility push(default)
extern "C" {
extern SIM_PER_WORKER uint3 sim_thread_idx SIM_TLS, sim_block_idx SIM_TLS;
extern SIM_PER_WORKER dim3 sim_block_dim SIM_TLS, sim_grid_dim SIM_TLS;
extern SIM_PER_WORKER bool sim_waited SIM_TLS;
}
#pragma GCC visibility pop
#define threadIdx sim_thread_idx
#define blockIdx sim_block_idx
#define blockDim sim_block_dim
#define gridDim sim_grid_dim
#endif
SIM_INLINE unsigned sim_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
#define SIM_KEEP_INDEX(...)           \
    const uint3 sim_kept = threadIdx; \
    __VA_ARGS__;                      \
    threadIdx = sim_kept;

#endif
