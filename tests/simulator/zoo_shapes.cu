// Planted faults in the shapes that code takes: structs, device functions, templates, vectors, tiles, lambdas, groups.
// As in zoo_memory.cu: `// fault KIND` marks the line, `// launch GRID BLOCK N SHARED` says how; x holds 1 .. 1000, y is
// 1000 zeros, z 256 zeros, n is N.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;

// ---- out-of-bounds ------------------------------------------------------------------------------------------------------

struct Table {
    const float* data;
    int columns;
    __device__ float at(int row, int column) const {
        return data[row * columns + column];  // fault out-of-bounds (device function)
    }
};

// launch (8,) (128,) 1000
__global__ void table_row_fault(const float* x, float* y, int* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Table table{x, 25};
    if (i < n) y[i] = table.at(i / 25 + i / 990, i % 25);  // through
}
__global__ void table_row_right(const float* x, float* y, int* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Table table{x, 25};
    if (i < n) y[i] = table.at(i / 25, i % 25);
}

// launch (1,) (8, 4, 4) 0
__global__ void three_axes_fault(const float* x, float* y, int* z, int n) {
    z[(threadIdx.z * 16 + threadIdx.y) * 8 + threadIdx.x] = 1;  // fault out-of-bounds
}
__global__ void three_axes_right(const float* x, float* y, int* z, int n) {
    z[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = 1;
}

// launch (4,) (64,) 0
__global__ void bin_of_a_value_fault(const float* x, float* y, int* z, int n) {
    atomicAdd(&z[(int)x[blockIdx.x * 64 + threadIdx.x]], 1);  // fault out-of-bounds
}
__global__ void bin_of_a_value_right(const float* x, float* y, int* z, int n) {
    atomicAdd(&z[(int)x[blockIdx.x * 64 + threadIdx.x] - 1], 1);
}

template <int N> struct Sums {
    float v[N];
    __device__ void add(int i, float x) {
        v[i] += x;  // fault out-of-bounds (device function)
    }
};

// launch (1,) (32,) 5
__global__ void member_array_fault(const float* x, float* y, int* z, int n) {
    Sums<4> sums = {};
    for (int i = 0; i < n; i++) sums.add(i, x[i]);  // through
    y[threadIdx.x] = sums.v[0] + sums.v[3];
}
__global__ void member_array_right(const float* x, float* y, int* z, int n) {
    Sums<4> sums = {};
    for (int i = 0; i < n; i++) sums.add(i % 4, x[i]);
    y[threadIdx.x] = sums.v[0] + sums.v[3];
}

// launch (1,) (8, 8) 0
__global__ void row_of_a_tile_fault(const float* x, float* y, int* z, int n) {
    __shared__ float tile[8][9];
    tile[threadIdx.y][threadIdx.x + 2] = x[threadIdx.x];  // fault out-of-bounds
    __syncthreads();
    y[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.y][threadIdx.x + 1];
}
__global__ void row_of_a_tile_right(const float* x, float* y, int* z, int n) {
    __shared__ float tile[8][9];
    tile[threadIdx.y][threadIdx.x + 1] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.y][threadIdx.x + 1];
}

__constant__ float weights[5] = {1, 2, 3, 2, 1};

// launch (1,) (32,) 5
__global__ void constant_table_fault(const float* x, float* y, int* z, int n) {
    y[threadIdx.x] = weights[threadIdx.x % (n + 1)];  // fault out-of-bounds
}
__global__ void constant_table_right(const float* x, float* y, int* z, int n) {
    y[threadIdx.x] = weights[threadIdx.x % n];
}

struct Eight { float v[8]; };

// launch (2,) (64,) 1000
__global__ void struct_copy_fault(const float* x, float* y, int* z, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i > n / 8) return;
    ((Eight*)y)[i] = ((const Eight*)x)[i];  // fault out-of-bounds
}
__global__ void struct_copy_right(const float* x, float* y, int* z, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n / 8) return;
    ((Eight*)y)[i] = ((const Eight*)x)[i];
}

struct Point {
    float x, y, z;
    __device__ Point operator+(Point o) const { return {x + o.x, y + o.y, z + o.z}; }
    __device__ Point& operator*=(float s) { x *= s, y *= s, z *= s; return *this; }
};

// launch (6,) (64,) 334
__global__ void points_fault(const float* x, float* y, int* z, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    Point p = Point{1, 2, 3} + Point{(float)i, 0, 0};
    p *= 2.0f;
    ((Point*)y)[i] = p;  // fault out-of-bounds
}
__global__ void points_right(const float* x, float* y, int* z, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n - 1) return;
    Point p = Point{1, 2, 3} + Point{(float)i, 0, 0};
    p *= 2.0f;
    ((Point*)y)[i] = p;
}

// launch (1,) (64,) 64 512
__global__ void two_in_dynamic_fault(const float* x, float* y, int* z, int n) {
    extern __shared__ float space[];
    float* a = space;
    int* b = (int*)(a + n + 1);
    a[threadIdx.x] = x[threadIdx.x];
    b[threadIdx.x] = threadIdx.x;  // fault out-of-bounds
    __syncthreads();
    y[threadIdx.x] = a[63 - threadIdx.x];
}
__global__ void two_in_dynamic_right(const float* x, float* y, int* z, int n) {
    extern __shared__ float space[];
    float* a = space;
    int* b = (int*)(a + n);
    a[threadIdx.x] = x[threadIdx.x];
    b[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = a[63 - threadIdx.x] + b[63 - threadIdx.x];
}

// launch (1,) (32,) 32
__global__ void lambda_fault(const float* x, float* y, int* z, int n) {
    auto mirrored = [=](int i) {
        return x[n - 33 - i];  // fault out-of-bounds
    };
    y[threadIdx.x] = mirrored(threadIdx.x);
}
__global__ void lambda_right(const float* x, float* y, int* z, int n) {
    auto mirrored = [=](int i) { return x[n - 1 - i]; };
    y[threadIdx.x] = mirrored(threadIdx.x);
}

// ---- misaligned-access, null-pointer, division-by-zero ------------------------------------------------------------------

// launch (1,) (64,) 0
__global__ void shared_double_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[130];
    s[2 * threadIdx.x] = s[2 * threadIdx.x + 1] = 0.0f;
    if (threadIdx.x == 0) s[128] = s[129] = 0.0f;
    __syncthreads();
    y[threadIdx.x] = *(double*)(s + 2 * threadIdx.x + 1);  // fault misaligned-access
}
__global__ void shared_double_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(8) float s[130];
    s[2 * threadIdx.x] = s[2 * threadIdx.x + 1] = 0.0f;
    __syncthreads();
    y[threadIdx.x] = *(double*)(s + 2 * threadIdx.x);
}

// launch (1,) (64,) 1
__global__ void half_pairs_fault(const float* x, float* y, int* z, int n) {
    half2* pairs = (half2*)((half*)y + n);
    pairs[threadIdx.x] = __float2half2_rn(1.0f);  // fault misaligned-access
}
__global__ void half_pairs_right(const float* x, float* y, int* z, int n) {
    half2* pairs = (half2*)((half*)y + 2 * n);
    pairs[threadIdx.x] = __float2half2_rn(1.0f);
}

// launch (1,) (64,) 10
__global__ void float4_rows_fault(const float* x, float* y, int* z, int n) {
    const float4* row = reinterpret_cast<const float4*>(x + n * (threadIdx.x / 2));
    float4 v = row[threadIdx.x % 2];  // fault misaligned-access
    y[threadIdx.x] = v.x + v.w;
}
__global__ void float4_rows_right(const float* x, float* y, int* z, int n) {
    const float4* row = reinterpret_cast<const float4*>(x + (n + 2) * (threadIdx.x / 2));
    float4 v = row[threadIdx.x % 2];
    y[threadIdx.x] = v.x + v.w;
}

// launch (1,) (32,) 1
__global__ void wide_atomic_fault(const float* x, float* y, int* z, int n) {
    atomicAdd((unsigned long long*)(z + n), 1ull);  // fault misaligned-access
}
__global__ void wide_atomic_right(const float* x, float* y, int* z, int n) {
    atomicAdd((unsigned long long*)(z + 2 * n), 1ull);
}

struct Node { float value; const Node* next; };

// launch (1,) (32,) 3
__global__ void list_fault(const float* x, float* y, int* z, int n) {
    Node last{3.0f, nullptr}, first{1.0f, &last};
    const Node* node = &first;
    for (int i = 0; i < n; i++) {
        y[threadIdx.x] += node->value;  // fault null-pointer
        node = node->next;
    }
}
__global__ void list_right(const float* x, float* y, int* z, int n) {
    Node last{3.0f, nullptr}, first{1.0f, &last};
    for (const Node* node = &first; node; node = node->next) y[threadIdx.x] += node->value;
}

template <class T> __device__ T wrapped(T i, T length) {
    return i % length;  // fault division-by-zero (device function)
}

// launch (1,) (32,) 8
__global__ void remainder_fault(const float* x, float* y, int* z, int n) {
    z[threadIdx.x] = wrapped<long long>(threadIdx.x, n - 8);  // through
}
__global__ void remainder_right(const float* x, float* y, int* z, int n) {
    z[threadIdx.x] = wrapped<long long>(threadIdx.x, n);
}

// ---- uninitialised-read -------------------------------------------------------------------------------------------------

// launch (1,) (64,) 0
__global__ void halo_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[66];
    int t = threadIdx.x + 1;
    s[t] = x[threadIdx.x];
    if (threadIdx.x == 0) s[0] = 0.0f;
    __syncthreads();
    y[threadIdx.x] = s[t - 1] + s[t] + s[t + 1];  // fault uninitialised-read
}
__global__ void halo_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[66];
    int t = threadIdx.x + 1;
    s[t] = x[threadIdx.x];
    if (threadIdx.x < 2) s[65 * threadIdx.x] = 0.0f;
    __syncthreads();
    y[threadIdx.x] = s[t - 1] + s[t] + s[t + 1];
}

// launch (1,) (32,) 0
__global__ void histogram_without_zeros_fault(const float* x, float* y, int* z, int n) {
    __shared__ int bins[16];
    atomicAdd(&bins[threadIdx.x % 16], 1);  // fault uninitialised-read
    __syncthreads();
    if (threadIdx.x < 16) z[threadIdx.x] = bins[threadIdx.x];
}
__global__ void histogram_without_zeros_right(const float* x, float* y, int* z, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) z[threadIdx.x] = bins[threadIdx.x];
}

// ---- race ---------------------------------------------------------------------------------------------------------------

// launch (1,) (64,) 0
__global__ void scan_in_place_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        if (t >= d) s[t] += s[t - d];  // fault race
        __syncthreads();
    }
    y[t] = s[t];
}
__global__ void scan_in_place_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        float before = t >= d ? s[t - d] : 0.0f;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    y[t] = s[t];
}

// launch (1,) (64,) 4
__global__ void tile_used_again_fault(const float* x, float* y, int* z, int n) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        tile[threadIdx.x] = x[64 * i + threadIdx.x];  // fault race
        __syncthreads();
        sum += tile[63 - threadIdx.x];  // or here
    }
    y[threadIdx.x] = sum;
}
__global__ void tile_used_again_right(const float* x, float* y, int* z, int n) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        tile[threadIdx.x] = x[64 * i + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

// launch (1,) (64,) 0
__global__ void copy_before_the_count_ends_fault(const float* x, float* y, int* z, int n) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 8], 1);  // or here
    if (threadIdx.x < 8) z[threadIdx.x] = bins[threadIdx.x];  // fault race
}
__global__ void copy_before_the_count_ends_right(const float* x, float* y, int* z, int n) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 8], 1);
    __syncthreads();
    if (threadIdx.x < 8) z[threadIdx.x] = bins[threadIdx.x];
}

// launch (1,) (64,) 0
__global__ void warp_sync_for_a_block_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];  // or here
    __syncwarp();
    y[threadIdx.x] = s[63 - threadIdx.x];  // fault race
}
__global__ void warp_sync_for_a_block_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 31];
}

// launch (1,) (64,) 0
__global__ void tile_sync_too_small_fault(const float* x, float* y, int* z, int n) {
    __shared__ float4 s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = make_float4(x[threadIdx.x], 0, 0, 0);  // or here
    tile.sync();
    y[threadIdx.x] = s[threadIdx.x ^ 8].x;  // fault race
}
__global__ void tile_sync_too_small_right(const float* x, float* y, int* z, int n) {
    __shared__ float4 s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = make_float4(x[threadIdx.x], 0, 0, 0);
    tile.sync();
    y[threadIdx.x] = s[threadIdx.x ^ 7].x;
}

// launch (4,) (32,) 0
__global__ void last_block_without_fence_fault(const float* x, float* y, int* z, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) y[1 + blockIdx.x] = x[blockIdx.x];  // or here
    if (threadIdx.x == 0) last = atomicAdd(z, 1) == 3;
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 0; i < 4; i++) y[0] += y[1 + i];  // fault race
}
__global__ void last_block_without_fence_right(const float* x, float* y, int* z, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) y[1 + blockIdx.x] = x[blockIdx.x];
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(z, 1) == 3;
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int i = 0; i < 4; i++) y[0] += y[1 + i];
}

// launch (2,) (32,) 0
__global__ void half_of_a_word_fault(const float* x, float* y, int* z, int n) {
    __nv_bfloat16* h = (__nv_bfloat16*)y;
    h[threadIdx.x / 2] = __nv_bfloat16((float)(threadIdx.x + blockIdx.x));  // fault race
}
__global__ void half_of_a_word_right(const float* x, float* y, int* z, int n) {
    __nv_bfloat16* h = (__nv_bfloat16*)y;
    h[threadIdx.x + 32 * blockIdx.x] = __nv_bfloat16((float)threadIdx.x);
}

// ---- waiting ------------------------------------------------------------------------------------------------------------

__device__ float sum_of_block(float v, float* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    return s[0] + s[1];
}

// launch (1,) (64,) 0
__global__ void barrier_in_both_branches_fault(const float* x, float* y, int* z, int n) {
    if (threadIdx.x < 32) {
        y[threadIdx.x] = 1.0f;
        __syncthreads();  // fault divergent-barrier
    } else {
        y[threadIdx.x] = 2.0f;
        __syncthreads();  // or here
    }
}
__global__ void barrier_in_both_branches_right(const float* x, float* y, int* z, int n) {
    y[threadIdx.x] = threadIdx.x < 32 ? 1.0f : 2.0f;
    __syncthreads();
}

// launch (1,) (64,) 50
__global__ void fewer_rounds_fault(const float* x, float* y, int* z, int n) {
    for (int i = threadIdx.x; i < 2 * n; i += 64) {
        y[i] = x[i];
        __syncthreads();  // fault missed-barrier
    }
}
__global__ void fewer_rounds_right(const float* x, float* y, int* z, int n) {
    for (int first = 0; first < 2 * n; first += 64) {
        int i = first + threadIdx.x;
        if (i < 2 * n) y[i] = x[i];
        __syncthreads();
    }
}

// launch (1,) (64,) 40
__global__ void sum_after_return_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = x[threadIdx.x];
    cg::this_thread_block().sync();  // fault missed-barrier
    y[threadIdx.x] = s[n - 1 - threadIdx.x];
}
__global__ void sum_after_return_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    float total = sum_of_block(threadIdx.x < n ? x[threadIdx.x] : 0.0f, s);
    if (threadIdx.x < n) y[threadIdx.x] = total;
}

// launch (1,) (32,) 20
__global__ void tile_reduce_in_a_branch_fault(const float* x, float* y, int* z, int n) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    float v = x[threadIdx.x];
    if (threadIdx.x < n) v += tile.shfl_xor(v, 8);  // fault missing-lanes
    y[threadIdx.x] = v;
}
__global__ void tile_reduce_in_a_branch_right(const float* x, float* y, int* z, int n) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    float v = x[threadIdx.x];
    if (tile.meta_group_rank() == 0) v += tile.shfl_xor(v, 8);
    y[threadIdx.x] = v;
}

// launch (1,) (32,) 0
__global__ void mask_without_itself_fault(const float* x, float* y, int* z, int n) {
    z[threadIdx.x] = __ballot_sync(0x0000ffffu, x[threadIdx.x] > 5.0f);  // fault missing-lanes
}
__global__ void mask_without_itself_right(const float* x, float* y, int* z, int n) {
    unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    z[threadIdx.x] = __ballot_sync(mask, x[threadIdx.x] > 5.0f);
}

// launch (1,) (32,) 0 512
__global__ void half_a_warp_multiplies_fault(const float* x, float* y, int* z, int n) {
    extern __shared__ half a[];
    for (int i = threadIdx.x; i < 256; i += 32) a[i] = __float2half(1.0f);
    __syncwarp();
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> fragment;
    if (threadIdx.x < 16) nvcuda::wmma::load_matrix_sync(fragment, a, 16);  // fault missing-lanes
    y[threadIdx.x] = fragment.num_elements;
}
__global__ void half_a_warp_multiplies_right(const float* x, float* y, int* z, int n) {
    extern __shared__ half a[];
    for (int i = threadIdx.x; i < 256; i += 32) a[i] = __float2half(1.0f);
    __syncwarp();
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> fragment;
    nvcuda::wmma::load_matrix_sync(fragment, a, 16);
    y[threadIdx.x] = (float)fragment.x[0];
}

// launch (1,) (2,) 4
__global__ void unsigned_countdown_fault(const float* x, float* y, int* z, int n) {
    unsigned sum = 0;
    for (unsigned i = n; i >= 0; i--) sum += i;  // fault timeout
    z[threadIdx.x] = sum;
}
__global__ void unsigned_countdown_right(const float* x, float* y, int* z, int n) {
    unsigned sum = 0;
    for (unsigned i = n + 1; i-- > 0;) sum += i;
    z[threadIdx.x] = sum;
}

// launch (2,) (32,) 0
__global__ void lock_never_opened_fault(const float* x, float* y, int* z, int n) {
    while (atomicCAS(&z[0], 0, 1) != 0) { }  // fault timeout
    z[1] += 1;
}
__global__ void lock_never_opened_right(const float* x, float* y, int* z, int n) {
    while (atomicCAS(&z[0], 0, 1) != 0) { }
    __threadfence();
    atomicAdd(&z[1], 1);
    __threadfence();
    atomicExch(&z[0], 0);
}

template <class T> __device__ T halved(T* y, T v) {
    volatile T here[32];
    here[threadIdx.x % 32] = v;
    return v == T(0) ? T(1) : halved<T>(y, v * T(0.5)) + here[threadIdx.x % 32] * T(0);  // fault crash (device function)
}

// launch (1,) (2,) 0
__global__ void recursion_of_a_template_fault(const float* x, float* y, int* z, int n) {
    y[threadIdx.x] = halved<float>(y, 1.0f / n);  // through
}
__global__ void recursion_of_a_template_right(const float* x, float* y, int* z, int n) {
    y[threadIdx.x] = halved<float>(y, 1e-38f * x[n]);
}

struct Page { float v[300]; };

// launch (1,) (4,) 700
__global__ void large_struct_fault(const float* x, float* y, int* z, int n) {
    if (threadIdx.x == 3) *(Page*)(y + n + 1) = *(const Page*)(x + n);  // fault out-of-bounds
}
__global__ void large_struct_right(const float* x, float* y, int* z, int n) {
    if (threadIdx.x == 3) *(Page*)(y + n) = *(const Page*)(x + n);
}

// launch (1,) (4,) 64
__global__ void copied_bytes_fault(const float* x, float* y, int* z, int n) {
    memcpy(y + n * threadIdx.x, x + n * threadIdx.x, n * sizeof(float));
    memset(z + n * threadIdx.x, 0, (n + threadIdx.x / 3) * sizeof(int));  // fault out-of-bounds
}
__global__ void copied_bytes_right(const float* x, float* y, int* z, int n) {
    memcpy(y + n * threadIdx.x, x + n * threadIdx.x, n * sizeof(float));
    memset(z + n * threadIdx.x, 0, n * sizeof(int));
}

// ---- local variables without a value -----------------------------------------------------------------------------------

// launch (1,) (32,) 8
__global__ void sum_without_zero_fault(const float* x, float* y, int* z, int n) {
    float sum;  // fault uninitialised-read
    for (int i = 0; i < n; i++) sum += x[i];
    y[threadIdx.x] = sum;
}
__global__ void sum_without_zero_right(const float* x, float* y, int* z, int n) {
    float sum;
    sum = 0.0f;
    for (int i = 0; i < n; i++) sum += x[i];
    y[threadIdx.x] = sum;
}

// launch (1,) (32,) 16
__global__ void set_by_some_fault(const float* x, float* y, int* z, int n) {
    float value;  // fault uninitialised-read
    if (threadIdx.x < n) value = x[threadIdx.x];
    y[threadIdx.x] = value;
}
__global__ void set_by_some_right(const float* x, float* y, int* z, int n) {
    float value;
    bool inside = threadIdx.x < n;
    if (inside) value = x[threadIdx.x];
    __syncthreads();
    if (inside) y[threadIdx.x] = value;
}

// launch (1,) (32,) 3
__global__ void sums_in_an_array_fault(const float* x, float* y, int* z, int n) {
    float first, sums[4];  // fault uninitialised-read
    first = x[0];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) sums[j] += x[4 * i + j] - first;
    for (int j = 0; j < 4; j++) y[4 * threadIdx.x + j] = sums[j];
}
__global__ void sums_in_an_array_right(const float* x, float* y, int* z, int n) {
    float first, sums[4];
    first = x[0];
    for (int j = 0; j < 4; j++) sums[j] = 0.0f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) sums[j] += x[4 * i + j] - first;
    for (int j = 0; j < 4; j++) y[4 * threadIdx.x + j] = sums[j];
}

__device__ int counted(const float* x, int n) {
    int count;  // fault uninitialised-read (device function)
    for (int i = 0; i < n; i++) count += x[i] > 2.0f;
    return count;
}
__device__ int counted_right(const float* x, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count += x[i] > 2.0f;
    return count;
}

// launch (1,) (32,) 8
__global__ void counter_of_a_function_fault(const float* x, float* y, int* z, int n) {
    z[threadIdx.x] = counted(x, n);  // through
}
__global__ void counter_of_a_function_right(const float* x, float* y, int* z, int n) {
    z[threadIdx.x] = counted_right(x, n);
}

// launch (1,) (32,) 5
__global__ void part_of_a_pack_fault(const float* x, float* y, int* z, int n) {
    float4 four;  // fault uninitialised-read
    four.x = x[0];
    y[threadIdx.x] = four.x + four.y;
}
__global__ void part_of_a_pack_right(const float* x, float* y, int* z, int n) {
    float value;
    if (n > 100) y[threadIdx.x] = value;
    else y[threadIdx.x] = x[n];
}
