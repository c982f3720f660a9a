// The threads behind parallel_for: they sleep on a condition variable, and take pieces off one shared counter.
#include "threads.h"
#include <atomic>
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

struct Pool {
    std::mutex one_caller;  // who holds it may hand out a job
    std::mutex state;       // guards the three below
    std::condition_variable wake, finished;
    Job *job = nullptr;
    int busy = 0;  // threads inside the job

    explicit Pool(int threads) {
        for (int i = 1; i < threads; i++) std::thread([this] { serve(); }).detach();  // the caller is the first
    }

    void serve() {
        std::unique_lock<std::mutex> lock(state);
        for (Job *last = nullptr;;) {
            wake.wait(lock, [&] { return job && job != last; });
            Job *mine = last = job;
            busy++;
            lock.unlock();
            mine->run();
            lock.lock();
            if (--busy == 0) finished.notify_one();
            if (!job) last = nullptr;
        }
    }

    void share(Job &mine) {
        std::unique_lock<std::mutex> lock(state);
        job = &mine;
        lock.unlock();
        wake.notify_all();
        mine.run();
        lock.lock();
        job = nullptr;  // whoever wakes up only now stays out
        finished.wait(lock, [&] { return busy == 0; });
    }
};

static int wanted_threads = 1;
static Pool *pool = nullptr;  // never destroyed: its threads sleep until the process ends

extern "C" void set_threads(int threads) {
    wanted_threads = threads;
    pool = nullptr;
    pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });  // a forked child has no threads but its own
}

void parallel_for_pieces(long count, void (*work)(void *, long), void *context) {
    static std::mutex making;
    if (count > 1 && wanted_threads > 1) {
        Pool *mine;
        {
            std::lock_guard<std::mutex> lock(making);
            if (!pool) pool = new Pool(wanted_threads);
            mine = pool;
        }
        std::unique_lock<std::mutex> alone(mine->one_caller, std::try_to_lock);
        if (alone) {
            Job job{work, context, count};
            mine->share(job);
            return;
        }
    }
    for (long piece = 0; piece < count; piece++) work(context, piece);  // nobody to share with
}
