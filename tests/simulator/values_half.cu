// half, bfloat16, cooperative groups, wmma and ptx. Architectures: sm_80 and newer.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include "ptx.cuh"
namespace cg = cooperative_groups;
using namespace nvcuda;

extern "C" __global__ void half_arithmetic(const half* x, half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half v = x[i], two = __float2half(2.0f);
    y[i] = __hadd(__hmul(v, two), __hfma(v, v, two)) - v / two + hexp(__hneg(__habs(v)));
}
extern "C" __global__ void half_pairs(const half* x, half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 >= n) return;
    half2 v = reinterpret_cast<const half2*>(x)[i];
    half2 w = __hfma2(v, __float2half2_rn(3.0f), __halves2half2(__high2half(v), __low2half(v)));
    reinterpret_cast<half2*>(y)[i] = __hadd2(w, v);
}
extern "C" __global__ void half_to_float(const half* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __half2float(x[i]) + (x[i] > __float2half(0.0f) ? 1.0f : 0.0f);
}
extern "C" __global__ void float_to_half(const float* x, half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2half_rn(x[i]);
}
extern "C" __global__ void bf16_arithmetic(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = __bfloat162float(x[i]);
    y[i] = __float2bfloat16(v * 1.5f) + x[i] * __float2bfloat16(0.25f);
}
extern "C" __global__ void bf16_pairs(const __nv_bfloat16* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 >= n) return;
    __nv_bfloat162 v = reinterpret_cast<const __nv_bfloat162*>(x)[i];
    float2 f = __bfloat1622float2(__hmul2(v, v));
    y[2 * i] = f.x;
    y[2 * i + 1] = f.y;
}
extern "C" __global__ void half_atomics(const half* x, half2* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(y, __halves2half2(__float2half(1.0f), __float2half(2.0f)));
}
extern "C" __global__ void tile_reduce(const float* x, float* y, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int i = blockIdx.x * blockDim.x + block.thread_rank();
    float v = i < n ? x[i] : 0.0f;
    float sum = cg::reduce(tile, v, cg::plus<float>()), top = cg::reduce(tile, v, cg::greater<float>());
    block.sync();
    if (i < n) y[i] = sum + 10.0f * top + 100.0f * tile.meta_group_rank() + 1000.0f * tile.thread_rank();
}
extern "C" __global__ void tile_shuffles(const float* x, float* y, int n) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto tile = cg::tiled_partition<16>(warp);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    float w = tile.shfl(v, 2) + tile.shfl_xor(v, 5) + warp.shfl(v, 17);
    unsigned votes = tile.ballot(v > 0.0f);
    int large = tile.any(v > 99.0f);
    if (i < n) y[i] = w + __popc(votes) + (large ? 1000.0f : 0.0f);
}
extern "C" __global__ void tile_scan(const float* x, float* y, int n) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    float upto = cg::inclusive_scan(tile, v, cg::plus<float>()), before = cg::exclusive_scan(tile, v, cg::plus<float>());
    if (i < n) y[i] = upto + 100.0f * before;
}
extern "C" __global__ void coalesced(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        cg::coalesced_group active = cg::coalesced_threads();
        float sum = cg::reduce(active, x[i], cg::plus<float>());
        y[i] = sum / active.size();
    }
}
template <typename T> __global__ void wmma_16(const T* a, const T* b, float* c, int n) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + k, n);
        wmma::load_matrix_sync(fb, b + k, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 0.5f;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
// C (16 x 8) = A (16 x 16) B (16 x 8), through shared memory, cp.async, ldmatrix and mma.
template <bool BF16> __global__ void ptx_product(const unsigned short* A, const unsigned short* B, float* C) {
    __shared__ __align__(16) unsigned short a[16][24], b[16][8];
    int lane = threadIdx.x;
    ptx::cp_async_16(&a[lane / 2][8 * (lane % 2)], A + 8 * lane);
    if (lane < 16) ptx::cp_async_16(&b[lane][0], B + 8 * lane);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    unsigned fa[4], fb[2];
    float sum[4] = {0, 0, 0, 0};
    ptx::ldmatrix_x4(fa, &a[lane % 16][8 * (lane / 16)]);
    ptx::ldmatrix_x2_trans(fb, &b[lane % 16][0]);
    if (BF16) ptx::mma_m16n8k16_bf16(sum, fa, fb, sum);
    else ptx::mma_m16n8k16_f16(sum, fa, fb, sum);
    for (int i = 0; i < 4; i++) C[(lane / 4 + 8 * (i / 2)) * 8 + 2 * (lane % 4) + i % 2] = sum[i];
}
extern "C" __global__ void pipelined_copy(const float* x, float* y, int n) {
    __shared__ float stage[2][32];
    int lane = threadIdx.x;
    ptx::cp_async_4(&stage[0][lane], x + lane);
    ptx::cp_async_commit();
    for (int k = 0; k < n / 32; k++) {
        if (k + 1 < n / 32) ptx::cp_async_4(&stage[(k + 1) % 2][lane], x + 32 * (k + 1) + lane);
        ptx::cp_async_commit();
        ptx::cp_async_wait<1>();
        __syncthreads();
        y[32 * k + lane] = stage[k % 2][31 - lane];
        __syncthreads();
    }
}
