// CUDA C++ for a host compiler. Included before the learner's text, which stays as it is.
#ifndef COURSE_SIMULATOR_H  // clang knows a precompiled header by such a guard alone
#define COURSE_SIMULATOR_H
#include "simulator/language.h"
#include "simulator/vectors.h"
#include "simulator/index.h"
#include "simulator/sync.h"
#include "simulator/atomics.h"
#include "simulator/math.h"
#include "simulator/dpx.h"
#include "simulator/rounding.h"
#include "simulator/special.h"
#include "simulator/entry.h"
#include "simulator/copies.h"

#ifdef SIM_ALIGNAS_ANYWHERE  // C++ knows it in front of a declaration only, NVIDIA's compiler behind __shared__, too
template <class T> constexpr size_t sim_alignment() { return alignof(T); }
template <size_t BYTES> constexpr size_t sim_alignment() { return BYTES; }
#define alignas(...) __attribute__((aligned(sim_alignment<__VA_ARGS__>())))
#endif

#define asm sim_inline_assembly_is_not_simulated

#endif
