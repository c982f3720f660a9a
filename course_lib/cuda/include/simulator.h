// CUDA C++ for a host compiler. Included before the learner's text, which stays as it is.
#pragma once
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

#define asm sim_inline_assembly_is_not_simulated
