// A whole program: CUDA's host functions, and the launch. Included before the program's text, behind simulator.h.
#pragma once
#include <cstdio>

#include "program/errors.h"
#include "program/types.h"
#include "program/launch.h"
#include "program/memory.h"
#include "program/textures.h"
#include "program/volumes.h"
#include "program/streams.h"
#include "program/device.h"

namespace std {
using ::sim_printf;
}
#undef asm  // the host's code may have some
