// Kernels with one planted fault each, and their correct twins: what a fence and an atomic hand over, and what they do not.
// The conventions are those of zoo_memory.cu.

// launch (2,) (64,) 0
extern "C" __global__ void lock_given_back_early_fault(const float* x, float* y, int* c, int n) {
    while (atomicCAS(&c[0], 0, 1) != 0) {}
    __threadfence();
    float sum = y[0] + x[threadIdx.x];  // or here
    __threadfence();
    atomicExch(&c[0], 0);
    y[0] = sum;  // fault race
}
extern "C" __global__ void lock_given_back_early_right(const float* x, float* y, int* c, int n) {
    while (atomicCAS(&c[0], 0, 1) != 0) {}
    __threadfence();
    float sum = y[0] + x[threadIdx.x];
    y[0] = sum;
    __threadfence();
    atomicExch(&c[0], 0);
}

// launch (3,) (32,) 0
extern "C" __global__ void fence_at_the_lock_only_fault(const float* x, float* y, int* c, int n) {
    while (atomicCAS(&c[0], 0, 1) != 0) {}
    __threadfence();
    y[0] += x[threadIdx.x];  // fault race
    atomicExch(&c[0], 0);
}
extern "C" __global__ void fence_at_the_lock_only_right(const float* x, float* y, int* c, int n) {
    while (atomicCAS(&c[0], 0, 1) != 0) {}
    __threadfence();
    y[0] += x[threadIdx.x];
    __threadfence();
    atomicExch(&c[0], 0);
}

// launch (2,) (96,) 0
extern "C" __global__ void lock_of_a_warp_fault(const float* x, float* y, int* c, int n) {
    unsigned lane = threadIdx.x % 32;
    if (lane == 0) {
        while (atomicCAS(&c[0], 0, 1) != 0) {}
        __threadfence();
    }
    __syncwarp();
    y[lane] += x[threadIdx.x];  // fault race
    if (lane == 0) {
        __threadfence();
        atomicExch(&c[0], 0);
    }
}
extern "C" __global__ void lock_of_a_warp_right(const float* x, float* y, int* c, int n) {
    unsigned lane = threadIdx.x % 32;
    if (lane == 0) {
        while (atomicCAS(&c[0], 0, 1) != 0) {}
        __threadfence();
    }
    __syncwarp();
    y[lane] += x[threadIdx.x];
    __syncwarp();
    if (lane == 0) {
        __threadfence();
        atomicExch(&c[0], 0);
    }
}

// launch (4,) (64,) 0
extern "C" __global__ void fence_before_the_write_fault(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        y[1 + blockIdx.x] = x[blockIdx.x];  // or here
        last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x; i++) y[0] += y[1 + i];  // fault race
}
extern "C" __global__ void fence_before_the_write_right(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[1 + blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        for (unsigned i = 0; i < gridDim.x; i++) y[0] += y[1 + i];
        c[0] = 0;  // for the next launch
    }
}

// launch (4,) (64,) 0
extern "C" __global__ void one_fence_for_a_block_fault(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    y[1 + blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];  // or here
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x * blockDim.x; i++) y[0] += y[1 + i];  // fault race
}
extern "C" __global__ void one_fence_for_a_block_right(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    y[1 + blockIdx.x * blockDim.x + threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x * blockDim.x; i++) y[0] += y[1 + i];
}

// launch (3,) (64,) 0
extern "C" __global__ void fences_of_an_earlier_step_fault(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    float* mine = y + 1 + blockIdx.x * blockDim.x;
    mine[threadIdx.x] = x[threadIdx.x];
    __threadfence();
    __syncthreads();
    mine[threadIdx.x] *= 2.0f;  // or here
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x * blockDim.x; i++) y[0] += y[1 + i];  // fault race
}
extern "C" __global__ void fences_of_an_earlier_step_right(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    float* mine = y + 1 + blockIdx.x * blockDim.x;
    mine[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    mine[threadIdx.x] *= 2.0f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x * blockDim.x; i++) y[0] += y[1 + i];
}

// launch (1,) (96,) 0
extern "C" __global__ void warps_in_a_row_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    while (lane == 0 && atomicAdd(&c[0], 0) < warp) {}
    __syncwarp();
    s[lane] = warp ? s[lane] + x[lane] : x[lane];  // fault race
    __threadfence_block();
    if (lane == 0) atomicAdd(&c[0], 1);
    if (warp == 2) y[lane] = s[lane];
}
extern "C" __global__ void warps_in_a_row_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    while (lane == 0 && atomicAdd(&c[0], 0) < warp) {}
    __syncwarp();
    s[lane] = warp ? s[lane] + x[lane] : x[lane];
    __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicAdd(&c[0], 1);
    if (warp == 2) y[lane] = s[lane];
}

// launch (1,) (64,) 0
extern "C" __global__ void ring_of_slots_fault(const float* x, float* y, int* c, int n) {
    __shared__ float ring[4];
    if (threadIdx.x == 0)
        for (int i = 0; i < 20; i++) {
            while (i - atomicAdd(&c[1], 0) >= 4) {}
            ring[i % 4] = x[i];  // or here
            atomicAdd(&c[0], 1);
        }
    if (threadIdx.x == 32)
        for (int i = 0; i < 20; i++) {
            while (atomicAdd(&c[0], 0) <= i) {}
            y[i] = ring[i % 4];  // fault race
            __threadfence_block();
            atomicAdd(&c[1], 1);
        }
}
extern "C" __global__ void ring_of_slots_right(const float* x, float* y, int* c, int n) {
    __shared__ float ring[4];
    if (threadIdx.x == 0)
        for (int i = 0; i < 20; i++) {
            while (i - atomicAdd(&c[1], 0) >= 4) {}
            ring[i % 4] = x[i];
            __threadfence_block();
            atomicAdd(&c[0], 1);
        }
    if (threadIdx.x == 32)
        for (int i = 0; i < 20; i++) {
            while (atomicAdd(&c[0], 0) <= i) {}
            y[i] = ring[i % 4];
            __threadfence_block();
            atomicAdd(&c[1], 1);
        }
}

// launch (2,) (64,) 0
extern "C" __global__ void tickets_fault(const float* x, float* y, int* c, int n) {
    int mine = atomicAdd(&c[0], 1);
    while (atomicAdd(&c[1], 0) != mine) {}
    y[0] += x[threadIdx.x];  // or here
    __threadfence();
    atomicAdd(&c[1], 1);
    y[1] = y[0];  // fault race
}
extern "C" __global__ void tickets_right(const float* x, float* y, int* c, int n) {
    int mine = atomicAdd(&c[0], 1);
    while (atomicAdd(&c[1], 0) != mine) {}
    y[0] += x[threadIdx.x];
    y[1] = y[0];
    __threadfence();
    atomicAdd(&c[1], 1);
}

// launch (2,) (64,) 0
extern "C" __global__ void lock_for_each_place_fault(const float* x, float* y, int* c, int n) {
    unsigned place = threadIdx.x % 7, other = threadIdx.x % 5;
    while (atomicCAS(&c[other], 0, 1) != 0) {}
    __threadfence();
    y[place] += x[threadIdx.x];  // fault race
    __threadfence();
    atomicExch(&c[other], 0);
}
extern "C" __global__ void lock_for_each_place_right(const float* x, float* y, int* c, int n) {
    unsigned place = threadIdx.x % 7;
    while (atomicCAS(&c[place], 0, 1) != 0) {}
    __threadfence();
    y[place] += x[threadIdx.x];
    __threadfence();
    atomicExch(&c[place], 0);
}

// launch (2,) (64,) 0
extern "C" __global__ void two_warps_take_turns_fault(const float* x, float* y, int* c, int n) {
    for (int round = 0; round < 5 && threadIdx.x % 32 == 0; round++) {
        while (atomicAdd(&c[1 + blockIdx.x], 0) % 2 != threadIdx.x / 32) {}
        y[blockIdx.x] += x[round];  // fault race
        atomicAdd(&c[1 + blockIdx.x], 1);
    }
}
extern "C" __global__ void two_warps_take_turns_right(const float* x, float* y, int* c, int n) {
    for (int round = 0; round < 5 && threadIdx.x % 32 == 0; round++) {
        while (atomicAdd(&c[1 + blockIdx.x], 0) % 2 != threadIdx.x / 32) {}
        __threadfence_block();
        y[blockIdx.x] += x[round];
        __threadfence_block();
        atomicAdd(&c[1 + blockIdx.x], 1);
    }
}

// launch (5,) (32,) 0
extern "C" __global__ void chain_of_blocks_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x > 0) return;
    int block = atomicAdd(&c[0], 1);
    while (block > 0 && atomicAdd(&c[block], 0) == 0) {}
    float sum = x[block];
    for (int i = 0; i < block; i++) sum += y[i];  // fault race
    y[block] = sum;  // or here
    atomicExch(&c[block + 1], 1);
}
extern "C" __global__ void chain_of_blocks_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x > 0) return;
    int block = atomicAdd(&c[0], 1);
    while (block > 0 && atomicAdd(&c[block], 0) == 0) {}  // waits for the block before only
    __threadfence();
    float sum = x[block];
    for (int i = 0; i < block; i++) sum += y[i];
    y[block] = sum;
    __threadfence();
    atomicExch(&c[block + 1], 1);
}
