// Matrix product, version 2: one thread for each element, consecutive threads on consecutive columns.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major float32; the same bits on every run.
// Limits: none on the sizes.
// Gained over version 1: x and y are exchanged. A warp now reads one element of A (1 sector, for all lanes) and 32 consecutive
//   ones of B (4 sectors), instead of 32 and 1: 5 sectors for each warp and k instead of 33. Writes take 4 sectors instead of 32.
// Bytes: 160 for each warp and k, K M N / 32 times.   FLOPs: 2 M N K.
// Architectures: sm_75 and newer.
// Chapter: 08a, built.

// Thread (x, y) owns C[row][column]: x is the index of the column.
extern "C" __global__ void matmul_coalesced(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
        float left = A[(size_t)row * K + k];
        float right = B[(size_t)k * N + column];
        sum += left * right;
    }
    C[(size_t)row * N + column] = sum;
}
