// Matrix product, version 3: a block fetches a tile of A and a tile of B once, and all its threads use them.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major float32; the same bits on every run.
// Limits: TILE x TILE threads, so TILE is at most 32. Any sizes: elements outside the matrices count as zero.
// Gained over version 2: an element that a block has fetched serves TILE threads. A and B are read N / TILE and M / TILE times
//   instead of once for each warp: with TILE = 32 a block's warp moves 8 sectors for 32 k instead of 160.
//   Now shared memory is the bottleneck: two reads for each multiply-add.
// Bytes: 4 (M K N / TILE + K N M / TILE + M N).   FLOPs: 2 M N K.
// Architectures: sm_75 and newer.
// Chapter: 08a, built.

template <int TILE>
__global__ void matmul_shared_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
    static_assert(TILE * TILE <= 1024, "a block has at most 1,024 threads");
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    // Thread (x, y) owns C[row][column], and of each pair of tiles it fetches a[y][x] and b[y][x].
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += TILE) {
        a[y][x] = row < M && k + x < K ? A[(size_t)row * K + k + x] : 0.0f;
        b[y][x] = k + y < K && column < N ? B[(size_t)(k + y) * N + column] : 0.0f;
        __syncthreads();  // the tiles are complete
        for (int j = 0; j < TILE; j++) sum += a[y][j] * b[j][x];
        __syncthreads();  // all threads have finished with the tiles
    }
    if (row < M && column < N) C[(size_t)row * N + column] = sum;
}
