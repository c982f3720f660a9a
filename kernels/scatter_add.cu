// Rows added up by index: the backward of a gather. Two ways, for few indices and for many.
//   scatter_add         each row of y scans all indices for its own
//   scatter_add_sorted  the positions of a row are consecutive (embedding.cu sorts them), so each row reads no others
//
// Promise: y[r] = sum of updates[i] over all i with indices[i] = r, added in the order of i by one owner: no atomics, so the bits
//   are the same on every run, and the same both ways.
// Limits: indices inside 0 .. R - 1 (the launch code checks); fewer than 2^31 elements.
// Bytes: 4 n C + 4 R C; for each of the R rows all n indices, or once 4 n for the positions and 8 R for the starts.   FLOPs: n C.
// Architectures: sm_75 and newer.
// Chapter: 11, built. Its scatter_add_sorted, that is; the other is read.
#define ALL_LANES 0xffffffffu

// A warp owns 32 columns of row blockIdx.x of y, each lane one; blockDim.x is 32. The lanes read 32 indices at a time; a ballot
// says which of them are this row: most often none is.
template <class T, class I> __global__ void scatter_add(const T* updates, const I* indices, T* y, int n, int C) {
    int row = blockIdx.x, lane = threadIdx.x, column = 32 * blockIdx.y + lane;
    T sum = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        unsigned named = __ballot_sync(ALL_LANES, i < n && indices[i] == row);  // bit b: index first + b is this row
        for (; named; named &= named - 1) {                                     // clear the lowest bit, in order
            int from = first + __ffs(named) - 1;
            if (column < C) sum += updates[(long long)from * C + column];
        }
    }
    if (column < C) y[(long long)row * C + column] = sum;
}

// Thread i owns element i of y (R, C). positions[starts[r] .. starts[r + 1] - 1] are the positions of row r, in order.
template <class T>
__global__ void scatter_add_sorted(const T* updates, const int* positions, const int* starts, T* y, int R, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= R * C) return;
    int row = i / C, column = i % C, end = starts[row + 1];
    T sum = 0;
    for (int j = starts[row]; j < end; j++) sum += updates[(long long)positions[j] * C + column];
    y[i] = sum;
}
