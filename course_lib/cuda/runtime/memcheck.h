// Whether an access may happen at all. Asked before the other checkers: only what lies in an array has a shadow.
#pragma once
#include "address_map.h"
#include "events.h"

namespace sim {

enum Verdict {
    HARMFUL,    // reported: the thread must end here
    UNWATCHED,  // a constant, or memory of the compiler's own
    WITHIN,
};

// On WITHIN, `array` is the one that the access lies in. aligned: whether it must be a multiple of its size.
Verdict memcheck(const Block*, const Access&, bool aligned, Array& array);

// Report an access `offset` bytes behind the start of an array, and not in it.
Verdict outside_slot(const Slot&, const Access&, int64_t offset);
Verdict outside_shared(const Block*, const SharedArray&, const Access&, int64_t offset);

}  // namespace sim
