// Planted faults in copies that do not wait, in matrix operations and in their loads.
// As in zoo_memory.cu: `// fault KIND` marks the line, `// launch GRID BLOCK N SHARED` says how; x holds 1 .. 1000, y is
// 1000 zeros, z 256 zeros, n is N. Architectures: sm_80 and newer.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "ptx.cuh"
using namespace nvcuda;

// ---- cp.async: what happens between the issue and the wait ---------------------------------------------------------------

// launch (1,) (128,) 4
__global__ void copy_into_a_row_still_read_fault(const float* x, float* y, int* z, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    row[t] = x[t];
    __syncthreads();
    for (int k = 1; k < n; k++) {
        sum += row[(t + 1) % 128];  // or here
        ptx::cp_async_4(&row[t], &x[128 * k + t]);  // fault race
        ptx::cp_async_commit();
        __syncthreads();
        ptx::cp_async_wait<0>();
        __syncthreads();
    }
    y[t] = sum + row[(t + 1) % 128];
}
__global__ void copy_into_a_row_still_read_right(const float* x, float* y, int* z, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    row[t] = x[t];
    __syncthreads();
    for (int k = 1; k < n; k++) {
        sum += row[(t + 1) % 128];
        __syncthreads();
        ptx::cp_async_4(&row[t], &x[128 * k + t]);
        ptx::cp_async_commit();
        ptx::cp_async_wait<0>();
        __syncthreads();
    }
    y[t] = sum + row[(t + 1) % 128];
}

// launch (1,) (128,) 4
__global__ void read_after_the_issue_fault(const float* x, float* y, int* z, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    row[t] = 0.0f;
    __syncthreads();
    ptx::cp_async_4(&row[t], &x[t]);  // or here
    ptx::cp_async_commit();
    y[t] = row[(t + 40) % 128];  // fault race
    __syncthreads();
    ptx::cp_async_wait<0>();
    y[t] += row[t];
}
__global__ void read_after_the_issue_right(const float* x, float* y, int* z, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    row[t] = 0.0f;
    __syncthreads();
    y[t] = row[(t + 40) % 128];
    __syncthreads();
    ptx::cp_async_4(&row[t], &x[t]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    y[t] += row[t];
}

// launch (1,) (128,) 0
__global__ void source_overwritten_fault(float* x, float* y, int* z, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t], &x[t]);  // fault race
    ptx::cp_async_commit();
    x[t] = 0.0f;  // or here
    ptx::cp_async_wait<0>();
    y[t] = s[t];
}
__global__ void source_overwritten_right(float* x, float* y, int* z, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t], &x[t]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    x[t] = 0.0f;
    y[t] = s[t];
}

// launch (1,) (128,) 0
__global__ void source_overwritten_by_a_neighbour_fault(float* x, float* y, int* z, int n) {
    __shared__ float4 s[128];
    int t = threadIdx.x;
    ptx::cp_async_16(&s[t], &x[4 * t]);  // fault race
    ptx::cp_async_commit();
    __syncthreads();
    x[4 * ((t + 1) % 128)] = 0.0f;  // or here
    ptx::cp_async_wait<0>();
    y[t] = s[t].x;
}
__global__ void source_overwritten_by_a_neighbour_right(float* x, float* y, int* z, int n) {
    __shared__ float4 s[128];
    int t = threadIdx.x;
    ptx::cp_async_16(&s[t], &x[4 * t]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    x[4 * ((t + 1) % 128)] = 0.0f;
    y[t] = s[t].x;
}

// launch (1,) (64,) 0
__global__ void stage_used_again_without_wait_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = 0.0f;
    __syncthreads();
    ptx::cp_async_4(&s[t], &x[t]);
    ptx::cp_async_commit();
    __syncthreads();
    y[t] = s[63 - t];  // fault uninitialised-read
}
__global__ void stage_used_again_without_wait_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = 0.0f;
    __syncthreads();
    ptx::cp_async_4(&s[t], &x[t]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    y[t] = s[63 - t];
}

// launch (1,) (64,) 0
__global__ void one_group_too_many_in_flight_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 2; k++) {
        ptx::cp_async_4(&s[k][t], &x[64 * k + t]);
        ptx::cp_async_commit();
    }
    for (int k = 0; k < 2; k++) {
        ptx::cp_async_wait<1>();
        __syncthreads();
        sum += s[k][63 - t];  // fault uninitialised-read
    }
    y[t] = sum;
}
__global__ void one_group_too_many_in_flight_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 2; k++) {
        ptx::cp_async_4(&s[k][t], &x[64 * k + t]);
        ptx::cp_async_commit();
    }
    for (int k = 0; k < 2; k++) {
        if (k == 0) ptx::cp_async_wait<1>();
        else ptx::cp_async_wait<0>();
        __syncthreads();
        sum += s[k][63 - t];
    }
    y[t] = sum;
}

// launch (1,) (64,) 0
__global__ void waits_without_a_barrier_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t], &x[t]);  // or here
    ptx::cp_async_wait_all();
    y[t] = s[63 - t];  // fault race
}
__global__ void waits_without_a_barrier_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t], &x[t]);
    ptx::cp_async_wait_all();
    y[t] = s[t];
}

// ---- cp.async: where it copies --------------------------------------------------------------------------------------------

// launch (1,) (32,) 0
__global__ void copy_past_the_end_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t + 1], &x[t]);  // fault out-of-bounds
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    y[t] = s[t];
}
__global__ void copy_past_the_end_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[33];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t + 1], &x[t]);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    y[t] = s[t + 1];
}

// launch (1,) (32,) 0
__global__ void copy_to_an_odd_place_fault(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) float s[32][5];
    int t = threadIdx.x;
    ptx::cp_async_16(&s[t][0], &x[4 * t]);  // fault misaligned-access
    ptx::cp_async_wait_all();
    y[t] = s[t][0];
}
__global__ void copy_to_an_odd_place_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) float s[32][8];
    int t = threadIdx.x;
    ptx::cp_async_16(&s[t][0], &x[4 * t]);
    ptx::cp_async_wait_all();
    y[t] = s[t][0];
}

// launch (1,) (32,) 0
__global__ void copy_to_global_memory_fault(const float* x, float* y, int* z, int n) {
    int t = threadIdx.x;
    ptx::cp_async_4(&y[t], &x[t]);  // fault out-of-bounds
    ptx::cp_async_wait_all();
}
__global__ void copy_to_global_memory_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    ptx::cp_async_4(&s[t], &x[t]);
    ptx::cp_async_wait_all();
    y[t] = s[t];
}

// launch (1,) (32,) 0
__global__ void copy_from_shared_memory_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[32], to[32];
    int t = threadIdx.x;
    s[t] = x[t];
    ptx::cp_async_4(&to[t], &s[t]);  // fault out-of-bounds
    ptx::cp_async_wait_all();
    y[t] = to[t];
}
__global__ void copy_from_shared_memory_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[32], to[32];
    int t = threadIdx.x;
    s[t] = x[t];
    ptx::cp_async_4(&to[t], &x[t]);
    ptx::cp_async_wait_all();
    y[t] = to[t] + s[t];
}

// launch (1,) (32,) 0
__global__ void copy_from_a_local_array_fault(const float* x, float* y, int* z, int n) {
    __shared__ float s[32];
    float mine[2] = {x[threadIdx.x], 1.0f};
    ptx::cp_async_4(&s[threadIdx.x], &mine[n]);  // fault out-of-bounds
    ptx::cp_async_wait_all();
    y[threadIdx.x] = s[threadIdx.x];
}
__global__ void copy_from_a_local_array_right(const float* x, float* y, int* z, int n) {
    __shared__ float s[32];
    float mine[2] = {x[threadIdx.x], 1.0f};
    s[threadIdx.x] = mine[n];
    y[threadIdx.x] = s[threadIdx.x];
}

// ---- mma and ldmatrix --------------------------------------------------------------------------------------------------------

// launch (1,) (32,) 0
__global__ void three_quarters_of_a_warp_fault(const float* x, float* y, int* z, int n) {
    unsigned a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
    float c[4] = {}, d[4] = {};
    if (threadIdx.x < 24) ptx::mma_m16n8k16_f16(d, a, b, c);  // fault missing-lanes
    y[threadIdx.x] = d[0];
}
__global__ void three_quarters_of_a_warp_right(const float* x, float* y, int* z, int n) {
    unsigned a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
    float c[4] = {}, d[4] = {};
    ptx::mma_m16n8k16_f16(d, a, b, c);
    if (threadIdx.x < 24) y[threadIdx.x] = d[0];
}

// launch (1,) (32,) 0
__global__ void half_a_product_fault(const float* x, float* y, int* z, int n) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(1.0f));
    wmma::fill_fragment(c, 0.0f);
    if (threadIdx.x >= 16) wmma::mma_sync(c, a, b, c);  // fault missing-lanes
    y[threadIdx.x] = c.x[0];
}
__global__ void half_a_product_right(const float* x, float* y, int* z, int n) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(1.0f));
    wmma::fill_fragment(c, 0.0f);
    wmma::mma_sync(c, a, b, c);
    if (threadIdx.x >= 16) y[threadIdx.x] = c.x[0];
}

// launch (1,) (24,) 0
__global__ void block_smaller_than_a_warp_fault(const float* x, float* y, int* z, int n) {
    unsigned a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
    float d[4] = {};
    ptx::mma_m16n8k16_f16(d, a, b, d);  // fault missing-lanes
    y[threadIdx.x] = d[0];
}
// launch (1,) (64,) 0
__global__ void block_smaller_than_a_warp_right(const float* x, float* y, int* z, int n) {
    unsigned a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
    float d[4] = {};
    ptx::mma_m16n8k16_f16(d, a, b, d);
    y[threadIdx.x] = d[0];
}

// launch (1,) (32,) 0
__global__ void a_quarter_loads_its_rows_fault(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) half s[8][8];
    unsigned r[1] = {};
    for (int i = threadIdx.x; i < 64; i += 32) s[i / 8][i % 8] = __float2half(x[i]);
    __syncwarp();
    if (threadIdx.x < 8) ptx::ldmatrix_x1(r, &s[threadIdx.x][0]);  // fault missing-lanes
    y[threadIdx.x] = r[0];
}
__global__ void a_quarter_loads_its_rows_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) half s[8][8];
    unsigned r[1] = {};
    for (int i = threadIdx.x; i < 64; i += 32) s[i / 8][i % 8] = __float2half(x[i]);
    __syncwarp();
    ptx::ldmatrix_x1(r, &s[threadIdx.x % 8][0]);
    y[threadIdx.x] = r[0];
}

// launch (1,) (32,) 0
__global__ void rows_at_odd_places_fault(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) half s[16][10];
    unsigned r[2];
    for (int i = threadIdx.x; i < 160; i += 32) s[i / 10][i % 10] = __float2half(1.0f);
    __syncwarp();
    ptx::ldmatrix_x2(r, &s[threadIdx.x % 16][0]);  // fault misaligned-access
    y[threadIdx.x] = r[0];
}
__global__ void rows_at_odd_places_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) half s[16][16];
    unsigned r[2];
    for (int i = threadIdx.x; i < 256; i += 32) s[i / 16][i % 16] = __float2half(1.0f);
    __syncwarp();
    ptx::ldmatrix_x2(r, &s[threadIdx.x % 16][0]);
    y[threadIdx.x] = r[0];
}

// launch (1,) (32,) 0
__global__ void rows_in_global_memory_fault(const float* x, float* y, int* z, int n) {
    unsigned r[4];
    ptx::ldmatrix_x4(r, &x[4 * threadIdx.x]);  // fault out-of-bounds
    z[threadIdx.x] = r[0];
}
__global__ void rows_in_global_memory_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(16) float s[128];
    unsigned r[4];
    for (int i = threadIdx.x; i < 128; i += 32) s[i] = x[i];
    __syncwarp();
    ptx::ldmatrix_x4(r, &s[4 * threadIdx.x]);
    z[threadIdx.x] = r[0];
}

// ---- wmma: where tiles may lie -------------------------------------------------------------------------------------------------

// launch (1,) (32,) 0
__global__ void tile_padded_by_one_fault(const float* x, float* y, int* z, int n) {
    __shared__ __align__(32) half s[16][17];
    for (int i = threadIdx.x; i < 256; i += 32) s[i / 16][i % 16] = __float2half(x[i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, &s[0][0], 17);  // fault misaligned-access
    y[threadIdx.x] = (float)a.x[0];
}
__global__ void tile_padded_by_one_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(32) half s[16][24];
    for (int i = threadIdx.x; i < 256; i += 32) s[i / 16][i % 16] = __float2half(x[i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, &s[0][0], 24);
    y[threadIdx.x] = (float)a.x[0];
}

// launch (1,) (32,) 0
__global__ void sums_padded_by_one_fault(const float* x, float* y, int* z, int n) {
    __shared__ __align__(32) float s[16][17];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.0f);
    wmma::store_matrix_sync(&s[0][0], c, 17, wmma::mem_row_major);  // fault misaligned-access
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x % 16][0];
}
__global__ void sums_padded_by_one_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(32) float s[16][20];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.0f);
    wmma::store_matrix_sync(&s[0][0], c, 20, wmma::mem_row_major);
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x % 16][0];
}

// launch (1,) (32,) 4
__global__ void tile_begins_at_16_bytes_fault(const float* x, float* y, int* z, int n) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(c, x + n, 32, wmma::mem_row_major);  // fault misaligned-access
    y[threadIdx.x] = c.x[0];
}
__global__ void tile_begins_at_16_bytes_right(const float* x, float* y, int* z, int n) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(c, x + 2 * n, 32, wmma::mem_row_major);
    y[threadIdx.x] = c.x[0];
}

// launch (1,) (32,) 0
__global__ void row_of_eight_halves_on_fault(const float* x, float* y, int* z, int n) {
    __shared__ __align__(32) __nv_bfloat16 s[17][24];
    for (int i = threadIdx.x; i < 17 * 24; i += 32) s[i / 24][i % 24] = __float2bfloat16(1.0f);
    __syncwarp();
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
    wmma::load_matrix_sync(b, &s[1][0], 24);  // fault misaligned-access
    y[threadIdx.x] = (float)b.x[0];
}
__global__ void row_of_eight_halves_on_right(const float* x, float* y, int* z, int n) {
    __shared__ __align__(32) __nv_bfloat16 s[18][24];
    for (int i = threadIdx.x; i < 18 * 24; i += 32) s[i / 24][i % 24] = __float2bfloat16(1.0f);
    __syncwarp();
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
    wmma::load_matrix_sync(b, &s[2][0], 24);
    y[threadIdx.x] = (float)b.x[0];
}
