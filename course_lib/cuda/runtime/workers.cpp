// The worker threads: they take blocks of a launch until none is left. They outlive a kernel that crashes or is cancelled
// (signals.cpp). Python waits in slices and can cancel.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "address_map.h"
#include "memory.h"
#include "residents.h"
#include "signals.h"

namespace sim {

constexpr int64_t SPIN_NS = 20000;

// Wakes one worker.
struct WakeUp {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    std::atomic<unsigned> calls{0};
    bool asleep = false;
};

struct Pool {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t done;
    std::vector<Worker*> workers;
    std::vector<WakeUp*> wake_ups;
    std::vector<pthread_t> threads;
    std::atomic<unsigned> busy{0};
    std::atomic<size_t> most{SIZE_MAX};  // how many of the workers a launch may use
    size_t usual = 0;                    // how many there are but for cooperative launches
    bool awaited = false;  // the launcher sleeps until no worker is busy
    std::atomic<uint64_t> next{0};
    uint64_t blocks = 0, chunk = 1;  // how many blocks a worker takes at once
    Launch launch{};
    Run run = nullptr;
    pid_t process = 0;
};
static Pool& pool = *new Pool;  // never destroyed: workers may still be spinning when the process ends

// ---- the loop of one worker ---------------------------------------------------------------------------------------------

static void run_blocks(Worker* worker, size_t number) {
    if (pool.launch.resident) {
        if (enter_resident(&worker->block, number)) run_block(&worker->block, &pool.launch, pool.run, number);
        return;
    }
    while (!stop_all) {
        uint64_t first = pool.next.fetch_add(pool.chunk);
        if (first >= pool.blocks) break;
        uint64_t last = std::min(first + pool.chunk, pool.blocks);
        for (uint64_t number = first; number < last && !stop_all; number++)
            run_block(&worker->block, &pool.launch, pool.run, number);
    }
}

// Spin for a moment: many launches take less time than to wake a thread. A single processor is left to the thread that is
// waited for.
template <class Happened> static bool happens_soon(Happened happened) {
    timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 50; i++)
            if (happened()) return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (pool.workers.size() > 1 &&
             (now.tv_sec - begin.tv_sec) * 1000000000ll + now.tv_nsec - begin.tv_nsec < SPIN_NS);
    return false;
}

static void wait_for_launch(WakeUp* wake_up, unsigned seen) {
    if (happens_soon([=] { return wake_up->calls != seen; })) return;
    pthread_mutex_lock(&pool.lock);
    wake_up->asleep = true;
    while (wake_up->calls == seen) pthread_cond_wait(&wake_up->condition, &pool.lock);
    wake_up->asleep = false;
    pthread_mutex_unlock(&pool.lock);
}

static void* work(void* argument) {
    size_t number = reinterpret_cast<size_t>(argument);
    Worker* worker = pool.workers[number];
    sim_block = &worker->block;
    stack_t alternate{};
    alternate.ss_size = 64 << 10;
    alternate.ss_sp = malloc(alternate.ss_size);
    sigaltstack(&alternate, nullptr);
    unsigned seen = 0;
    for (;;) {
        wait_for_launch(pool.wake_ups[number], seen++);
        worker->cancelled = worker->in_runtime = 0;
        if (sigsetjmp(worker->exit, 0) == 0) {
            if (pool.launch.checked) {
                if (!pool.launch.resident) map_worker(worker);
                worker->began = thread_time();
            }
            worker->block.launch = &pool.launch;
            worker->in_kernel = 1;
            run_blocks(worker, number);
        }
        worker->in_kernel = 0;
        if (pool.launch.resident) leave_resident(number);
        if (--pool.busy) continue;
        pthread_mutex_lock(&pool.lock);
        if (pool.awaited) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
}

static void start_workers(unsigned count) {
    if (pool.process != getpid()) {  // a forked child has none of its parent's threads
        pool.process = getpid();
        pthread_mutex_init(&pool.lock, nullptr);
        pthread_cond_init(&pool.done, nullptr);
        pool.workers.clear();
        pool.wake_ups.clear();
        pool.threads.clear();
        pool.workers.reserve(MOST_RESIDENT);  // those that are there read it while others are added
        pool.wake_ups.reserve(MOST_RESIDENT);
        pool.busy = 0;
        pool.usual = count;
        handle_signals();
    }
    size_t there = pool.workers.size();
    if (there >= count) return;
    sigset_t others = other_signals(), old;
    pthread_sigmask(SIG_BLOCK, &others, &old);  // Ctrl-C and its like are for Python's thread
    for (size_t i = there; i < count; i++) {
        auto* worker = new Worker;
        make_stacks(&worker->block);
        worker->guarded = i < pool.usual;  // a process has 65,530 mappings, and a guarded stack is two
        pool.workers.push_back(worker);
        pool.wake_ups.push_back(new WakeUp);
    }
    pool.threads.resize(count);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    for (size_t i = there; i < count; i++)
        pthread_create(&pool.threads[i], &attributes, work, reinterpret_cast<void*>(i));
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

}  // namespace sim

using namespace sim;

extern "C" {

// From the next launch on.
void sim_use(int workers) { pool.most = std::max(workers, 1); }

void sim_start(const Launch* launch, Run run, unsigned workers) {
    start_workers(workers);
    uint64_t blocks = uint64_t(launch->grid.x) * launch->grid.y * launch->grid.z;
    if (launch->resident) start_workers(unsigned(blocks));
    pthread_mutex_lock(&pool.lock);
    clear_faults();
    clear_text();
    stop_all = 0;
    pool.launch = *launch;
    pool.run = run;
    pool.next = 0;
    pool.blocks = blocks;
    if (launch->resident) begin_residents(blocks, launch->checked || launch->alone);
    // Checked blocks run one after the other. Others are taken in chunks when there are very many.
    uint64_t most = launch->resident ? blocks : launch->checked || launch->alone ? 1 : std::min(pool.usual, pool.most.load());
    uint64_t wanted = std::min(most, pool.blocks);
    pool.chunk = launch->checked ? 1 : std::clamp<uint64_t>(pool.blocks / (most * 8), 1, 64);
    pool.busy = wanted;
    for (unsigned i = launch->parameters; i-- > 0;)
        if (launch->names[i])
            if (Slot* slot = slot_of(*static_cast<void**>(launch->arguments[i])))
                strncpy(slot->name, launch->names[i], sizeof slot->name - 1);
    for (uint64_t i = 0; i < wanted; i++) {
        pool.wake_ups[i]->calls++;
        if (pool.wake_ups[i]->asleep) pthread_cond_signal(&pool.wake_ups[i]->condition);
    }
    pthread_mutex_unlock(&pool.lock);
}

// Whether the last launch left anything to report: faults, text, bytes written beside one of its arrays.
int sim_has_report() {
    bool found = any_fault() || any_text();
    for (unsigned i = 0; i < pool.launch.parameters && !found; i++) {
        Slot* slot = pool.launch.names[i] ? slot_of(*static_cast<void**>(pool.launch.arguments[i])) : nullptr;
        found = slot && slot->live && altered(*slot);
    }
    return found;
}

// Wait for the launch to end, at most so long. Returns how many workers are still busy.
int sim_wait(int milliseconds) {
    if (happens_soon([] { return pool.busy == 0; })) return 0;
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += long(milliseconds % 1000) * 1000000;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&pool.lock);
    pool.awaited = true;
    int result = 0;
    while (pool.busy && result != ETIMEDOUT) result = pthread_cond_timedwait(&pool.done, &pool.lock, &until);
    pool.awaited = false;
    int busy = pool.busy;
    pthread_mutex_unlock(&pool.lock);
    return busy;
}

// Stop a launch, and ask again as long as `sim_wait` says that it runs: a checked one may have to go on for a moment.
void sim_cancel() {
    if (!pool.launch.checked) stop_all = 1;
    for (size_t i = 0; i < pool.workers.size(); i++)
        if (pool.workers[i]->in_kernel) request_cancel(pool.threads[i]);
}

void sim_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
}
