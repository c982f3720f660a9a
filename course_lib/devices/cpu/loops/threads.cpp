// The threads behind parallel_for: they sleep on a condition variable, and take pieces off one shared counter. A thread whose
// core is taken away by another program holds up one piece, and the others do the rest.
#include "threads.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <thread>

struct Job {
    void (*work)(void *, long);
    void *context;
    long count;
    std::atomic<long> next{0};

    void run() {
        for (long piece; (piece = next.fetch_add(1)) < count;) work(context, piece);
    }
};

constexpr auto LOOK_OUT = std::chrono::microseconds(50);

// Look out for something for a moment, since to sleep and be woken takes as long. Then sleep: other programs want the core.
template <class Happened> static void soon(Happened happened) {
    const auto end = std::chrono::steady_clock::now() + LOOK_OUT;
    while (!happened() && std::chrono::steady_clock::now() < end) {}
}

struct Pool {
    std::mutex one_caller;  // its holder may hand out a job
    std::mutex state;       // guards all that follows
    std::condition_variable wake, finished;
    Job *job = nullptr;
    std::atomic<int> seats{0};  // how many more threads may join the job
    std::atomic<int> busy{0};   // threads inside the job
    int helpers = 0;            // threads that were ever started; the caller is one more

    void serve() {
        std::unique_lock<std::mutex> lock(state);
        for (;;) {
            lock.unlock();
            soon([&] { return seats > 0; });
            lock.lock();
            wake.wait(lock, [&] { return seats > 0; });
            Job *mine = job;
            seats--, busy++;
            lock.unlock();
            mine->run();
            lock.lock();
            if (--busy == 0) finished.notify_one();
        }
    }

    void share(Job &mine, int threads) {
        std::unique_lock<std::mutex> lock(state);
        for (; helpers < threads - 1; helpers++) std::thread([this] { serve(); }).detach();
        job = &mine;
        const int wanted = seats = threads - 1;
        lock.unlock();
        for (int i = 0; i < wanted; i++) wake.notify_one();
        mine.run();
        lock.lock();
        seats = 0;  // a thread that wakes up only now stays out
        lock.unlock();
        soon([&] { return busy == 0; });
        lock.lock();
        finished.wait(lock, [&] { return busy == 0; });
    }
};

static std::atomic<int> wanted_threads{1};
static Pool *pool = nullptr;  // never destroyed: its threads sleep until the process ends

// From the next job on.
extern "C" void set_threads(int threads) { wanted_threads = threads; }

static Pool &the_pool() {
    static std::mutex making;
    std::lock_guard<std::mutex> lock(making);
    if (!pool) {
        pool = new Pool;
        pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });  // a forked child has no threads but its own
    }
    return *pool;
}

void parallel_for_pieces(long count, void (*work)(void *, long), void *context) {
    const int threads = wanted_threads < count ? int(wanted_threads) : int(count);
    if (threads > 1) {
        Pool &mine = the_pool();
        std::unique_lock<std::mutex> alone(mine.one_caller, std::try_to_lock);
        if (alone) {
            Job job{work, context, count};
            mine.share(job, threads);
            return;
        }
    }
    for (long piece = 0; piece < count; piece++) work(context, piece);  // no other thread to share with
}
