// The device's printf. As on a GPU, a launch's text has a buffer of fixed size.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "runtime.h"

namespace sim {

static std::mutex lock;
static constexpr size_t PRINT_BYTES = 1 << 20;  // cudaLimitPrintfFifoSize
static char printed[PRINT_BYTES];
static size_t print_end, print_lost, print_handed;  // bytes kept, bytes that did not fit, bytes that Python has

void clear_text() { print_end = print_lost = print_handed = 0; }
bool any_text() { return print_end || print_lost; }

}  // namespace sim

using namespace sim;

int sim_printf(const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    if (!sim_block) {  // the host code of a program
        int length = vprintf(format, arguments);
        va_end(arguments);
        return length;
    }
    enter_runtime(sim_block);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t bytes = length < int(sizeof text) ? length : sizeof text - 1;
    {
        std::lock_guard<std::mutex> hold(lock);
        size_t fit = std::min(bytes, PRINT_BYTES - print_end);
        memcpy(printed + print_end, text, fit);
        print_end += fit;
        print_lost += bytes - fit;
    }
    leave_runtime(sim_block);
    return length;
}

extern "C" {
// What the kernel has printed since the last call; `lost` counts the bytes of the whole launch that did not fit.
const char* sim_printed(size_t* bytes, size_t* lost) {
    std::lock_guard<std::mutex> hold(lock);
    const char* text = printed + print_handed;
    *bytes = print_end - print_handed;
    *lost = print_lost;
    print_handed = print_end;
    return text;
}
}
