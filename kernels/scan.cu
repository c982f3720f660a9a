// Scan: y[i] is x[0] .. x[i] combined (inclusive), or x[0] .. x[i - 1] (exclusive). Three versions.
//
// Versions 1 and 2 scan each block by itself and leave its total; the totals are scanned by the same kernel, in one block, and
// scan_add combines them with the blocks behind. Version 3 does all in one launch.
//
// Promise: prefix sums, and with version 2 and 3 any associative Op, commutative or not (include/scan.cuh).
//   Versions 1 and 2 give the same bits on every run. So does version 3 with integers; with floats the grouping of what lies
//   before a tile depends on which tiles were ready, so the last bits may change from run to run.
// Limits: fewer than 2^31 elements. Version 1 adds floats, exclusively, 2 THREADS of them for each block. Version 3: one lane of
//   a warp looks back, tile by tile, where Merrill and Garland take 32 tiles at once.
// Bytes: 16 n versions 1 and 2, with scan_add; 8 n version 3.   FLOPs: 2 n version 1, 5 n version 2 and 3.
// Architectures: sm_75 and newer.
// Chapter: 23, built.
#include "scan.cuh"

// Work-efficient (Blelloch 1990): up a tree of sums, then down it, where each node passes on what lies before it.
// n - 1 additions up and n - 1 down, in 2 log2(n) steps; after each step up half as many threads work, and their banks conflict.
template <int THREADS> __global__ void scan_1_tree(const float* x, float* y, float* totals, int n) {
    constexpr int COUNT = 2 * THREADS;
    __shared__ float tree[COUNT];
    const int t = threadIdx.x, first = blockIdx.x * COUNT;
    tree[t] = first + t < n ? x[first + t] : 0.0f;
    tree[t + THREADS] = first + t + THREADS < n ? x[first + t + THREADS] : 0.0f;
    for (int half = 1; half < COUNT; half *= 2) {
        __syncthreads();
        const int node = (2 * t + 2) * half - 1;
        if (node < COUNT) tree[node] += tree[node - half];
    }
    __syncthreads();
    if (t == 0) {
        totals[blockIdx.x] = tree[COUNT - 1];
        tree[COUNT - 1] = 0.0f;  // nothing lies before the root
    }
    // yours: down the tree: the left child gets what lies before its parent, the right one that and the left child's sum
    for (int half = THREADS; half > 0; half /= 2) {
        __syncthreads();
        const int node = (2 * t + 2) * half - 1;
        if (node < COUNT) {
            const float left = tree[node - half];
            tree[node - half] = tree[node];
            tree[node] += left;
        }
    }
    // end
    __syncthreads();
    if (first + t < n) y[first + t] = tree[t];
    if (first + t + THREADS < n) y[first + t + THREADS] = tree[t + THREADS];
}

// By shuffles, from register to register. Gained: three barriers instead of 2 log2(n) and no bank conflicts, for log2(32)
// additions per element instead of two. totals may be null. nothing: what does not change anything, 0 for a sum.
template <int THREADS, class Op, class T>
__global__ void scan_2_warps(const T* x, T* y, T* totals, T nothing, bool exclusive, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    T all, v = block_scan<THREADS, Op>(i < n ? x[i] : nothing, &all);
    if (threadIdx.x == 0 && totals) totals[blockIdx.x] = all;
    if (exclusive) {
        if (i + 1 < n && threadIdx.x + 1 < THREADS) y[i + 1] = v;
        if (threadIdx.x == 0 && i < n) y[i] = nothing;
    } else if (i < n) {
        y[i] = v;
    }
}

// before (blocks): what lies before each block of `each` elements.
template <class Op, class T> __global__ void scan_add(T* y, const T* before, int each, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= each && i < n) y[i] = Op::of(before[i / each], y[i]);
}

// Decoupled look-back (Merrill and Garland 2016), inclusive; a warp owns a tile of 32 ITEMS elements. A tile publishes its
// aggregate, combines those of the tiles before it until it meets one that has published its inclusive prefix, and publishes
// its own. Gained: one launch, in which x is read once and y written once.
//
// Its memory order: a value is written, then a fence, then its flag; a thread that has seen the flag, and fences too, sees the
// value. Tiles are numbered in the order in which warps begin, so that a warp only waits for warps that run already.
// state: how many tiles have begun, and a flag for each, all 0 before. partial (2 tiles): aggregate and inclusive prefix of each.
template <int ITEMS, class Op, class T>
__global__ void scan_3_look_back(const T* x, T* y, T* partial, int* state, T nothing, int n) {
    enum { EMPTY, AGGREGATE, PREFIX };
    int* flags = state + 1;
    const int lane = threadIdx.x % 32;
    int tile = 0;
    if (lane == 0) tile = atomicAdd(&state[0], 1);
    tile = shuffle_from(tile, 0);
    const long long first = (long long)tile * 32 * ITEMS + lane;
    if (first - lane >= n) return;

    T own[ITEMS], aggregate = nothing, before = nothing;  // item j of all lanes lies side by side in x
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        own[j] = Op::of(aggregate, warp_scan<Op>(first + j * 32 < n ? x[first + j * 32] : nothing));
        aggregate = shuffle_from(own[j], 31);
    }
    if (lane == 0) {
        // yours: publish the aggregate, look back, publish the inclusive prefix
        if (tile > 0) {
            partial[2 * tile] = aggregate;
            __threadfence();  // the aggregate before its flag
            atomicExch(&flags[tile], AGGREGATE);
        }
        for (int other = tile - 1; other >= 0;) {
            const int flag = atomicAdd(&flags[other], 0);
            if (flag == EMPTY) continue;  // its aggregate is on its way
            __threadfence();              // the flag before the value
            before = Op::of(partial[2 * other + (flag == PREFIX)], before);
            if (flag == PREFIX) break;
            other--;
        }
        partial[2 * tile + 1] = Op::of(before, aggregate);
        __threadfence();
        atomicExch(&flags[tile], PREFIX);
        // end
    }
    before = shuffle_from(before, 0);
#pragma unroll
    for (int j = 0; j < ITEMS; j++)
        if (first + j * 32 < n) y[first + j * 32] = Op::of(before, own[j]);
}
