// Kernels for test_engine.py: right ones, and ones with a fault each. x: 1000 floats, y: 1000, out: 256 ints.
__device__ int launched;
__device__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void scale(const float* x, float* y, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}

__global__ void past_the_end(const float* x, float* y, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 3 * x[i];
}

__global__ void far_away(const float* x, float* y, int* out, int n) {
    int i = threadIdx.x;
    y[i] = x[i];
    y[i * 100000000] = 1;
}

__global__ void below(const float* x, float* y, int* out, int n) {
    y[threadIdx.x] = x[int(threadIdx.x) - 40000];
}

__global__ void through_null(const float* x, float* y, int* out, int n) {
    float* nowhere = nullptr;
    if (threadIdx.x == 5) nowhere[2] = x[0];
}

__global__ void sum_without_order(const float* x, float* y, int* out, int n) {
    y[0] += x[threadIdx.x];
}

__global__ void neighbor(const float* x, float* y, int* out, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void neighbor_right(const float* x, float* y, int* out, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void barrier_for_some(const float* x, float* y, int* out, int n) {
    if (threadIdx.x < 40) __syncthreads();
    y[threadIdx.x] = x[threadIdx.x];
}

__global__ void two_barriers(const float* x, float* y, int* out, int n) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}

__global__ void for_ever(const float* x, float* y, int* out, int n) {
    volatile int turns = 0;
    while (turns >= 0) turns = (turns + 1) & 1023;
}

__global__ void divide(const float* x, float* y, int* out, int n) {
    out[threadIdx.x] = 100 / (int(threadIdx.x) - 3);
}

__global__ void in_shared(const float* x, float* y, int* out, int n) {
    __shared__ float tile[32];
    __shared__ float next[32];
    next[threadIdx.x % 32] = tile[threadIdx.x + n] = 1;
}

__global__ void copy4(const float* x, float* y, int* out, int n) {
    int i = threadIdx.x;
    reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
}

__global__ void warp_sum(const float* x, float* y, int* out, int n) {
    float sum = x[threadIdx.x];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = sum;
}

__global__ void say(const float* x, float* y, int* out, int n) {
    if (threadIdx.x == 2) printf("x[%d] = %g\n", int(threadIdx.x), x[threadIdx.x]);
}

__global__ void count_launches(const float* x, float* y, int* out, int n) {
    if (threadIdx.x == 0) out[0] = ++launched;
    y[threadIdx.x] = table[threadIdx.x];
    if (threadIdx.x == 7) table[7] += 1;
}

// Who comes last is a question of the order in which threads run, which no checker calls a fault.
__global__ void last_one(const float* x, float* y, int* out, int n) {
    atomicExch(&out[0], int(threadIdx.x));
}
