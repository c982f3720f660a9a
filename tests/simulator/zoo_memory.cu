// Kernels with one planted fault each, and their correct twins: wrong addresses.
// All take (x, y, c, n): x 1000 floats, y 1000 floats, c 256 ints, all zeros but x = 1, 2, 3, ...
// `// launch` gives grid, block, n and bytes of dynamic shared memory; `// fault` marks the line and the kind.

// launch (8,) (128,) 1000
extern "C" __global__ void past_the_end_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 2.0f * x[i];  // fault out-of-bounds
}
extern "C" __global__ void past_the_end_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

// launch (8,) (128,) 1000
extern "C" __global__ void no_guard_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 1.0f;  // fault out-of-bounds
}
extern "C" __global__ void no_guard_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1.0f;
}

// launch (4,) (256,) 1000
extern "C" __global__ void left_neighbour_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] - x[i - 1];  // fault out-of-bounds
}
extern "C" __global__ void left_neighbour_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);
}

// launch (1, 10) (100,) 100
extern "C" __global__ void rows_and_columns_swapped_fault(const float* x, float* y, int* c, int n) {
    int row = blockIdx.y, column = threadIdx.x, rows = gridDim.y;
    y[column * n + row] = x[row * n + column];  // fault out-of-bounds
    (void)rows;
}
extern "C" __global__ void rows_and_columns_swapped_right(const float* x, float* y, int* c, int n) {
    int row = blockIdx.y, column = threadIdx.x, rows = gridDim.y;
    y[column * rows + row] = x[row * n + column];
}

// launch (1,) (64,) 1000
extern "C" __global__ void stride_loop_end_fault(const float* x, float* y, int* c, int n) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        y[i] = x[i < n ? i : 0];  // fault out-of-bounds
}
extern "C" __global__ void stride_loop_end_right(const float* x, float* y, int* c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}

// launch (2,) (128,) 1000
extern "C" __global__ void float4_tail_fault(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n / 4) {
        float4 v = reinterpret_cast<const float4*>(x)[i];  // fault out-of-bounds
        y[i] = v.x + v.y + v.z + v.w;
    }
}
extern "C" __global__ void float4_tail_right(const float* x, float* y, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        y[i] = v.x + v.y + v.z + v.w;
    }
}

// launch (1,) (32,) 32
extern "C" __global__ void float4_offset_fault(const float* x, float* y, int* c, int n) {
    int i = threadIdx.x;
    float4 v = *reinterpret_cast<const float4*>(x + 4 * i + 1);  // fault misaligned-access
    y[i] = v.x;
}
extern "C" __global__ void float4_offset_right(const float* x, float* y, int* c, int n) {
    int i = threadIdx.x;
    float4 v = *reinterpret_cast<const float4*>(x + 4 * i);
    y[i] = v.x;
}

// launch (1,) (32,) 31
extern "C" __global__ void float2_odd_row_fault(const float* x, float* y, int* c, int n) {
    float2 v = *(const float2*)&x[threadIdx.x * n];  // fault misaligned-access
    y[threadIdx.x] = v.x + v.y;
}
extern "C" __global__ void float2_odd_row_right(const float* x, float* y, int* c, int n) {
    float2 v = *(const float2*)&x[threadIdx.x * (n - 1)];
    y[threadIdx.x] = v.x + v.y;
}

// launch (1,) (32,) 3
extern "C" __global__ void misaligned_store_fault(const float* x, float* y, int* c, int n) {
    *reinterpret_cast<float2*>(y + n * (threadIdx.x + 1)) = make_float2(1.0f, 2.0f);  // fault misaligned-access
}
extern "C" __global__ void misaligned_store_right(const float* x, float* y, int* c, int n) {
    *reinterpret_cast<float2*>(y + 2 * (threadIdx.x + 1)) = make_float2(1.0f, 2.0f);
}

// launch (1,) (32,) 0
extern "C" __global__ void misaligned_int_fault(const float* x, float* y, int* c, int n) {
    const char* bytes = reinterpret_cast<const char*>(x);
    c[threadIdx.x] = *reinterpret_cast<const int*>(bytes + 4 * threadIdx.x + 2);  // fault misaligned-access
}
extern "C" __global__ void misaligned_int_right(const float* x, float* y, int* c, int n) {
    const char* bytes = reinterpret_cast<const char*>(x);
    c[threadIdx.x] = *reinterpret_cast<const int*>(bytes + 4 * threadIdx.x);
}

// launch (1,) (32,) 0
extern "C" __global__ void null_argument_fault(const float* x, float* y, int* c, int n) {
    const float* chosen = n > 0 ? x : nullptr;
    y[threadIdx.x] = chosen[threadIdx.x];  // fault null-pointer
}
extern "C" __global__ void null_argument_right(const float* x, float* y, int* c, int n) {
    const float* chosen = n > 0 ? x : nullptr;
    y[threadIdx.x] = chosen ? chosen[threadIdx.x] : 0.0f;
}

struct Node { float* next; float value; };
// launch (1,) (1,) 0
extern "C" __global__ void null_in_struct_fault(const float* x, float* y, int* c, int n) {
    Node node{nullptr, 1.0f};
    if (n > 0) node.next = y;
    node.next[0] = node.value;  // fault null-pointer
}
extern "C" __global__ void null_in_struct_right(const float* x, float* y, int* c, int n) {
    Node node{y, 1.0f};
    node.next[0] = node.value;
}

// launch (1,) (64,) 0
extern "C" __global__ void shared_past_end_fault(const float* x, float* y, int* c, int n) {
    __shared__ float line[64];
    line[threadIdx.x + 1] = x[threadIdx.x];  // fault out-of-bounds
    __syncthreads();
    y[threadIdx.x] = threadIdx.x ? line[threadIdx.x] : 0.0f;
}
extern "C" __global__ void shared_past_end_right(const float* x, float* y, int* c, int n) {
    __shared__ float line[65];
    line[threadIdx.x + 1] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = threadIdx.x ? line[threadIdx.x] : 0.0f;
}

// launch (1,) (16, 16) 0
extern "C" __global__ void tile_column_fault(const float* x, float* y, int* c, int n) {
    __shared__ float tile[16][16];
    tile[threadIdx.y][threadIdx.x + 1] = 1.0f;  // fault out-of-bounds
    __syncthreads();
    if (threadIdx.x) y[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
extern "C" __global__ void tile_column_right(const float* x, float* y, int* c, int n) {
    __shared__ float tile[16][17];
    tile[threadIdx.y][threadIdx.x + 1] = 1.0f;
    __syncthreads();
    if (threadIdx.x) y[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

// launch (1,) (64,) 64 128
extern "C" __global__ void dynamic_too_small_fault(const float* x, float* y, int* c, int n) {
    extern __shared__ float space[];
    space[threadIdx.x] = x[threadIdx.x];  // fault out-of-bounds
    __syncthreads();
    y[threadIdx.x] = space[threadIdx.x / 2];
}
extern "C" __global__ void dynamic_too_small_right(const float* x, float* y, int* c, int n) {
    extern __shared__ float space[];
    if (threadIdx.x < 32) space[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = space[threadIdx.x / 2];
}

// launch (1,) (32,) 0 64
extern "C" __global__ void dynamic_second_part_fault(const float* x, float* y, int* c, int n) {
    extern __shared__ float space[];
    float* second = space + blockDim.x / 2;
    if (threadIdx.x < 16) space[threadIdx.x] = 0.0f;
    second[threadIdx.x % 16] = 1.0f;  // fault out-of-bounds
}
extern "C" __global__ void dynamic_second_part_right(const float* x, float* y, int* c, int n) {
    extern __shared__ float space[];
    float* second = space + 8;
    if (threadIdx.x < 8) space[threadIdx.x] = 0.0f;
    else if (threadIdx.x < 16) second[threadIdx.x % 8] = 1.0f;
}

// launch (1,) (32,) 4
extern "C" __global__ void local_array_fault(const float* x, float* y, int* c, int n) {
    float sums[4];
    for (int j = 0; j <= n; j++)
        sums[j] = x[threadIdx.x + j];  // fault out-of-bounds
    y[threadIdx.x] = sums[n - 1];
}
extern "C" __global__ void local_array_right(const float* x, float* y, int* c, int n) {
    float sums[4];
    for (int j = 0; j < n; j++) sums[j] = x[threadIdx.x + j];
    y[threadIdx.x] = sums[n - 1];
}

// launch (1,) (64,) 0
extern "C" __global__ void unwritten_shared_fault(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];  // fault uninitialised-read
}
extern "C" __global__ void unwritten_shared_right(const float* x, float* y, int* c, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x < 32 ? x[threadIdx.x] : 0.0f;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];
}

// launch (1,) (128,) 0
extern "C" __global__ void unwritten_counter_fault(const float* x, float* y, int* c, int n) {
    __shared__ int count;
    atomicAdd(&count, 1);  // fault uninitialised-read
    __syncthreads();
    if (threadIdx.x == 0) c[0] = count;
}
extern "C" __global__ void unwritten_counter_right(const float* x, float* y, int* c, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) c[0] = count;
}

// launch (1,) (96,) 0
extern "C" __global__ void unwritten_warp_sums_fault(const float* x, float* y, int* c, int n) {
    __shared__ float sums[32];
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = 1.0f;
    __syncthreads();
    if (threadIdx.x < 32) y[threadIdx.x] = sums[threadIdx.x];  // fault uninitialised-read
}
extern "C" __global__ void unwritten_warp_sums_right(const float* x, float* y, int* c, int n) {
    __shared__ float sums[32];
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = 1.0f;
    __syncthreads();
    if (threadIdx.x < 32) y[threadIdx.x] = threadIdx.x < 3 ? sums[threadIdx.x] : 0.0f;
}

// launch (1,) (32,) 0
extern "C" __global__ void divide_by_zero_fault(const float* x, float* y, int* c, int n) {
    c[threadIdx.x] = 100 / n;  // fault division-by-zero
}
extern "C" __global__ void divide_by_zero_right(const float* x, float* y, int* c, int n) {
    c[threadIdx.x] = n ? 100 / n : 0;
}

// launch (1,) (32,) 0
extern "C" __global__ void remainder_by_zero_fault(const float* x, float* y, int* c, int n) {
    int lane = threadIdx.x % 32;
    c[lane] = 7 % lane;  // fault division-by-zero
}
extern "C" __global__ void remainder_by_zero_right(const float* x, float* y, int* c, int n) {
    int lane = threadIdx.x % 32;
    c[lane] = 7 % (lane + 1);
}

// launch (1,) (1,) 1000000
extern "C" __global__ void wild_index_fault(const float* x, float* y, int* c, int n) {
    y[n * 1000] = 1.0f;  // fault out-of-bounds
}
extern "C" __global__ void wild_index_right(const float* x, float* y, int* c, int n) {
    y[n / 1000 - 1] = 1.0f;
}

__device__ float at(const float* x, int i) {
    return x[i];  // fault out-of-bounds (device function)
}
// launch (1,) (32,) 1000
extern "C" __global__ void in_device_function_fault(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = at(x, n - 16 + threadIdx.x);  // through at
}
extern "C" __global__ void in_device_function_right(const float* x, float* y, int* c, int n) {
    y[threadIdx.x] = at(x, n - 32 + threadIdx.x);
}

// launch (1,) (64,) 256
extern "C" __global__ void atomic_past_end_fault(const float* x, float* y, int* c, int n) {
    atomicAdd(&c[n - 32 + threadIdx.x], 1);  // fault out-of-bounds
}
extern "C" __global__ void atomic_past_end_right(const float* x, float* y, int* c, int n) {
    atomicAdd(&c[n - 64 + threadIdx.x], 1);
}

// launch (1,) (32,) 20
extern "C" __global__ void overflowed_index_fault(const float* x, float* y, int* c, int n) {
    unsigned i = threadIdx.x - n;
    if (threadIdx.x < 24) y[i] = 1.0f;  // fault out-of-bounds
}
extern "C" __global__ void overflowed_index_right(const float* x, float* y, int* c, int n) {
    unsigned i = threadIdx.x - n;
    if (i < 4) y[i] = 1.0f;
}

// launch (1,) (32,) 4
extern "C" __global__ void pointer_to_local_fault(const float* x, float* y, int* c, int n) {
    float last[4] = {};
    float* slot = last;
    for (int k = 0; k <= n; k++) slot[k] = x[threadIdx.x + k];  // fault out-of-bounds
    y[threadIdx.x] = last[threadIdx.x % 4];
}
extern "C" __global__ void pointer_to_local_right(const float* x, float* y, int* c, int n) {
    float last[4] = {};
    float* slot = last;
    for (int k = 0; k < n; k++) slot[k] = x[threadIdx.x + k];
    y[threadIdx.x] = last[threadIdx.x % 4];
}

// launch (1,) (32,) 4
extern "C" __global__ void pack_through_cast_fault(const float* x, float* y, int* c, int n) {
    float4 four{1.0f, 2.0f, 3.0f, 4.0f};
    float* parts = (float*)&four;
    parts[threadIdx.x] = x[threadIdx.x];  // fault out-of-bounds
    y[threadIdx.x] = four.x + four.w;
}
extern "C" __global__ void pack_through_cast_right(const float* x, float* y, int* c, int n) {
    float4 four{1.0f, 2.0f, 3.0f, 4.0f};
    float* parts = (float*)&four;
    parts[threadIdx.x % n] = x[threadIdx.x];
    y[threadIdx.x] = four.x + four.w;
}

// launch (1,) (32,) 4
extern "C" __global__ void pack_backwards_fault(const float* x, float* y, int* c, int n) {
    float4 four{1.0f, 2.0f, 3.0f, 4.0f};
    float* parts = (float*)&four;
    parts[3u - threadIdx.x] = x[threadIdx.x];  // fault out-of-bounds
    y[threadIdx.x] = four.x + four.w;
}
extern "C" __global__ void pack_backwards_right(const float* x, float* y, int* c, int n) {
    float4 four{1.0f, 2.0f, 3.0f, 4.0f};
    float* parts = (float*)&four;
    parts[3u - threadIdx.x % n] = x[threadIdx.x];
    y[threadIdx.x] = four.x + four.w;
}

// launch (1,) (32,) 4
extern "C" __global__ void moved_pointer_to_local_fault(const float* x, float* y, int* c, int n) {
    float last[4] = {};
    float* middle = last + 2;
    middle[(int)threadIdx.x - 3] = x[threadIdx.x];  // fault out-of-bounds
    y[threadIdx.x] = last[threadIdx.x % 4];
}
extern "C" __global__ void moved_pointer_to_local_right(const float* x, float* y, int* c, int n) {
    float last[4] = {};
    float* middle = last + 2;
    middle[(int)threadIdx.x % n - 2] = x[threadIdx.x];
    y[threadIdx.x] = last[threadIdx.x % 4];
}

// launch (1,) (32,) 4
__device__ void shift_down(float* values, int n) {
    for (int k = 0; k < n; k++) values[k] = values[k + 1];  // fault out-of-bounds (device function)
}
extern "C" __global__ void local_in_function_fault(const float* x, float* y, int* c, int n) {
    float four[4];
    for (int k = 0; k < n; k++) four[k] = x[threadIdx.x + k];
    shift_down(four, n);  // through
    y[threadIdx.x] = four[threadIdx.x % 4];
}
extern "C" __global__ void local_in_function_right(const float* x, float* y, int* c, int n) {
    float four[4];
    for (int k = 0; k < n; k++) four[k] = x[threadIdx.x + k];
    shift_down(four, n - 1);
    y[threadIdx.x] = four[threadIdx.x % 4];
}

// launch (1,) (32,) 4
extern "C" __global__ void parts_of_a_pack_fault(const float* x, float* y, int* c, int n) {
    float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
    float sum = 0.0f;
    for (int k = 1; k <= n; k++) sum += (&v.x)[k];  // fault out-of-bounds
    y[threadIdx.x] = sum;
}
extern "C" __global__ void parts_of_a_pack_right(const float* x, float* y, int* c, int n) {
    float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += (&v.x)[k];
    y[threadIdx.x] = sum;
}

struct Item {
    float key;
    unsigned char flag;  // and three bytes that nobody writes
};

// launch (1,) (64,) 32
extern "C" __global__ void padded_structure_fault(const float* x, float* y, int* c, int n) {
    __shared__ Item items[64];
    if (threadIdx.x < n) {
        items[threadIdx.x].key = x[threadIdx.x];
        items[threadIdx.x].flag = 1;
    }
    __syncthreads();
    Item other = items[63 - threadIdx.x];  // fault uninitialised-read
    y[threadIdx.x] = other.key + other.flag;
}
extern "C" __global__ void padded_structure_right(const float* x, float* y, int* c, int n) {
    __shared__ Item items[64];
    items[threadIdx.x].key = x[threadIdx.x];
    items[threadIdx.x].flag = 1;
    __syncthreads();
    Item other = items[63 - threadIdx.x];
    __syncthreads();
    items[threadIdx.x] = other;
    y[threadIdx.x] = other.key + other.flag;
}
