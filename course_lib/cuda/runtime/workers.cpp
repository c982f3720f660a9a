// The worker threads: they take blocks of a launch in turn until none is left, and survive whatever a kernel does.
//
// Python waits in slices and can cancel. A crash (SIGSEGV, SIGBUS, SIGFPE) or a cancellation (SIGUSR2) is handled on a
// stack of its own and leaves the kernel by a long jump. Signals that are not ours go to whoever handled them before.
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory.h"
#include "runtime.h"

namespace sim {

volatile int stop_all;
constexpr int64_t LOOK_OUT_NS = 20000;

// Calls one worker.
struct Bell {
    pthread_cond_t rung = PTHREAD_COND_INITIALIZER;
    std::atomic<unsigned> calls{0};
    bool asleep = false;
};

struct Pool {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t done;
    std::vector<Worker*> workers;
    std::vector<Bell*> bells;
    std::vector<pthread_t> threads;
    std::atomic<unsigned> busy{0};
    std::atomic<size_t> share{SIZE_MAX};  // how many of the workers a launch may use
    bool awaited = false;  // the launcher sleeps until nobody is busy
    std::atomic<uint64_t> next{0};
    uint64_t blocks = 0, handful = 1;
    Launch launch{};
    Run run = nullptr;
    pid_t process = 0;
};
static Pool& pool = *new Pool;  // never taken down: workers may still be looking out when the process ends

Worker* worker_of(Block* block) { return reinterpret_cast<Worker*>(block); }
static Worker* this_worker() { return sim_block ? worker_of(sim_block) : nullptr; }

// Nanoseconds that this thread has had of a processor.
static int64_t thread_time() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// A checked launch is stopped when it has run for a hundredth of a second, however long that takes on a busy machine: before
// that it may be nowhere in the learner's text. Whoever cancels asks again.
static bool may_stop(const Worker* worker) {
    return !worker->block.launch->checked || thread_time() - worker->began > 10000000;
}

void leave_cancelled(Worker* worker) {
    worker->cancelled = 0;
    if (!worker->in_kernel || !may_stop(worker)) return;
    check_stop(nullptr, static_cast<char*>(__builtin_frame_address(0)));
    fault(TIMEOUT, worker->block.current, check_place(nullptr), NOBODY, {}, "still running");
    worker->in_kernel = 0;
    stop_all = 1;
    siglongjmp(worker->way_out, 1);
}

// ---- signals ------------------------------------------------------------------------------------------------------------

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGUSR2};
static struct sigaction before[65];

static void* interrupted_at(void* context) {
    [[maybe_unused]] auto* state = static_cast<ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
    return reinterpret_cast<void*>(state->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
    return reinterpret_cast<void*>(state->uc_mcontext.pc);
#elif defined(__APPLE__) && defined(__aarch64__)
    return reinterpret_cast<void*>(state->uc_mcontext->__ss.__pc);
#else
    return nullptr;
#endif
}

static char* stack_pointer_at(void* context) {
    [[maybe_unused]] auto* state = static_cast<ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
    return reinterpret_cast<char*>(state->uc_mcontext.gregs[REG_RSP]);
#elif defined(__linux__) && defined(__aarch64__)
    return reinterpret_cast<char*>(state->uc_mcontext.sp);
#elif defined(__APPLE__) && defined(__aarch64__)
    return reinterpret_cast<char*>(state->uc_mcontext->__ss.__sp);
#else
    return nullptr;
#endif
}

static void stop_here(Worker* worker, void* context) {
    if (!worker->block.launch->checked) return;
    void* at = interrupted_at(context);
    check_stop(at, stack_pointer_at(context));
    fault(TIMEOUT, worker->block.current, check_place(at), NOBODY, {}, "still running");
}

static void describe_crash(Worker* worker, int signal, siginfo_t* info, void* context) {
    void* at = interrupted_at(context);
    Block* block = &worker->block;
    uint32_t thread = block->mode & PLAIN && !(block->mode & CHECKED) ? NOBODY : block->current;
    char* address = static_cast<char*>(info->si_addr);
    Place place = block->launch->checked ? check_place(at) : Place{};
    if (block->launch->checked) check_stop(at, stack_pointer_at(context));
    if (signal == SIGFPE) {
        fault(DIVISION_BY_ZERO, thread, place, NOBODY, {}, "an integer was divided by zero (or the smallest by -1)");
    } else if (signal == SIGILL) {
        fault(CRASH, thread, place, NOBODY, {}, "the kernel ran into an instruction that does not exist: does a function "
              "that promises a value end without `return`, or is an integer divided by a 0 that the compiler saw coming?");
    } else if (on_own_stacks(block, address)) {
        fault(CRASH, thread, place, NOBODY, {}, "stack overflow: a thread used more than 64 KB of local memory "
              "(endless recursion, or a very large local array)");
    } else if (reinterpret_cast<uint64_t>(address) < NEAR_NULL) {
        fault(NULL_POINTER, thread, place, NOBODY, {}, "an address near 0 was accessed: a null pointer");
    } else if (Slot* slot = slot_of(address); slot && slot->live) {
        fault(OUT_OF_BOUNDS, thread, place, NOBODY, {}, "an access %s the array '%s' of %zu bytes",
              address >= slot->data ? "went past the end of" : "lies before the start of", name_of(*slot), slot->bytes);
    } else {
        fault(CRASH, thread, place, NOBODY, {}, "an access to %p, where there is no memory: a wild pointer or index",
              static_cast<void*>(address));
    }
}

static void on_signal(int signal, siginfo_t* info, void* context) {
    Worker* worker = this_worker();
    if (worker && worker->in_kernel) {
        if (signal == SIGUSR2) {
            worker->cancelled = worker->in_runtime;
            if (worker->in_runtime || !may_stop(worker)) return;  // leave_runtime will see it; or too early
            stop_here(worker, context);
        } else {
            describe_crash(worker, signal, info, context);
        }
        worker->in_kernel = 0;
        stop_all = 1;
        siglongjmp(worker->way_out, 1);
    }
    if (signal == SIGUSR2) return;
    sigaction(signal, &before[signal], nullptr);  // not ours: the previous handler gets it when the fault repeats
    if (info->si_code <= 0) raise(signal);
}

static void install_handlers() {
    static bool installed = false;
    if (installed) return;
    installed = true;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : SIGNALS) sigaction(signal, &action, &before[signal]);
}

// ---- the loop of one worker ---------------------------------------------------------------------------------------------

static void run_blocks(Worker* worker) {
    while (!stop_all) {
        uint64_t first = pool.next.fetch_add(pool.handful);
        if (first >= pool.blocks) break;
        uint64_t last = std::min(first + pool.handful, pool.blocks);
        for (uint64_t number = first; number < last && !stop_all; number++)
            run_block(&worker->block, &pool.launch, pool.run, number);
    }
}

// Look out for something for a moment: many launches take less time than to wake a thread. A single processor is left to
// whoever makes it happen.
template <class Happened> static bool soon(Happened happened) {
    timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 50; i++)
            if (happened()) return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (pool.workers.size() > 1 &&
             (now.tv_sec - begin.tv_sec) * 1000000000ll + now.tv_nsec - begin.tv_nsec < LOOK_OUT_NS);
    return false;
}

static void await_call(Bell* bell, unsigned seen) {
    if (soon([=] { return bell->calls != seen; })) return;
    pthread_mutex_lock(&pool.lock);
    bell->asleep = true;
    while (bell->calls == seen) pthread_cond_wait(&bell->rung, &pool.lock);
    bell->asleep = false;
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
        await_call(pool.bells[number], seen++);
        worker->cancelled = worker->in_runtime = 0;
        if (sigsetjmp(worker->way_out, 0) == 0) {
            if (pool.launch.checked) check_worker_begin();
            if (pool.launch.checked) worker->began = thread_time();
            worker->block.launch = &pool.launch;
            worker->in_kernel = 1;
            run_blocks(worker);
        }
        worker->in_kernel = 0;
        if (--pool.busy) continue;
        pthread_mutex_lock(&pool.lock);
        if (pool.awaited) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
}

static void start_workers(unsigned count) {
    if (pool.process == getpid()) return;  // a forked child has none of its parent's threads
    pool.process = getpid();
    pthread_mutex_init(&pool.lock, nullptr);
    pthread_cond_init(&pool.done, nullptr);
    pool.workers.clear();
    pool.bells.clear();
    pool.busy = 0;
    install_handlers();
    sigset_t all, old;
    sigfillset(&all);
    for (int signal : SIGNALS) sigdelset(&all, signal);
    pthread_sigmask(SIG_BLOCK, &all, &old);  // Ctrl-C and its like are for Python's thread
    for (unsigned i = 0; i < count; i++) {
        auto* worker = new Worker;
        make_stacks(&worker->block);
        pool.workers.push_back(worker);
        pool.bells.push_back(new Bell);
    }
    pool.threads.resize(count);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    for (size_t i = 0; i < count; i++)
        pthread_create(&pool.threads[i], &attributes, work, reinterpret_cast<void*>(i));
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

}  // namespace sim

using namespace sim;

extern "C" {

// From the next launch on.
void sim_use(int workers) { pool.share = std::max(workers, 1); }

void sim_start(const Launch* launch, Run run, unsigned workers) {
    start_workers(workers);
    pthread_mutex_lock(&pool.lock);
    clear_faults();
    clear_text();
    stop_all = 0;
    pool.launch = *launch;
    pool.run = run;
    pool.next = 0;
    pool.blocks = uint64_t(launch->grid.x) * launch->grid.y * launch->grid.z;
    // Checked blocks run one after the other. Others are taken by the handful when there are very many.
    uint64_t most = launch->checked || launch->alone ? 1 : std::min(pool.workers.size(), pool.share.load());
    uint64_t wanted = std::min(most, pool.blocks);
    pool.handful = launch->checked ? 1 : std::clamp<uint64_t>(pool.blocks / (most * 8), 1, 64);
    pool.busy = wanted;
    for (unsigned i = launch->parameters; i-- > 0;)
        if (launch->names[i])
            if (Slot* slot = slot_of(*static_cast<void**>(launch->arguments[i])))
                strncpy(slot->name, launch->names[i], sizeof slot->name - 1);
    for (uint64_t i = 0; i < wanted; i++) {
        pool.bells[i]->calls++;
        if (pool.bells[i]->asleep) pthread_cond_signal(&pool.bells[i]->rung);
    }
    pthread_mutex_unlock(&pool.lock);
}

// Whether there is anything to tell of the last launch: faults, text, bytes written beside one of its arrays.
int sim_remarkable() {
    bool found = any_fault() || any_text();
    for (unsigned i = 0; i < pool.launch.parameters && !found; i++) {
        Slot* slot = pool.launch.names[i] ? slot_of(*static_cast<void**>(pool.launch.arguments[i])) : nullptr;
        found = slot && slot->live && altered(*slot);
    }
    return found;
}

// Wait for the launch to end, at most so long. Returns how many workers are still busy.
int sim_wait(int milliseconds) {
    if (soon([] { return pool.busy == 0; })) return 0;
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
        if (pool.workers[i]->in_kernel) pthread_kill(pool.threads[i], SIGUSR2);
}

void sim_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

void sim_stop(unsigned thread, const char* message, const char* file, int line) {
    Worker* worker = this_worker();
    fault(CRASH, thread, {nullptr, {file, line}}, NOBODY, {}, "%s", message);
    stop_all = 1;
    worker->in_kernel = 0;
    siglongjmp(worker->way_out, 1);
}
}
