// Embedding: rows of a table picked by index. Backward: each row of the table gets the sum of the gradients of its positions.
//
// Many positions have the same row, so the backward sums. With atomics the order of a sum would change from run to run; here the
// positions are sorted by row first (a stable counting sort), and then each element of dtable has one owner:
//   embedding_ranks    within each chunk of positions: how many before this one have its row, and how many in all
//   embedding_totals   for each row: where each chunk's positions begin among those of the row, and how many positions there are
//   embedding_starts   where each row begins among all sorted positions: a running sum over the rows
//   embedding_sort     each position is written to its index in the sorted order
//   embedding_backward each owner adds up its row's positions, in order
//
// Promise: y[i] = table[indices[i]]; dtable[r] = sum of dy[i] over all i with indices[i] = r, in the order of i: no atomics, the
//   same bits on every run. An index outside of the table gives zeros and adds nothing (the launch code refuses it before).
// Limits: fewer than 2^31 elements. A row that nearly all positions have is summed by few threads, one after the other.
// Bytes: 8 n C forward; 4 n C + 4 V C backward, and 8 V ceil(n / CHUNK) + 20 n for sorting.   FLOPs: n C backward.
// Architectures: sm_75 and newer.
// Chapter: 11, built. Its embedding_forward and embedding_backward, that is; the sort between them is read.
constexpr int CHUNK = 256;

// Thread i owns element i of y (n, C).
template <class I> __global__ void embedding_forward(const float* table, const I* indices, float* y, int n, int V, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * C) return;
    I row = indices[i / C];
    y[i] = row >= 0 && row < V ? table[(long long)row * C + i % C] : 0.0f;
}

// A block owns a chunk of CHUNK positions, each thread one. counts (V, chunks), zeros before: how often the chunk has the row.
template <class I> __global__ void embedding_ranks(const I* indices, int* ranks, int* counts, int n, int V) {
    __shared__ I rows[CHUNK];
    int i = blockIdx.x * CHUNK + threadIdx.x;
    I own = i < n ? indices[i] : (I)-1;
    rows[threadIdx.x] = own;
    __syncthreads();
    if (own < 0 || own >= V) return;
    int before = 0, all = 0;
    for (int j = 0; j < CHUNK; j++) {
        all += rows[j] == own;
        before += rows[j] == own && j < threadIdx.x;
    }
    ranks[i] = before;
    if (before == all - 1) counts[(long long)own * gridDim.x + blockIdx.x] = all;  // the last position of its row writes the count
}

// Thread r owns row r: its counts become running sums that begin at 0, their total goes to totals (V).
extern "C" __global__ void embedding_totals(int* counts, int* totals, int V, int chunks) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= V) return;
    int sum = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
        int count = counts[(long long)r * chunks + chunk];
        counts[(long long)r * chunks + chunk] = sum;
        sum += count;
    }
    totals[r] = sum;
}

// One block of CHUNK threads. starts (V + 1): the running sum of totals, from 0 to the number of positions.
extern "C" __global__ void embedding_starts(const int* totals, int* starts, int V) {
    __shared__ int sums[2][CHUNK];
    int each = (V + CHUNK - 1) / CHUNK, first = min(V, (int)threadIdx.x * each), end = min(V, first + each), own = 0;
    for (int r = first; r < end; r++) own += totals[r];  // this thread's rows are consecutive
    int now = 0, sum = own;
    sums[0][threadIdx.x] = sum;
    for (int step = 1; step < CHUNK; step *= 2, now ^= 1) {  // after it sums[now][t] covers 2 step threads up to t
        __syncthreads();
        if (threadIdx.x >= step) sum += sums[now][threadIdx.x - step];
        sums[now ^ 1][threadIdx.x] = sum;
    }
    sum -= own;  // exclusive: the sum before this thread's rows
    for (int r = first; r < end; r++) {
        starts[r] = sum;
        sum += totals[r];
    }
    if (threadIdx.x == CHUNK - 1) starts[V] = sum;
}

// Thread i owns position i, and writes i into positions (n), where the positions of a row are consecutive, in order.
template <class I>
__global__ void embedding_sort(const I* indices, const int* ranks, const int* before, const int* starts, int* positions, int n,
                               int V, int chunks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    I row = indices[i];
    if (row >= 0 && row < V) positions[starts[row] + before[(long long)row * chunks + i / CHUNK] + ranks[i]] = i;
}

// Thread (r, c) owns dtable[r][c]; r is blockIdx.x.
extern "C" __global__ void embedding_backward(const float* dy, const int* positions, const int* starts, float* dtable, int C) {
    int r = blockIdx.x, begin = starts[r], end = starts[r + 1];
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float sum = 0.0f;
#pragma unroll 8
        for (int j = begin; j < end; j++) sum += dy[(long long)positions[j] * C + c];  // eight loads in flight at a time
        dtable[(long long)r * C + c] = sum;
    }
}
