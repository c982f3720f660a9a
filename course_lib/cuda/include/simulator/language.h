// CUDA's additions to C++, spelled for a host compiler.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <type_traits>
#include <utility>

#if defined(__wasm__)
#include <lockstep.h>  // by include path: the one of course_lib/site/engine/port
#else
#include "../../runtime/lockstep.h"
#endif

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define __CUDA_ARCH__ 800
#define __COURSE_SIMULATOR__ 1

#ifndef SIM_PROGRAM  // else programs/build.py reads them off the preprocessed text, and defines them then
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#endif
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __noinline__ __attribute__((noinline))
#ifndef __restrict__
#define __restrict__ __restrict
#endif

#ifdef SIM_CHECKED
// The hooks are calls in the compiled code; the simulator's own functions stay free of them.
#define SIM_UNCHECKED __attribute__((no_sanitize("thread"), no_sanitize("bounds")))
#ifdef __clang__
#define SIM_FUNCTION static inline __attribute__((noinline, nomerge, unused)) SIM_UNCHECKED
#else
#define SIM_FUNCTION static inline __attribute__((noinline, unused)) SIM_UNCHECKED
#endif
#define __forceinline__ inline
#define SIM_SHARED thread_local __attribute__((aligned(65536)))  // gaps between arrays: an index past one hits no other
#else
#define SIM_UNCHECKED
#define SIM_FUNCTION static inline __attribute__((always_inline, unused))
#define __forceinline__ inline __attribute__((always_inline))
// One copy per worker, that is per block in flight. At block scope this implies `static`, and `extern` stays legal.
#define SIM_SHARED thread_local
#endif
#ifndef SIM_PROGRAM
#define __shared__ SIM_SHARED
#endif
#if defined(__wasm__)
// A thread is one coroutine, so what waits must be a part of the kernel; what it reads of the simulator's is read in calls,
// which the hooks do not see.
#define SIM_WAITS static inline __attribute__((always_inline, unused))
#define SIM_UNSEEN SIM_FUNCTION
#undef __noinline__
#define __noinline__
#else
#define SIM_WAITS SIM_FUNCTION
#define SIM_UNSEEN SIM_INLINE
#endif
#if defined(SIM_COUNTED) && defined(__APPLE__)
#define SIM_SECTION(NAME) static __attribute__((noinline, unused, section("__TEXT," NAME)))
#elif defined(SIM_COUNTED)
#define SIM_SECTION(NAME) static __attribute__((noinline, unused, section(NAME)))
#else
#define SIM_SECTION(NAME) SIM_INLINE
#endif
// Functions that count as one floating-point operation or as none, whatever they cost here: flops.py knows them by section.
#define SIM_OPERATION SIM_SECTION("sim_operation")
#define SIM_NO_OPERATION SIM_SECTION("sim_no_operation")
#define SIM_INLINE static inline __attribute__((always_inline, unused))

// The caller's line in the learner's text.
#define SIM_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

#ifndef __clang__
#define __builtin_assume(...) ((__VA_ARGS__) ? (void)0 : __builtin_unreachable())
#endif
#define __cdecl
#ifndef SIM_PROGRAM  // else program/types.h has it
#define cudaSuccess 0
#endif
