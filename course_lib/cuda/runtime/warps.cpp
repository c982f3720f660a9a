// What the scheduler keeps of each warp of a block, as it is when the first thread must wait.
#include "scheduler.h"

namespace sim {

// A block whose threads never wait does without.
void prepare_warps(Block* block) {
    block->mode &= ~PLAIN;
    block->free_stacks = ~0u;
    for (unsigned warp = 0; warp < block->warps; warp++) {
        unsigned left = block->threads - warp * WARP;
        block->full[warp] = block->alive[warp] = left >= WARP ? ~0u : (1u << left) - 1;
        block->runnable[warp] = block->at_barrier[warp] = block->arrived[warp] = block->phase[warp] = 0;
        block->action[warp] = nullptr;
        block->started[warp] = false;
        block->groups[warp] = 0;
    }
}

}  // namespace sim
