// Launches to step through, as natively: shuffles, a barrier and bank conflicts, atomics and a warp's barrier, a race, two blocks.
__global__ void warp_sum(const float* x, float* y) {
    float sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__global__ void columns(const float* x, float* y) {
    __shared__ float tile[32 * 8];
    int i = threadIdx.x;
    tile[i * 4 % 256 + i / 64] = x[i];
    __syncthreads();
    y[i] = tile[i];
}

__global__ void count(const int* x, unsigned* counts) {
    __shared__ int seen[32];
    seen[threadIdx.x] = x[threadIdx.x] % 4;
    __syncwarp();
    atomicAdd(&counts[seen[31 - threadIdx.x]], 1u);
}

__global__ void neighbour(const float* x, float* y) {
    __shared__ float board[64];
    board[threadIdx.x] = x[threadIdx.x] / 3;
    y[threadIdx.x] = board[63 - threadIdx.x];
}
