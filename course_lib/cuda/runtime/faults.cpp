// What went wrong, in a table that needs no heap (it is filled from signal handlers too), and the device's printf.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

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

// ---- printf -----------------------------------------------------------------------------------------------------------

static constexpr size_t PRINT_BYTES = 1 << 20;  // of a launch, as on a GPU (cudaLimitPrintfFifoSize)
static char printed[PRINT_BYTES];
static size_t print_end, print_lost, print_handed;  // bytes kept, bytes that did not fit, bytes that Python has

void clear_text() { print_end = print_lost = print_handed = 0; }
bool any_text() { return print_end || print_lost; }

}  // namespace sim

using namespace sim;

int sim_printf(const char* format, ...) {
    enter_runtime(sim_block);
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t bytes = length < int(sizeof text) ? length : sizeof text - 1;
    {
        Locked hold;
        size_t fit = std::min(bytes, PRINT_BYTES - print_end);
        memcpy(printed + print_end, text, fit);
        print_end += fit;
        print_lost += bytes - fit;
    }
    leave_runtime(sim_block);
    return length;
}

extern "C" {
int sim_fault_count() { return count; }
const Fault* sim_fault(int i) { return &faults[i]; }
// What the kernel has printed since the last call; `lost` counts the bytes of the whole launch that did not fit.
const char* sim_printed(size_t* bytes, size_t* lost) {
    Locked hold;
    const char* text = printed + print_handed;
    *bytes = print_end - print_handed;
    *lost = print_lost;
    print_handed = print_end;
    return text;
}
}
