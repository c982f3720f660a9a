// What went wrong, in a table that needs no heap (it is filled from signal handlers too).
#include <pthread.h>

#include <cstdio>

#include "runtime.h"

namespace sim {

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Fault faults[MAX_FAULTS];
static int count;

// Holds the lock. The worker is not interrupted meanwhile.
struct Locked {
    Worker* worker = sim_block ? worker_of(sim_block) : nullptr;
    bool interruptible = worker && !worker->in_runtime;
    Locked() {
        if (interruptible) worker->in_runtime = 1;
        pthread_mutex_lock(&lock);
    }
    ~Locked() {
        pthread_mutex_unlock(&lock);
        if (interruptible) worker->in_runtime = 0;
    }
};

static void record(Kind kind, uint32_t thread, CodeLocation where, uint32_t other_thread, CodeLocation other,
                   const char* format, va_list arguments) {
    Locked hold;
    for (int i = 0; i < count; i++) {
        Fault& known = faults[i];
        if (known.kind != kind || known.pc != where.pc || known.line != where.line.line) continue;
        known.count++;
        return;
    }
    if (count == MAX_FAULTS) return;
    Fault& fresh = faults[count++];
    Block* block = sim_block;
    fresh = Fault{kind, where.line.line, other.line.line, thread, other_thread, where.line.file, other.line.file,
                  where.pc, other.pc, block ? block->index : Index{}, 1, {}};
    vsnprintf(fresh.message, sizeof fresh.message, format, arguments);
}

void fault(Kind kind, uint32_t thread, CodeLocation where, uint32_t other_thread, CodeLocation other, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    record(kind, thread, where, other_thread, other, format, arguments);
    va_end(arguments);
}

void fault(Kind kind, CodeLocation where, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    record(kind, sim_block->current, where, NO_THREAD, {}, format, arguments);
    va_end(arguments);
}

void clear_faults() { count = 0; }
bool any_fault() { return count != 0; }

}  // namespace sim

using namespace sim;

extern "C" {
int sim_fault_count() { return count; }
const Fault* sim_fault(int i) { return &faults[i]; }
}
