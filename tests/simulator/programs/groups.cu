// Large tiles, copies that are waited for, pipelines, placement new. test_cooperative.py knows what they give.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cstdio>
#include <new>
namespace cg = cooperative_groups;
__global__ void tiles(const float* x, float* y) {
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    float sum = cg::reduce(tile, x[block.thread_rank()], cg::plus<float>());
    float third = tile.shfl(x[block.thread_rank()], 33);
    cg::thread_block_tile<64> half = cg::tiled_partition<64>(block);
    int any = half.any(x[block.thread_rank()] > 200), all = half.all(x[block.thread_rank()] < 192);
    y[4 * block.thread_rank()] = sum;
    y[4 * block.thread_rank() + 1] = third + 1000 * tile.meta_group_rank() + 10000 * half.meta_group_size();
    y[4 * block.thread_rank() + 2] = any + 2 * all;
    half.sync();
    y[4 * block.thread_rank() + 3] = half.thread_rank();
}
__global__ void copied(const float* x, float* y) {
    __shared__ float a[256], b[100];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, a, x, sizeof a);
    cg::memcpy_async(block, b, x + 256, cuda::aligned_size_t<4>(100 * 4));
    cg::wait_prior<1>(block);
    y[threadIdx.x] = a[255 - threadIdx.x];
    cg::wait(block);
    y[threadIdx.x] += b[threadIdx.x % 100];
}
template <int STAGES> __global__ void pipelined(const float* x, float* y, int n) {
    __shared__ float stage[STAGES][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int consumed = 0, fetched = 0; consumed < n; consumed++) {
        for (; fetched < n && fetched < consumed + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % STAGES], x + 64 * fetched, cuda::aligned_size_t<16>(64 * 4), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[consumed % STAGES][63 - threadIdx.x];
        pipe.consumer_release();
    }
    y[threadIdx.x] = sum;
}
__global__ void specialised(const float* x, float* y, int n) {
    __shared__ float stage[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool producer = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        if (producer) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[i % 2][lane], x + 32 * i + lane, sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += stage[i % 2][31 - lane];
            pipe.consumer_release();
        }
    }
    if (!producer) y[lane] = sum;
}
__global__ void own(const float* x, float* y, int n) {
    __shared__ float4 stage[2][32];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i][threadIdx.x], (const float4*)x + 32 * i + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    }
    float sum = 0;
    for (int i = 0; i < n; i++) {
        pipe.consumer_wait();
        sum += stage[i % 2][threadIdx.x].y;
        pipe.consumer_release();
        if (i + 2 < n) {
            pipe.producer_acquire();
            __pipeline_memcpy_async(&stage[i % 2][threadIdx.x], (const float4*)x + 32 * (i + 2) + threadIdx.x, 16);
        }
        pipe.producer_commit();
    }
    y[threadIdx.x] = sum;
}
struct Point { float x, y; __device__ Point(float a) : x(a), y(2 * a) {} __device__ float sum() const { return x + y; } };
__global__ void placed(float* y) {
    __shared__ alignas(8) char room[32 * sizeof(Point)];
    Point* mine = new (room + sizeof(Point) * threadIdx.x) Point(threadIdx.x);
    y[threadIdx.x] = mine->sum();
    mine->~Point();
}
void show(const char* name, float* y, int n) {
    cudaDeviceSynchronize();
    double sum = 0, weighted = 0;
    for (int i = 0; i < n; i++) sum += y[i], weighted += y[i] * (i % 7 + 1);
    printf("%s %.9g %.9g\n", name, sum, weighted);
    cudaMemset(y, 0, 4096);
}
int main() {
    float *x, *y;
    cudaMallocManaged(&x, 4096); cudaMallocManaged(&y, 4096);
    for (int i = 0; i < 1024; i++) x[i] = i * 3 % 251;
    tiles<<<1, 256>>>(x, y); show("tiles", y, 1024);
    copied<<<1, 256>>>(x, y); show("copied", y, 256);
    pipelined<2><<<1, 64>>>(x, y, 9); show("pipelined", y, 64);
    pipelined<4><<<1, 64>>>(x, y, 9); show("pipelined", y, 64);
    specialised<<<1, 64>>>(x, y, 7); show("specialised", y, 32);
    own<<<1, 32>>>(x, y, 7); show("own", y, 32);
    placed<<<1, 32>>>(y); show("placed", y, 32);
    cudaFree(x); cudaFree(y);
}
