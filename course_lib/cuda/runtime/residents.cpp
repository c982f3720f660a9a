// Cooperative launches: each block has a worker of its own, and grid.sync() stops the worker until all the others have come.
//
// In a checked launch one block runs at a time: a block runs until it waits or ends, and an event names the block that goes
// on. Limits: at most MOST_RESIDENT blocks; where there are more than a few, an overflow of a thread's stack is not
// noticed (stacks.cpp).
#include "residents.h"

#include <pthread.h>
#include <time.h>

#include <cstring>

#include "address_map.h"
#include "events.h"
#include "scheduler.h"
#include "signals.h"

namespace sim {

enum State : char { RUNNING, WAITING, ENDED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static State states[MOST_RESIDENT];
static uint64_t blocks, waiting, ended, scheduled, syncs;  // syncs: how many times the grid has come together
static bool serial;  // one block at a time
static thread_local uint64_t own;  // the number of the block that this worker runs

struct Hold {
    Hold() { pthread_mutex_lock(&lock); }
    ~Hold() { pthread_mutex_unlock(&lock); }
};

// Until `happened`; false if the launch is stopped first.
template <class Happened> static bool wait_until(Happened happened) {
    while (!happened()) {
        if (stop_all) return false;
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&changed, &lock, &until);
    }
    return !stop_all;
}

// The next block that can run is scheduled, from block `first` on; if there is none, those that wait will see it.
static void schedule(uint64_t first) {
    for (uint64_t step = 0; step < blocks; step++) {
        scheduled = (first + step) % blocks;
        if (states[scheduled] == RUNNING) return;
    }
}

void begin_residents(uint64_t count, bool one_at_a_time) {
    blocks = count;
    waiting = ended = scheduled = 0;
    serial = one_at_a_time;
    memset(states, RUNNING, sizeof states);
}

static bool may_run() { return !serial || scheduled == own; }

bool enter_resident(Block* block, uint64_t number) {
    enter_runtime(block);
    bool begins;
    {
        Hold hold;
        own = number;
        begins = wait_until(may_run);
        if (begins && block->launch->checked) map_worker(worker_of(block));
    }
    leave_runtime(block);
    return begins;
}

// Whether all blocks that are left have come; if others have ended, those that wait do so for ever.
static bool together() { return waiting && waiting + ended == blocks; }

static void open_grid() {
    for (uint64_t i = 0; i < blocks; i++)
        if (states[i] == WAITING) states[i] = RUNNING;
    waiting = 0;
    syncs++;
}

void leave_resident(uint64_t number) {
    Hold hold;
    if (number >= blocks || states[number] == ENDED) return;
    states[number] = ENDED;
    ended++;
    if (serial) schedule(number + 1);
    pthread_cond_broadcast(&changed);
}

// The first thread of the block that goes on from the barrier before comes here, and waits for the other blocks.
static void wait_for_grid(Block* block, SourceLine line) {
    if (block->launch->checked) Checkers::on(BlockLeave{block});
    bool together_again = false;
    {
        Hold hold;
        uint64_t before = syncs;
        states[own] = WAITING;
        waiting++;
        auto broken = [] { return together() && ended; };
        if (together() && !ended) {
            open_grid();
            if (block->launch->checked) Checkers::on(GridSync{block});
            schedule(0);
        } else if (serial) {
            schedule(own + 1);
        }
        pthread_cond_broadcast(&changed);
        wait_until([=] { return (syncs != before && may_run()) || broken(); });
        together_again = syncs != before && !stop_all;
        if (!together_again && !stop_all) {
            fault(MISSED_BARRIER, block->current, {nullptr, line}, NO_THREAD, {},
                  "%llu of the grid's %llu blocks have ended while the others wait at grid.sync(): every block must reach it",
                  (unsigned long long)ended, (unsigned long long)blocks);
            stop_all = 1;
            pthread_cond_broadcast(&changed);
        }
    }
    if (!together_again) leave_stopped(worker_of(block));
    if (!block->launch->checked) return;
    map_worker(worker_of(block));
    Checkers::on(BlockResume{block});
    choose_path(block);
}

}  // namespace sim

using namespace sim;

// To be called behind a barrier of the block by each of its threads.
extern "C" void sim_grid_sync(const char* file, int line) {
    Block* block = sim_block;
    if (!block->launch->resident)
        sim_stop(block->current, "grid.sync() waits for blocks that may not have begun: launch the kernel by "
                 "cudaLaunchCooperativeKernel", file, line);
    enter_runtime(block);
    if (block->grid_synced != block->barriers) {
        block->grid_synced = block->barriers;
        wait_for_grid(block, {file, line});
    }
    leave_runtime(block);
}
