// Threads for the loops: `parallel_for(count, work)` runs work(0) .. work(count - 1), shared among a few threads.
//
// The pieces are cut by the caller, the same way for any number of threads, and a piece never depends on another. So the
// result has the same bits on one thread as on eight. Idle threads sleep: spinning ones would take the cores from the BLAS.
#pragma once

void parallel_for_pieces(long count, void (*work)(void *context, long piece), void *context);

template <class Work> void parallel_for(long count, Work work) {
    parallel_for_pieces(count, [](void *context, long piece) { (*static_cast<Work *>(context))(piece); }, &work);
}

inline long pieces_of(long count, long size) { return (count + size - 1) / size; }

// parallel_for over ranges: work(start, stop) for pieces of `size` out of `count`.
template <class Work> void parallel_ranges(long count, long size, Work work) {
    parallel_for(pieces_of(count, size), [=](long piece) {
        const long start = piece * size;
        work(start, start + size < count ? start + size : count);
    });
}
