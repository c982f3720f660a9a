// What Synccheck is asked where no event is emitted: by the hooks of shuffles and matrix operations.
#pragma once
#include "events.h"

namespace sim {

void check_shuffle_source(const Block*, unsigned source, uint32_t members, SourceLine);
void check_full_warp(const Block*, SourceLine);

}  // namespace sim
