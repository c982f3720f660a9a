// Kernels with one planted fault each, and their correct twins: races, barriers, lanes, endless loops.
// The conventions are those of zoo_memory.cu.
#define FULL 0xffffffffu

// launch (1,) (128,) 0
extern "C" __global__ void no_barrier_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];  // fault race
    y[threadIdx.x] = s[127 - threadIdx.x];  // or here
}
extern "C" __global__ void no_barrier_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[127 - threadIdx.x];
}

// launch (1,) (64,) 4
extern "C" __global__ void second_barrier_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    float sum = 0.0f;
    for (int step = 0; step < n; step++) {
        s[threadIdx.x] = x[step * 64 + threadIdx.x];  // fault race
        __syncthreads();
        sum += s[63 - threadIdx.x];  // or here
    }
    y[threadIdx.x] = sum;
}
extern "C" __global__ void second_barrier_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    float sum = 0.0f;
    for (int step = 0; step < n; step++) {
        s[threadIdx.x] = x[step * 64 + threadIdx.x];
        __syncthreads();
        sum += s[63 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// launch (1,) (256,) 256
extern "C" __global__ void tree_without_barrier_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];  // fault race
    }
    if (threadIdx.x == 0) y[0] = s[0];
}
extern "C" __global__ void tree_without_barrier_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[0] = s[0];
}

// launch (1,) (64,) 64
extern "C" __global__ void scan_in_place_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        if (threadIdx.x >= step) s[threadIdx.x] += s[threadIdx.x - step];  // fault race
        __syncthreads();
    }
    y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void scan_in_place_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float add = threadIdx.x >= step ? s[threadIdx.x - step] : 0.0f;
        __syncthreads();
        s[threadIdx.x] += add;
        __syncthreads();
    }
    y[threadIdx.x] = s[threadIdx.x];
}

// launch (4,) (64,) 0
extern "C" __global__ void plain_counter_fault(const float* x, float* y, int* c, int n) {
    c[0] = c[0] + 1;  // fault race
}
extern "C" __global__ void plain_counter_right(const float* x, float* y, int* c, int n) {
    atomicAdd(&c[0], 1);
}

// launch (2,) (128,) 16
extern "C" __global__ void plain_histogram_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[(int)x[i] % n]++;  // fault race
}
extern "C" __global__ void plain_histogram_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&c[(int)x[i] % n], 1);
}

// launch (4,) (32,) 0
extern "C" __global__ void blocks_share_output_fault(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = blockIdx.x;  // fault race
}
extern "C" __global__ void blocks_share_output_right(const float* x, float* y, int* c, int n) {
    y[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}

// launch (4,) (64,) 256
extern "C" __global__ void in_place_stencil_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = i > 0 ? y[i - 1] : 0.0f;  // or here
    y[i] = left + x[i];  // fault race
}
extern "C" __global__ void in_place_stencil_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = i > 0 ? x[i - 1] : 0.0f;
    y[i] = left + x[i];
}

// launch (1,) (64,) 0
extern "C" __global__ void one_writes_all_read_fault(const float* x, float* y, int* c, int n) {
    __shared__ float mean;
    if (threadIdx.x == 0) mean = x[0];  // fault race
    y[threadIdx.x] = x[threadIdx.x] - mean;  // or here
}
extern "C" __global__ void one_writes_all_read_right(const float* x, float* y, int* c, int n) {
    __shared__ float mean;
    if (threadIdx.x == 0) mean = x[0];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] - mean;
}

// launch (1,) (32,) 0
extern "C" __global__ void no_syncwarp_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];  // fault race
    y[threadIdx.x] = s[threadIdx.x ^ 1];  // or here
}
extern "C" __global__ void no_syncwarp_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}

// launch (1,) (64,) 0
extern "C" __global__ void syncwarp_for_block_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];  // fault race
    __syncwarp();
    y[threadIdx.x] = s[63 - threadIdx.x];  // or here
}
extern "C" __global__ void syncwarp_for_block_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 31];
}

// launch (1,) (32,) 0
extern "C" __global__ void pairs_in_a_row_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x == 0) {
        __syncwarp(0x3);
        y[0] = x[0];  // or here
    } else if (threadIdx.x == 1) {
        __syncwarp(0x3);
        __syncwarp(0x6);
    } else if (threadIdx.x == 2) {
        __syncwarp(0x6);
        y[1] = y[0];  // fault race
    }
}
extern "C" __global__ void pairs_in_a_row_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x == 0) {
        y[0] = x[0];
        __syncwarp(0x3);
    } else if (threadIdx.x == 1) {
        __syncwarp(0x3);
        __syncwarp(0x6);
    } else if (threadIdx.x == 2) {
        __syncwarp(0x6);
        y[1] = y[0];
    }
}

// launch (1,) (32,) 0
extern "C" __global__ void different_values_fault(const float* x, float* y, int* c, int n) {
    c[0] = threadIdx.x;  // fault race
}
extern "C" __global__ void different_values_right(const float* x, float* y, int* c, int n) {
    c[0] = 7;
}

// launch (1,) (64,) 0
extern "C" __global__ void read_while_atomic_fault(const float* x, float* y, int* c, int n) {
    atomicAdd(&c[0], 1);  // or here
    y[threadIdx.x] = c[0];  // fault race
}
extern "C" __global__ void read_while_atomic_right(const float* x, float* y, int* c, int n) {
    atomicAdd(&c[0], 1);
    __syncthreads();
    y[threadIdx.x] = c[0];
}

// launch (4,) (64,) 4
extern "C" __global__ void last_block_unfenced_fault(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[1 + blockIdx.x] = blockIdx.x;  // or here
        last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 0; i < n; i++) y[0] += y[1 + i];  // fault race
}
extern "C" __global__ void last_block_unfenced_right(const float* x, float* y, int* c, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[1 + blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicAdd(&c[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 0; i < n; i++) y[0] += y[1 + i];
}

// launch (1,) (64,) 40
extern "C" __global__ void two_barriers_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) {
        __syncthreads();  // or here
    } else {
        y[threadIdx.x] = 1.0f;
        __syncthreads();  // fault divergent-barrier
    }
}
extern "C" __global__ void two_barriers_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x >= n) y[threadIdx.x] = 1.0f;
    __syncthreads();
}

// launch (1,) (64,) 3
extern "C" __global__ void uneven_loop_fault(const float* x, float* y, int* c, int n) {
    for (int i = 0; i < n + (threadIdx.x >= 32); i++)
        __syncthreads();  // or here
    y[threadIdx.x] = 1.0f;
    __syncthreads();  // fault divergent-barrier
}
extern "C" __global__ void uneven_loop_right(const float* x, float* y, int* c, int n) {
    for (int i = 0; i < n + (blockIdx.x >= 32); i++) __syncthreads();
    y[threadIdx.x] = 1.0f;
    __syncthreads();
}

// launch (1,) (64,) 50
extern "C" __global__ void early_return_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x >= n) return;
    y[threadIdx.x] = 0.0f;
    __syncthreads();  // fault missed-barrier
}
extern "C" __global__ void early_return_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = 0.0f;
    __syncthreads();
}

// launch (1,) (64,) 32
extern "C" __global__ void barrier_in_if_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) {
        y[threadIdx.x] = 0.0f;
        __syncthreads();  // fault missed-barrier
        y[threadIdx.x] += 1.0f;
    }
}
extern "C" __global__ void barrier_in_if_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] += 1.0f;
}

// launch (2,) (100,) 150
extern "C" __global__ void tail_block_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[100];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = x[i];
    __syncthreads();  // fault missed-barrier
    y[i] = s[threadIdx.x];
}
extern "C" __global__ void tail_block_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[100];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) s[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = s[threadIdx.x];
}

// launch (1,) (32,) 16
extern "C" __global__ void half_a_warp_fault(const float* x, float* y, int* c, int n) {
    float v = x[threadIdx.x];
    if (threadIdx.x < n) v += __shfl_xor_sync(FULL, v, 1);  // fault missing-lanes
    y[threadIdx.x] = v;
}
extern "C" __global__ void half_a_warp_right(const float* x, float* y, int* c, int n) {
    float v = x[threadIdx.x];
    if (threadIdx.x < n) v += __shfl_xor_sync(0xffff, v, 1);
    y[threadIdx.x] = v;
}

// launch (1,) (32,) 20
extern "C" __global__ void returned_lanes_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x >= n) return;
    float v = x[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);  // fault missing-lanes
    if (threadIdx.x == 0) y[0] = v;
}
extern "C" __global__ void returned_lanes_right(const float* x, float* y, int* c, int n) {
    float v = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);
    if (threadIdx.x == 0) y[0] = v;
}

// launch (1,) (32,) 20
extern "C" __global__ void vote_after_return_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x >= n) return;
    unsigned positive = __ballot_sync(FULL, x[threadIdx.x] > 0);
    __syncwarp();
    c[threadIdx.x] = __popc(positive) + __shfl_sync(FULL, threadIdx.x, 31);  // fault missing-lanes
}
extern "C" __global__ void vote_after_return_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x >= n) return;  // who has returned is asked no more
    unsigned positive = __ballot_sync(FULL, x[threadIdx.x] > 0);
    __syncwarp();
    c[threadIdx.x] = __popc(positive) + __any_sync(FULL, threadIdx.x == 0);
}

// launch (1,) (32,) 0
extern "C" __global__ void not_in_own_mask_fault(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = __any_sync(0x0000ffff, threadIdx.x == 3);  // fault missing-lanes
}
extern "C" __global__ void not_in_own_mask_right(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = __any_sync(FULL, threadIdx.x == 3);
}

// launch (1,) (32,) 8
extern "C" __global__ void source_outside_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = __shfl_sync(0xff, x[threadIdx.x], 20);  // fault missing-lanes
}
extern "C" __global__ void source_outside_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = __shfl_sync(0xff, x[threadIdx.x], 2);
}

// launch (1,) (32,) 16
extern "C" __global__ void ballot_in_branch_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x % 2) c[threadIdx.x] = __ballot_sync(FULL, x[threadIdx.x] > n);  // fault missing-lanes
}
extern "C" __global__ void ballot_in_branch_right(const float* x, float* y, int* c, int n) {
    unsigned votes = __ballot_sync(FULL, x[threadIdx.x] > n);
    if (threadIdx.x % 2) c[threadIdx.x] = votes;
}

// launch (1,) (64,) 0
extern "C" __global__ void warp_waits_block_waits_fault(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < 32) {
        if (threadIdx.x < 16) __syncwarp();  // fault missing-lanes
        else __syncthreads();
    }
    __syncthreads();
}
extern "C" __global__ void warp_waits_block_waits_right(const float* x, float* y, int* c, int n) {
    if (threadIdx.x < 32) __syncwarp();
    __syncthreads();
}

// launch (1,) (32,) 0
extern "C" __global__ void endless_fault(const float* x, float* y, int* c, int n) {
    while (*(volatile int*)c == n) { }  // fault timeout
}
extern "C" __global__ void endless_right(const float* x, float* y, int* c, int n) {
    while (*(volatile int*)c != n) { }
}

__device__ float down(const float* x, int n) {
    volatile float here[64];
    here[(n + 64) % 64] = x[0];
    return n < 0 ? 0.0f : here[(n + 64) % 64] + down(x, n + 1);  // somewhere here
}
// launch (1,) (1,) 1
extern "C" __global__ void bottomless_recursion_fault(const float* x, float* y, int* c, int n) {
    y[0] = down(x, n);  // fault crash (anywhere)
}
extern "C" __global__ void bottomless_recursion_right(const float* x, float* y, int* c, int n) {
    y[0] = down(x, -n);
}

// launch (1,) (32,) 5
extern "C" __global__ void failed_assert_fault(const float* x, float* y, int* c, int n) {
    assert(threadIdx.x < n);  // fault crash
    y[threadIdx.x] = 1.0f;
}
extern "C" __global__ void failed_assert_right(const float* x, float* y, int* c, int n) {
    assert(threadIdx.x >= 0u * n);
    y[threadIdx.x] = 1.0f;
}

// launch (1,) (32,) 32
__device__ float sign_of_gap(float v) {  // fault crash (device function)
    if (v > 3.0f) return 1.0f;
    if (v < 3.0f) return -1.0f;
}
extern "C" __global__ void no_return_fault(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = sign_of_gap(x[threadIdx.x]);  // through
}
extern "C" __global__ void no_return_right(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = sign_of_gap(x[threadIdx.x] + 0.5f);
}
