// A scan of recurrences: h[t] = a[t] h[t - 1] + b[t], a row at a time. (Blelloch 1990, section 1.4.1)
//
// One step is the map h -> a h + b. Two steps, one after the other, are such a map again, and composing them is associative, as
// addition is: log2(THREADS) combinations in a row where the recurrence has THREADS steps.
//
// Promise: h (rows, T) from a and b (rows, T) and the state before, start (rows). The same bits on every run.
// Limits: a block owns a row, and its threads take THREADS steps at a time; fewer than 2^31 elements.
// Bytes: 12 rows T + 4 rows.   FLOPs: 3 rows T for each of the log2(32) steps of a warp, where a loop has 2 rows T in all.
// Architectures: sm_75 and newer.
// Chapter: 23, built.
#include "scan.cuh"

template <int THREADS>
__global__ void recurrence_scan(const float* a, const float* b, const float* start, float* h, int T) {
    const long long row = (long long)blockIdx.x * T;
    float state = start[blockIdx.x];
    // yours: THREADS steps at a time; the state goes on from one tile to the next
    for (int tile = 0; tile < T; tile += THREADS) {
        const int t = tile + threadIdx.x;
        const Affine own = t < T ? Affine{a[row + t], b[row + t]} : Affine{1.0f, 0.0f};
        Affine all, before = block_scan<THREADS, Compose>(own, &all);
        if (t < T) h[row + t] = before.a * state + before.b;
        state = all.a * state + all.b;
    }
    // end
}
