// Crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL) and cancellation (SIGUSR2): handled on a stack of their own, they leave the kernel
// by a long jump. Signals that are not ours go to the handler that was there before.
#include "signals.h"

#include <time.h>
#include <unistd.h>

#include "backtraces.h"
#include "memory.h"

namespace sim {

volatile int stop_all;

static Worker* this_worker() { return sim_block ? worker_of(sim_block) : nullptr; }

int64_t thread_time() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// A checked launch is stopped when it has had a hundredth of a second of processor time, however long that takes on a busy
// machine: before that it may not have reached the learner's text. The caller asks again.
static bool may_stop(const Worker* worker) {
    return !worker->block.launch->checked || thread_time() - worker->began > 10000000;
}

[[noreturn]] static void leave_kernel(Worker* worker) {
    worker->in_kernel = 0;
    stop_all = 1;
    siglongjmp(worker->exit, 1);
}

void leave_stopped(Worker* worker) {
    worker->cancelled = 0;
    leave_kernel(worker);
}

static void report_timeout(Worker* worker, void* pc, const char* stack_pointer) {
    record_backtrace(pc, stack_pointer);
    fault(TIMEOUT, worker->block.current, location_at(pc), NO_THREAD, {}, "still running");
}

void leave_cancelled(Worker* worker) {
    worker->cancelled = 0;
    if (!worker->in_kernel || !may_stop(worker)) return;
    report_timeout(worker, nullptr, static_cast<char*>(__builtin_frame_address(0)));
    leave_kernel(worker);
}

// ---- signals ------------------------------------------------------------------------------------------------------------

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGUSR2};
static struct sigaction before[65];

static void* pc_of(void* context) {
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

static char* stack_pointer_of(void* context) {
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

static void describe_crash(Worker* worker, int signal, siginfo_t* info, void* context) {
    void* pc = pc_of(context);
    Block* block = &worker->block;
    uint32_t thread = block->mode & PLAIN && !(block->mode & CHECKED) ? NO_THREAD : block->current;
    char* address = static_cast<char*>(info->si_addr);
    CodeLocation where;
    if (block->launch->checked) {
        where = location_at(pc);
        record_backtrace(pc, stack_pointer_of(context));
    }
    if (signal == SIGFPE) {
        fault(DIVISION_BY_ZERO, thread, where, NO_THREAD, {}, "an integer was divided by zero (or the smallest by -1)");
    } else if (signal == SIGILL) {
        fault(CRASH, thread, where, NO_THREAD, {}, "the kernel ran into an instruction that does not exist: does a function "
              "that promises a value end without `return`, or is an integer divided by a 0 that the compiler saw coming?");
    } else if (on_own_stacks(block, address)) {
        fault(CRASH, thread, where, NO_THREAD, {}, "stack overflow: a thread used more than 64 KB of local memory "
              "(endless recursion, or a very large local array)");
    } else if (reinterpret_cast<uint64_t>(address) < NEAR_NULL) {
        fault(NULL_POINTER, thread, where, NO_THREAD, {}, "an address near 0 was accessed: a null pointer");
    } else if (Slot* slot = slot_of(address); slot && slot->live) {
        fault(OUT_OF_BOUNDS, thread, where, NO_THREAD, {}, "an access %s the array '%s' of %zu bytes",
              address >= slot->data ? "went past the end of" : "lies before the start of", name_of(*slot), slot->bytes);
    } else {
        fault(CRASH, thread, where, NO_THREAD, {}, "an access to %p, where there is no memory: a wild pointer or index",
              static_cast<void*>(address));
    }
}

static void on_signal(int signal, siginfo_t* info, void* context) {
    Worker* worker = this_worker();
    if (worker && worker->in_kernel) {
        if (signal == SIGUSR2) {
            worker->cancelled = worker->in_runtime;
            if (worker->in_runtime || !may_stop(worker)) return;  // leave_runtime will see it; or too early
            if (worker->block.launch->checked) report_timeout(worker, pc_of(context), stack_pointer_of(context));
        } else {
            describe_crash(worker, signal, info, context);
        }
        leave_kernel(worker);
    }
    if (signal == SIGUSR2) return;
    sigaction(signal, &before[signal], nullptr);  // not ours: the previous handler gets it when the fault repeats
    if (info->si_code <= 0) raise(signal);
}

void handle_signals() {
    static bool installed = false;
    if (installed) return;
    installed = true;
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : SIGNALS) sigaction(signal, &action, &before[signal]);
}

sigset_t other_signals() {
    sigset_t others;
    sigfillset(&others);
    for (int signal : SIGNALS) sigdelset(&others, signal);
    return others;
}

void request_cancel(pthread_t thread) { pthread_kill(thread, SIGUSR2); }

}  // namespace sim

void sim_stop(unsigned thread, const char* message, const char* file, int line) {
    using namespace sim;
    fault(CRASH, thread, {nullptr, {file, line}}, NO_THREAD, {}, "%s", message);
    leave_kernel(this_worker());
}
