// Kernels with one planted fault each, and their correct twins: what orders blocks and locks, and neighbours within a word.
// The conventions are those of zoo_memory.cu.
#include <cassert>
#include <cuda_fp16.h>

// launch (2,) (32,) 0
extern "C" __global__ void zeroed_by_one_block_fault(const float* x, float* y, int* c, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = 0.0f;  // or here
    __syncthreads();
    atomicAdd(&y[0], x[threadIdx.x]);  // fault race
}
extern "C" __global__ void zeroed_by_one_block_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x == 0) y[blockIdx.x] = 0.0f;
    __syncthreads();
    atomicAdd(&y[blockIdx.x], x[threadIdx.x]);
}

// launch (2,) (32,) 0
extern "C" __global__ void total_of_others_fault(const float* x, float* y, int* c, int n) {
    atomicAdd(&y[0], x[threadIdx.x]);  // or here
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) y[1] = y[0];  // fault race
}
extern "C" __global__ void total_of_others_right(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    atomicAdd(&y[0], x[threadIdx.x]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) y[1] = y[0];
}

// launch (2,) (64,) 128
extern "C" __global__ void stencil_in_place_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < n ? y[i + 1] : y[i];  // or here
    __syncthreads();
    y[i] = y[i] + next;  // fault race
}
extern "C" __global__ void stencil_in_place_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < n ? x[i + 1] : x[i];
    __syncthreads();
    y[i] = x[i] + next;
}

// launch (2,) (64,) 0
extern "C" __global__ void lock_without_lock_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&c[0], 0, 1) != 0) {}
        __threadfence();
        atomicExch(&c[0], 0);
    }
    if (threadIdx.x % 32 == 1) y[0] = y[0] + 1.0f;  // fault race
}
extern "C" __global__ void lock_without_lock_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&c[0], 0, 1) != 0) {}
        __threadfence();
        y[0] = y[0] + 1.0f;
        __threadfence();
        atomicExch(&c[0], 0);
    }
}

// launch (1,) (64,) 0
extern "C" __global__ void lane_by_lane_fault(const float* x, float* y, int* c, int n) {
    for (bool done = false; !done;) {
        if (atomicCAS(&c[0], 0, 1) == 0) {
            y[0] = fmaxf(y[0], x[threadIdx.x]);  // fault race
            atomicExch(&c[0], 0);
            done = true;
        }
    }
}
extern "C" __global__ void lane_by_lane_right(const float* x, float* y, int* c, int n) {
    for (bool done = false; !done;) {
        if (atomicCAS(&c[0], 0, 1) == 0) {
            __threadfence_block();
            y[0] = fmaxf(y[0], x[threadIdx.x]);
            __threadfence_block();
            atomicExch(&c[0], 0);
            done = true;
        }
    }
}

// launch (1,) (64,) 0
extern "C" __global__ void halves_fault(const float* x, float* y, int* c, int n) {
    __shared__ half s[64];
    s[threadIdx.x] = __float2half(x[threadIdx.x]);  // or here
    if (threadIdx.x >= 32 && threadIdx.x % 2 == 0) y[threadIdx.x] = __half2float(s[threadIdx.x - 32]);  // fault race
}
extern "C" __global__ void halves_right(const float* x, float* y, int* c, int n) {
    __shared__ half s[64];
    s[threadIdx.x] = __float2half(x[threadIdx.x]);
    __syncwarp();
    y[threadIdx.x] = __half2float(s[threadIdx.x ^ 1]);
    __syncwarp();
    s[threadIdx.x] = __float2half(y[threadIdx.x]);
    __syncthreads();
    y[threadIdx.x] = __half2float(s[63 - threadIdx.x]);
}

// launch (1,) (32,) 0
extern "C" __global__ void half_of_a_neighbour_fault(const float* x, float* y, int* c, int n) {
    __shared__ half s[32];
    s[threadIdx.x] = __float2half(x[threadIdx.x]);  // fault race
    y[threadIdx.x] = __half2float(s[threadIdx.x ^ 1]);  // or here
}
extern "C" __global__ void half_of_a_neighbour_right(const float* x, float* y, int* c, int n) {
    __shared__ half s[32];
    s[threadIdx.x] = __float2half(x[threadIdx.x]);
    y[threadIdx.x] = __half2float(s[threadIdx.x]);
}

// launch (1,) (64,) 0
extern "C" __global__ void bytes_fault(const float* x, float* y, int* c, int n) {
    unsigned char* counts = reinterpret_cast<unsigned char*>(c);
    counts[threadIdx.x % 32 * 4 + threadIdx.x / 64]++;  // fault race
}
extern "C" __global__ void bytes_right(const float* x, float* y, int* c, int n) {
    unsigned char* counts = reinterpret_cast<unsigned char*>(c);
    counts[threadIdx.x % 32 * 4 + threadIdx.x / 32]++;
}

// launch (1,) (32,) 5
extern "C" __global__ void included_assert_fault(const float* x, float* y, int* c, int n) {
    assert(n > 5);  // fault crash
}
extern "C" __global__ void included_assert_right(const float* x, float* y, int* c, int n) { assert(n > 4); }

// launch (1,) (32,) 64
extern "C" __global__ void large_local_array_fault(const float* x, float* y, int* c, int n) {  // fault crash
    float large[50000];
    for (int i = 0; i < n; i++) large[i] = x[i];
    y[threadIdx.x] = large[n - 1 - threadIdx.x];
}
extern "C" __global__ void large_local_array_right(const float* x, float* y, int* c, int n) {
    float large[8000];
    for (int i = 0; i < n; i++) large[i] = x[i];
    y[threadIdx.x] = large[n - 1 - threadIdx.x];
}

// launch (3,) (64,) 0
extern "C" __global__ void scope_of_a_block_fault(const float* x, float* y, int* c, int n) {
    atomicAdd_block(&c[threadIdx.x / 8], 1);  // fault race
}
extern "C" __global__ void scope_of_a_block_right(const float* x, float* y, int* c, int n) {
    atomicAdd_block(&c[8 * blockIdx.x + threadIdx.x / 8], 1);
}

// launch (3,) (64,) 0
extern "C" __global__ void one_block_with_its_own_scope_fault(const float* x, float* y, int* c, int n) {
    if (blockIdx.x == 1) atomicMax_block(&c[0], threadIdx.x);  // fault race
    else atomicMax(&c[0], threadIdx.x);  // or here
}
extern "C" __global__ void one_block_with_its_own_scope_right(const float* x, float* y, int* c, int n) {
    __shared__ int most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    atomicMax_block(&most, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax_system(&c[0], most);
}

// launch (3,) (64,) 0
extern "C" __global__ void two_guesses_fault(const float* x, float* y, int* c, int n) {
    int lane = threadIdx.x % 32;
    int first = c[lane];
    int second = c[32 + lane];  // fault race
    for (int old; (old = atomicCAS(&c[lane], first, first + 1)) != first;) first = old;
    if (threadIdx.x == 0 || second > 1000) atomicAdd(&c[32 + lane], 1);
}
extern "C" __global__ void two_guesses_right(const float* x, float* y, int* c, int n) {
    int lane = threadIdx.x % 32;
    int first = c[lane];
    int second = c[32 + lane];
    for (int old; (old = atomicCAS(&c[lane], first, first + 1)) != first;) first = old;
    for (int old; (old = atomicCAS(&c[32 + lane], second, second + 2)) != second;) second = old;
}
