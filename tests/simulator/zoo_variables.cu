// Kernels with one planted fault each, and their correct twins: variables at file scope and static ones.
// The conventions are those of zoo_memory.cu.

__device__ int count, finished;
__device__ float sums[64], last_of_all;
__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
namespace tool {
__device__ unsigned calls;
}
extern "C" {
static __device__ float line_of_eight[8];
}

// launch (2,) (64,) 128
extern "C" __global__ void count_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 10.0f) count = count + 1;  // fault race
    y[i] = x[i] * weights[i % 4];
}
extern "C" __global__ void count_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 10.0f) atomicAdd(&count, 1);
    y[i] = x[i] * weights[i % 4];
}

// launch (2,) (64,) 128
extern "C" __global__ void bins_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i % 64] += x[i];  // fault race
}
extern "C" __global__ void bins_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 64) sums[i] += x[i];
}

// launch (3,) (64,) 192
extern "C" __global__ void last_block_fault(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = x[blockIdx.x * 64];
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = sums[threadIdx.x];  // fault race
    if (last && threadIdx.x == 0) finished = 0;
}
extern "C" __global__ void last_block_right(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = x[blockIdx.x * 64];
        __threadfence();
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) y[threadIdx.x] = sums[threadIdx.x];
    if (last && threadIdx.x == 0) finished = 0;
}

// launch (1,) (64,) 64
extern "C" __global__ void one_writer_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x == 63) last_of_all = x[threadIdx.x];  // fault race
    y[threadIdx.x] = last_of_all;  // or here
}
extern "C" __global__ void one_writer_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x == 63) last_of_all = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = last_of_all;
}

// launch (1,) (32,) 9
__device__ __noinline__ void fill(float* into, int n) {
    if (threadIdx.x < n) into[threadIdx.x] = 1.0f;  // fault out-of-bounds (device function)
}
extern "C" __global__ void past_a_variable_fault(const float* x, float* y, int* c, int n) {
    fill(line_of_eight, n);  // through
}
extern "C" __global__ void past_a_variable_right(const float* x, float* y, int* c, int n) { fill(line_of_eight, n - 1); }

// launch (1,) (32,) 9
__device__ __noinline__ float before(const float* of) {
    return of[int(threadIdx.x) - 1];  // fault out-of-bounds (device function)
}
extern "C" __global__ void before_a_variable_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = before(weights);  // through
}
extern "C" __global__ void before_a_variable_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < 4) y[threadIdx.x] = before(weights + 1);
}

// launch (1,) (32,) 32
extern "C" __global__ void calls_fault(const float* x, float* y, int* c, int n) {
    c[threadIdx.x] = tool::calls++;  // fault race
}
extern "C" __global__ void calls_right(const float* x, float* y, int* c, int n) { c[threadIdx.x] = atomicAdd(&tool::calls, 1); }

// launch (1,) (64,) 64
extern "C" __global__ void static_fault(const float* x, float* y, int* c, int n) {
    static int turns;
    turns = threadIdx.x + 1;  // fault race
    __syncthreads();
    y[threadIdx.x] = turns;
}
extern "C" __global__ void static_right(const float* x, float* y, int* c, int n) {
    static int turns;
    atomicMax(&turns, int(threadIdx.x) + 1);
}
