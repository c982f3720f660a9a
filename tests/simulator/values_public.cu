// Kernels written as those in public code bases are: idioms, templates and libraries that a learner will meet there.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <stdint.h>

using namespace cooperative_groups;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define FULL_MASK 0xffffffff
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;
static_assert(TILE_DIM % BLOCK_ROWS == 0, "rows must divide the tile");

// ---- reductions and scans -------------------------------------------------------------------------------------------------

template <typename T> __device__ __forceinline__ T warpReduceSum(T val) {
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset);
    return val;
}

template <typename T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce6(const T* __restrict__ g_idata, T* __restrict__ g_odata, unsigned int n) {
    extern __shared__ __align__(sizeof(T)) unsigned char smem[];
    T* sdata = reinterpret_cast<T*>(smem);
    unsigned int tid = threadIdx.x, gridSize = blockSize * 2 * gridDim.x;
    T mySum = 0;
    for (unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x; i < n; i += gridSize) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
    }
    sdata[tid] = mySum;
    __syncthreads();
    if ((blockSize >= 256) && (tid < 128)) sdata[tid] = mySum = mySum + sdata[tid + 128];
    __syncthreads();
    if ((blockSize >= 128) && (tid < 64)) sdata[tid] = mySum = mySum + sdata[tid + 64];
    __syncthreads();
    if (tid < 32) {
        if (blockSize >= 64) mySum += sdata[tid + 32];
        mySum = warpReduceSum<T>(mySum);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

__global__ void prescan(float* g_odata, const float* g_idata, int n) {
    extern __shared__ float temp[];
    int thid = threadIdx.x, offset = 1, ai = thid, bi = thid + n / 2;
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a), b += CONFLICT_FREE_OFFSET(b);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a), b += CONFLICT_FREE_OFFSET(b);
            float t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

__device__ unsigned int retirementCount = 0;

__device__ float sum_group(thread_group g, float* shared, float v) {
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        shared[lane] = v;
        g.sync();
        if (lane < i) v += shared[lane + i];
        g.sync();
    }
    return v;
}

__global__ void group_sums(const float* x, float* y, int n) {
    __shared__ float workspace[128];
    thread_block block = this_thread_block();
    float v = sum_group(block, workspace, x[blockIdx.x * blockDim.x + threadIdx.x]);
    auto tile32 = tiled_partition<32>(block);
    float w = reduce(tile32, x[blockIdx.x * blockDim.x + threadIdx.x], plus<float>());
    if (block.thread_rank() == 0) y[blockIdx.x] = v;
    if (tile32.thread_rank() == 0) y[gridDim.x + blockIdx.x * tile32.meta_group_size() + tile32.meta_group_rank()] = w;
}

__global__ void __launch_bounds__(128) reduceSinglePass(const float* g_idata, float* partial, float* out, unsigned n) {
    __shared__ float smem[4];
    __shared__ bool amLast;
    float sum = 0.f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += g_idata[i];
    sum = warpReduceSum(sum);
    if (threadIdx.x % 32 == 0) smem[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = smem[0] + smem[1] + smem[2] + smem[3];
        __threadfence();
        unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (amLast) {
        float v = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.0f;
        v = threadIdx.x < 32 ? warpReduceSum(v) : 0.0f;
        if (threadIdx.x == 0) {
            *out = v;
            retirementCount = 0;
        }
    }
}

// ---- matrices -------------------------------------------------------------------------------------------------------------

__global__ void transposeNoBankConflicts(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void gemv_warp_per_row(const float4* __restrict__ A, const float4* __restrict__ v, float* __restrict__ out, int M, int N4) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    float acc = 0.0f;
    for (int k = threadIdx.x; k < N4; k += warpSize) {
        float4 a = __ldg(&A[row * N4 + k]), b = __ldg(&v[k]);
        acc += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    acc = warpReduceSum(acc);
    if (threadIdx.x == 0) out[row] = acc;
}

__global__ void spmv_csr(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        float dot = 0;
        for (int j = row_ptr[row], end = row_ptr[row + 1]; j != end; ++j) dot += val[j] * x[col[j]];
        y[row] = dot;
    }
}

// One warp loads the next tile while the others work on the last one.
template <int STAGES> __global__ void warp_specialised(const float* in, float* out, int tiles) {
    __shared__ float buffer[STAGES][96];
    const bool producer = threadIdx.x < 32;
    const int lane = threadIdx.x - 32;
    float acc = 0;
    for (int t = 0; t <= tiles; t++) {
        if (producer && t < tiles)
            for (int i = threadIdx.x; i < 96; i += 32) buffer[t % STAGES][i] = in[t * 96 + i];
        if (!producer && t > 0) acc += buffer[(t - 1) % STAGES][95 - lane];
        __syncthreads();
    }
    if (!producer) out[lane] = acc;
}

// ---- images ---------------------------------------------------------------------------------------------------------------

#define KERNEL_RADIUS 2
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

__global__ void convolutionRows(float* d_Dst, const float* d_Src, int imageW, int imageH) {
    __shared__ float s_Data[4][32 + 2 * KERNEL_RADIUS];
    const int x0 = blockIdx.x * 32, y = blockIdx.y * 4 + threadIdx.y;
    for (int i = threadIdx.x; i < 32 + 2 * KERNEL_RADIUS; i += 32) {
        int x = x0 + i - KERNEL_RADIUS;
        s_Data[threadIdx.y][i] = (x >= 0 && x < imageW && y < imageH) ? d_Src[y * imageW + x] : 0;
    }
    __syncthreads();
    if (x0 + threadIdx.x >= imageW || y >= imageH) return;
    float sum = 0;
#pragma unroll
    for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
        sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + KERNEL_RADIUS + j];
    d_Dst[y * imageW + x0 + threadIdx.x] = sum;
}

__global__ void stencil_7point(const float* in, float* out, dim3 size) {
    int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    int iz = blockIdx.z * blockDim.z + threadIdx.z;
    if (ix >= size.x || iy >= size.y || iz >= size.z) return;
    auto at = [&](int x, int y, int z) {
        x = min(max(x, 0), (int)size.x - 1), y = min(max(y, 0), (int)size.y - 1), z = min(max(z, 0), (int)size.z - 1);
        return in[(z * size.y + y) * size.x + x];
    };
    out[(iz * size.y + iy) * size.x + ix] = at(ix - 1, iy, iz) + at(ix + 1, iy, iz) + at(ix, iy - 1, iz) + at(ix, iy + 1, iz) +
                                            at(ix, iy, iz - 1) + at(ix, iy, iz + 1) - 6.f * at(ix, iy, iz);
}

struct cuComplex {
    float r, i;
    __device__ cuComplex(float a, float b) : r(a), i(b) {}
    __device__ float magnitude2() const { return r * r + i * i; }
    __device__ cuComplex operator*(const cuComplex& a) const { return cuComplex(r * a.r - i * a.i, i * a.r + r * a.i); }
    __device__ cuComplex operator+(const cuComplex& a) const { return cuComplex(r + a.r, i + a.i); }
};
__device__ int julia(int x, int y, int dim) {
    const float scale = 1.5f;
    cuComplex c(-0.75f, 0.125f), a(scale * (float)(dim / 2 - x) / (dim / 2), scale * (float)(dim / 2 - y) / (dim / 2));
    int i = 0;
    for (i = 0; i < 50; i++) {
        a = a * a + c;
        if (a.magnitude2() > 1000) return i;
    }
    return i;
}
__global__ void julia_set(int* ptr, int dim) {
    int x = blockIdx.x, y = blockIdx.y, offset = x + y * gridDim.x;
    ptr[offset] = julia(x, y, dim);
}

__global__ void life(const unsigned char* grid, unsigned char* next, int w, int h) {
    for (int cell = blockIdx.x * blockDim.x + threadIdx.x; cell < w * h; cell += gridDim.x * blockDim.x) {
        int x = cell % w, y = cell - x, left = (x + w - 1) % w, right = (x + 1) % w;
        int up = (y + w * h - w) % (w * h), down = (y + w) % (w * h);
        int alive = grid[left + up] + grid[x + up] + grid[right + up] + grid[left + y] + grid[right + y] + grid[left + down] +
                    grid[x + down] + grid[right + down];
        next[x + y] = alive == 3 || (alive == 2 && grid[x + y]) ? 1 : 0;
    }
}

// ---- particles, numbers, bits -----------------------------------------------------------------------------------------------

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
    float invDist = rsqrtf(distSqr), s = bj.w * (invDist * invDist * invDist);
    ai.x += r.x * s, ai.y += r.y * s, ai.z += r.z * s;
    return ai;
}
__global__ void calculate_forces(const void* devX, void* devA, int N) {
    extern __shared__ float4 shPosition[];
    const float4* globalX = (const float4*)devX;
    float4* globalA = (float4*)devA;
    float3 acc = {0.0f, 0.0f, 0.0f};
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = globalX[gtid];
    for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
        shPosition[threadIdx.x] = globalX[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < blockDim.x; k++) acc = bodyBodyInteraction(myPosition, shPosition[k], acc);
        __syncthreads();
    }
    globalA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

union FloatBits { float f; uint32_t u; };
__device__ float quake_rsqrt(float number) {
    FloatBits conv = {number};
    conv.u = 0x5f3759df - (conv.u >> 1);
    conv.f *= 1.5f - number * 0.5f * conv.f * conv.f;
    return conv.f;
}
__global__ void rsqrt_by_bits(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = quake_rsqrt(x[i]);
}

enum class Op : int { Add, Mul, Max };
template <Op op, typename T> __device__ constexpr T apply(T a, T b) {
    if constexpr (op == Op::Add) return a + b;
    else if constexpr (op == Op::Mul) return a * b;
    else return a > b ? a : b;
}
template <Op op> __global__ void binary(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) c[i] = apply<op>(a[i], b[i]);
}

template <typename... T> __device__ auto sum_all(T... values) { return (values + ...); }
template <typename F> struct Twice {
    F f;
    __device__ float operator()(float x) const { return f(f(x)); }
};
struct Affine {
    float a, b;
    __device__ float operator()(float x) const { return a * x + b; }
};
template <typename F> __global__ void map_kernel(F f, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto shifted = [f, n](auto v) { return sum_all(f(v), 1.0f, (float)n); };
    if (i < n) y[i] = shifted(x[i]);
}

__global__ void radix_split(const unsigned* in, unsigned* out, int bit) {
    __shared__ int warp_zeros[8];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned v = in[t];
    bool zero = !((v >> bit) & 1);
    unsigned ballot = __ballot_sync(FULL_MASK, zero);
    if (lane == 0) warp_zeros[warp] = __popc(ballot);
    __syncthreads();
    int before = 0, total = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        if (w < warp) before += warp_zeros[w];
        total += warp_zeros[w];
    }
    int rank = before + __popc(ballot & ((1u << lane) - 1));
    out[zero ? rank : total + t - rank] = v;
}

__global__ void merge_by_rank(const int* a, const int* b, int* out, int na, int nb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto rank = [](const int* s, int n, int v, bool after_equal) {
        int low = 0, high = n;
        while (low < high) {
            int mid = (low + high) >> 1;
            if (s[mid] < v || (after_equal && s[mid] == v)) low = mid + 1;
            else high = mid;
        }
        return low;
    };
    if (i < na) out[i + rank(b, nb, a[i], false)] = a[i];
    if (i < nb) out[i + rank(a, na, b[i], true)] = b[i];
}

__device__ uint64_t xorshift64star(uint64_t& state) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}
__global__ void monte_carlo(unsigned long long* inside, int samples) {
    uint64_t state = 0x9E3779B97F4A7C15ULL * (blockIdx.x * blockDim.x + threadIdx.x + 1);
    unsigned count = 0;
    for (int i = 0; i < samples; i++) {
        uint64_t x = xorshift64star(state) >> 44, y = xorshift64star(state) >> 44;
        count += x * x + y * y < (1ULL << 40);
    }
    atomicAdd(inside, (unsigned long long)count);
}

__global__ void floyd_warshall(int* distance, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n || i == k || j == k) return;
    int via = distance[i * n + k] + distance[k * n + j];
    if (via < distance[i * n + j]) distance[i * n + j] = via;
}

__global__ void half2_dot(const half2* a, const half2* b, float* out, int pairs) {
    half2 acc = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) acc = __hfma2(a[i], b[i], acc);
    float v = __low2float(acc) + __high2float(acc);
    v = warpReduceSum(v);
    if (threadIdx.x == 0) *out = v;
}

struct __align__(8) MD { float m, d; };
__device__ __forceinline__ MD combine(MD a, MD b) {
    MD big = a.m > b.m ? a : b, small = a.m > b.m ? b : a;
    return {big.m, big.d + small.d * __expf(small.m - big.m)};
}
__global__ void online_softmax(const float* __restrict__ x, float* __restrict__ y, int V) {
    x += (size_t)blockIdx.x * V, y += (size_t)blockIdx.x * V;
    MD md = {-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < V; i += 32) md = combine(md, MD{x[i], 1.0f});
    for (int o = 16; o; o >>= 1) md = combine(md, {__shfl_xor_sync(FULL_MASK, md.m, o), __shfl_xor_sync(FULL_MASK, md.d, o)});
    for (int i = threadIdx.x; i < V; i += 32) y[i] = __expf(x[i] - md.m) / md.d;
}

__global__ void to_upper(uchar4* text, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uchar4 c = text[i];
    auto up = [](unsigned char v) -> unsigned char { return v >= 'a' && v <= 'z' ? v - 32 : v; };
    text[i] = make_uchar4(up(c.x), up(c.y), up(c.z), up(c.w));
}

__global__ void lehmer(const int* seeds, int* y, int steps) {  // signed, and reckons with overflow
    int s = seeds[threadIdx.x];
    for (int i = 0; i < steps; i++) {
        s = s * 1103515245 + 12345;
        if (s < 0) s = -s;
    }
    y[threadIdx.x] = s;
}

__device__ int aggregated_increment(int* counter) {
    unsigned together = __activemask();
    int lane = threadIdx.x & 31, leader = __ffs(together) - 1, before;  // has a value in one lane only
    if (lane == leader) before = atomicAdd(counter, __popc(together));
    before = __shfl_sync(together, before, leader);
    return before + __popc(together & ((1 << lane) - 1));
}
__global__ void count_places(const float* x, int* used, int* counter, float least) {
    if (x[threadIdx.x] > least) atomicAdd(&used[aggregated_increment(counter)], 1);
}
