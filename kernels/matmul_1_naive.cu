// Matrix product, version 1: one thread for each element, consecutive threads on consecutive rows.
//
// Promise: C (M, N) = A (M, K) B (K, N), row-major float32; the same bits on every run.
// Limits: none on the sizes. Slow on purpose: it is what one writes first.
// Gained: correct. A warp's 32 reads of A are in 32 different rows, so that each request moves 32 sectors and uses 4 bytes of
//   each: 1,024 bytes for 128. The same holds for its writes of C.
// Bytes: 1,056 for each warp and k, K M N / 32 times.   FLOPs: 2 M N K.
// Architectures: sm_75 and newer.
// Chapter: 08a, built.

// Thread (x, y) owns C[row][column]: x is the index of the row.
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
        float left = A[(size_t)row * K + k];
        float right = B[(size_t)k * N + column];
        sum += left * right;
    }
    C[(size_t)row * N + column] = sum;
}
