// Crashes and cancellation of workers.
#pragma once
#include <pthread.h>
#include <signal.h>

#include "runtime.h"

namespace sim {

void handle_signals();           // from now on; once is enough
sigset_t other_signals();        // those that workers block
void request_cancel(pthread_t);  // of the worker that runs there; it may refuse, and is to be asked again
[[noreturn]] void leave_stopped(Worker*);  // the launch was stopped while this worker waited
int64_t thread_time();           // nanoseconds of processor time that this thread has had

}  // namespace sim
