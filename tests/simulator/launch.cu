// Kernels of test_launch.py, test_robustness.py and test_sanitizer.py.
struct Settings { int n; float scale; double bias; };
__constant__ float table[4];
__device__ int counter = 5;

extern "C" __global__ void add(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
extern "C" __global__ void typed(const float* f, int* i, unsigned char* u, double d, float s, int n, unsigned m, bool b) {
    i[0] = (int)d + (int)s + n + (int)m + b + u[0] + (int)f[0];
}
extern "C" __global__ void by_struct(Settings settings, float* y) {
    if (threadIdx.x < settings.n) y[threadIdx.x] = settings.scale * threadIdx.x + (float)settings.bias;
}
extern "C" __global__ void look_up(float* y) { y[threadIdx.x] = table[threadIdx.x] + counter; }
extern "C" __global__ void shift(float* to, const float* from, int n) {
    if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x] + 1.0f;
}
extern "C" __global__ void chatter(int n) {
    if (threadIdx.x < n) printf("thread %d of %s: %.2f\n", threadIdx.x, "block", 0.5 * threadIdx.x);
}
extern "C" __global__ void dynamic(float* y) {
    extern __shared__ float space[];
    space[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = space[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) { } }
extern "C" __global__ void spin_without_memory(float* y) {
    unsigned k = threadIdx.x | 1;
    while (k != 0) k = k * 1664525u + 1013904222u | 1;
    y[0] = k;
}
extern "C" __global__ void wild(float* y, long long i) { y[i] = 1.0f; }
extern "C" __global__ void wild_int(float* y, int i) { y[i] = 1.0f; }
extern "C" __global__ void null(float* y) { y[threadIdx.x] = 1.0f; }
extern "C" __global__ void never_set(float* y) {
    float* p = nullptr;
    if (y[0] == 0.0f) p[threadIdx.x] = 1.0f;
}
// Below all arrays: course_lib/cuda/runtime/memory.cpp
extern "C" __global__ void far_away(float* y) { ((float*)0x0812345678a0ull)[threadIdx.x] = y[0]; }
extern "C" __global__ void divide(int* y, int n) { y[threadIdx.x] = 10 / n; }
__device__ float deep(float* y, int n) {
    volatile float here[100];
    here[n % 100] = y[0];
    return n == 0 ? 0.0f : deep(y, n - 1) + here[n % 100];
}
extern "C" __global__ void recurse(float* y, int n) { y[threadIdx.x] = deep(y, n); }
extern "C" __global__ void stuck(float* y) {
    if (threadIdx.x < 7) y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, y[threadIdx.x], 1);
    else __syncthreads();
}
extern "C" __global__ void insist(float* y, int n) { assert(threadIdx.x < n); y[threadIdx.x] = 1.0f; }
extern "C" __global__ void give_up(float* y) { if (threadIdx.x == 3) __trap(); }
#ifdef __CUDACC_RTC__  // NVRTC does not know the host compiler's own
#define __builtin_trap __trap
#endif
extern "C" __global__ void not_an_instruction(float* y) { __builtin_trap(); }
extern "C" __global__ void jump(float* y, unsigned long long where) { ((void (*)())where)(); }
extern "C" __global__ void lost_update(int* y) {
    int old = y[0];
    y[0] = old + 1;
}
extern "C" __global__ void pointer_inside_data(const unsigned long long* places, float* y) {
    y[threadIdx.x] = *(const float*)places[0];
}
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
template <int KB> __global__ void large_shared(float* y) {
    __shared__ float space[KB * 256];
    space[threadIdx.x] = 1.0f;
    __syncthreads();
    y[threadIdx.x] = space[threadIdx.x ^ 1];
}

// Threads that wait for one another in loops of atomics.
__device__ int flag, turn, held;
extern "C" __global__ void later_warp(float* y) {
    __shared__ float value;
    if (threadIdx.x == blockDim.x - 1) {
        value = 5.0f;
        __threadfence_block();
        atomicExch(&flag, 1);
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence_block();
        y[0] = value;
    }
}
extern "C" __global__ void last_comes_first(float* y) {
    int later = blockDim.x - 1 - threadIdx.x;
    while (atomicCAS(&turn, later, later) != later) {}
    y[later] = threadIdx.x + (later ? y[later - 1] : 0.0f);
    __threadfence();
    atomicExch(&turn, later + 1);
}
extern "C" __global__ void given_back_later(float* y) {
    if (threadIdx.x == 0) atomicExch(&held, 1);
    __syncthreads();
    if (threadIdx.x % 2 == 0) {
        while (atomicExch(&held, 1) == 1) __nanosleep(20);
        atomicAdd(&y[0], 1.0f);
    }
    atomicExch(&held, 0);
}

// together (2): blocks that run at this moment, and the most that ever did.
__global__ void together(int *blocks, float *y) {
    atomicMax(&blocks[1], atomicAdd(&blocks[0], 1) + 1);
    float x = blockIdx.x;
    for (int i = 0; i < 2000000; i++) x = x * 0.5f + 1.0f;
    y[blockIdx.x] = x;
    atomicSub(&blocks[0], 1);
}
