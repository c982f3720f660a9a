// What went wrong, in a table that needs no heap (it is filled from signal handlers too), and the device's printf.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "runtime.h"

namespace sim {

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Fault faults[MAX_FAULTS];
static int count;

bool fault(Kind kind, uint32_t thread, Place place, uint32_t other_thread, Place other, const char* format, ...) {
    Worker* worker = sim_block ? worker_of(sim_block) : nullptr;
    bool interruptible = worker && !worker->in_runtime;  // nobody may jump out from here with the lock taken
    if (interruptible) worker->in_runtime = 1;
    pthread_mutex_lock(&lock);
    bool fresh = true;
    for (int i = 0; i < count && fresh; i++) {
        Fault& known = faults[i];
        if (known.kind != kind || known.pc != place.pc || known.line != place.site.line) continue;
        known.count++;
        fresh = false;
    }
    if (fresh && count < MAX_FAULTS) {
        Fault& now = faults[count++];
        Block* block = sim_block;
        now = Fault{kind, place.site.line, other.site.line, thread, other_thread, place.site.file, other.site.file,
                    place.pc, other.pc, block ? block->index : Index{}, 1, {}};
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(now.message, sizeof now.message, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&lock);
    if (interruptible) worker->in_runtime = 0;
    return fresh;
}

void clear_faults() { count = 0; }
bool any_fault() { return count != 0; }

// ---- printf -----------------------------------------------------------------------------------------------------------

static constexpr size_t PRINT_BYTES = 1 << 20;
static char printed[PRINT_BYTES];
static std::atomic<size_t> print_end{0};

bool any_text() { return print_end != 0; }

}  // namespace sim

using namespace sim;

int sim_printf(const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t bytes = length < int(sizeof text) ? length : sizeof text - 1;
    size_t start = print_end.fetch_add(bytes);
    if (start + bytes <= PRINT_BYTES) memcpy(printed + start, text, bytes);
    return length;
}

extern "C" {
int sim_fault_count() { return count; }
const Fault* sim_fault(int i) { return &faults[i]; }
// What the kernels have printed since the last launch began; `lost` counts the bytes that did not fit.
const char* sim_printed(size_t* bytes, size_t* lost) {
    size_t end = print_end.exchange(0);
    *bytes = end < PRINT_BYTES ? end : PRINT_BYTES;
    *lost = end - *bytes;
    return printed;
}
}
