// Small kernels over what device code may use, floats in and out: (x, y, n). Grids and references are in test_values.py.
#define FULL 0xffffffffu
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int launches;

extern "C" __global__ void scale(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.5f * x[i];
}
extern "C" __global__ void grid_stride(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + 1.0f;
}
extern "C" __global__ void __launch_bounds__(128) three_dimensions(const float* x, float* y, int n) {
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    if (i < n) y[i] = x[i] + 100 * threadIdx.z + 10 * threadIdx.y + threadIdx.x + 1000 * blockIdx.y;
}
extern "C" __global__ void reverse_block(const float* x, float* y, int n) {
    __shared__ float s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = s[127 - threadIdx.x];
}
extern "C" __global__ void dynamic_reverse(const float* x, float* y, int n) {
    extern __shared__ float space[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    space[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = space[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void second_dynamic_name(const float* x, float* y, int n) {
    extern __shared__ int words[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (i < n) y[i] = x[i] + words[threadIdx.x ^ 1];
}
extern "C" __global__ void block_sum(const float* x, float* y, int n) {
    __shared__ float s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (i < n) y[i] = s[0];
}
extern "C" __global__ void counted_barrier(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int positive = __syncthreads_count(i < n && x[i] > 0.0f);
    int any = __syncthreads_or(i < n && x[i] > 1.5f), all = __syncthreads_and(i >= n || x[i] > -9.0f);
    if (i < n) y[i] = positive + 1000 * any + 10000 * all;
}
extern "C" __global__ void warp_sum_down(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);
    v = __shfl_sync(FULL, v, 0);
    if (i < n) y[i] = v;
}
extern "C" __global__ void warp_max_xor(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : -INFINITY;
    for (int step = 1; step < 32; step *= 2) v = fmaxf(v, __shfl_xor_sync(FULL, v, step));
    if (i < n) y[i] = v;
}
extern "C" __global__ void warp_scan_up(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float v = i < n ? x[i] : 0.0f;
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(FULL, v, step);
        if (lane >= step) v += before;
    }
    if (i < n) y[i] = v;
}
extern "C" __global__ void shuffle_width(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    float a = __shfl_sync(FULL, v, 3, 8), b = __shfl_down_sync(FULL, v, 2, 8), c = __shfl_up_sync(FULL, v, 1, 4);
    if (i < n) y[i] = a + 2 * b + 4 * c;
}
extern "C" __global__ void shuffle_double(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = i < n ? (double)x[i] * 1.0000001 : 0.0;
    double other = __shfl_xor_sync(FULL, v, 1);
    if (i < n) y[i] = (float)(v - other);
}
extern "C" __global__ void half_warp_mask(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float v = i < n ? x[i] : 0.0f;
    if (lane < 16) v += __shfl_xor_sync(0x0000ffffu, v, 8);
    else v -= __shfl_xor_sync(0xffff0000u, v, 4);
    if (i < n) y[i] = v;
}
extern "C" __global__ void diverged_then_met(const float* x, float* y, int n) {
    __shared__ float s[32];
    int lane = threadIdx.x;
    float v = lane < n ? x[lane] : 0.0f;
    if (lane % 3 == 0) v *= 2.0f;
    else if (lane % 3 == 1) v += 1.0f;
    s[lane] = v;
    __syncwarp();
    float w = s[(lane + 1) % 32];
    __syncwarp();
    if (lane < n) y[lane] = w;
}
extern "C" __global__ void active_lanes(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && threadIdx.x % 2) y[i] = __popc(__activemask());
    else if (i < n) y[i] = -x[i];
}
extern "C" __global__ void constants(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) launches++;
    if (i < n) y[i] = weights[i % 8] * x[i];
}
template <int TILE> __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += TILE) {
        a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] = k + threadIdx.y < K && column < N ? B[(k + threadIdx.y) * N + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}
template <typename T, bool NEGATE> __global__ void copy_as(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = NEGATE ? -x[i] : x[i];
}
extern "C" __global__ void read_only_load(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) __stcs(&y[i], __ldg(&x[i]) + __ldcg(x));
}
extern "C" __global__ void vector4(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        reinterpret_cast<float4*>(y)[i] = make_float4(v.w, v.z, v.y, v.x);
    } else {
        for (int j = 4 * i; j < n; j++) y[j] = x[j];
    }
}
extern "C" __global__ void vector2_and_3(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 6) {
        float2 a = ((const float2*)x)[3 * i];
        float3 b{x[6 * i + 2], x[6 * i + 3], x[6 * i + 4]};
        float2 pair[2] = {a, make_float2(b.x, b.y)};
        y[6 * i] = pair[0].x * pair[1].y + b.z;
    }
}
extern "C" __global__ void math_functions(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = fabsf(x[i]) + 0.1f;
    y[i] = expf(-v) + logf(v) + sqrtf(v) + rsqrtf(v) + tanhf(v) + powf(v, 1.5f) + sinf(v) * cosf(v) + erff(v) + exp2f(-v) +
           log1pf(v) + floorf(v) + fmodf(v, 0.3f) + copysignf(1.0f, x[i]) + cbrtf(v) + atan2f(v, 2.0f) + fmaf(v, v, 1.0f);
}
extern "C" __global__ void fast_math(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = fabsf(x[i]) + 0.1f, s, c;
    __sincosf(v, &s, &c);
    y[i] = __expf(-v) + __logf(v) + __fdividef(1.0f, v) + __powf(v, 0.5f) + s + c + __saturatef(x[i]) + __frcp_rn(v) +
           __fsqrt_rn(v) + __exp10f(-v) + __log2f(v) + __fmaf_rn(v, 2.0f, 1.0f) + __tanf(0.1f);
}
extern "C" __global__ void double_math(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (float)(exp((double)x[i]) + rsqrt(2.0) + max(1.0, (double)x[i]) + fma(2.0, 3.0, 4.0) + norm3df(1, 2, 2));
}
extern "C" __global__ void minima(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = min(x[i], 0.25f) + max(i, 3) + min((unsigned)i, 5u) + max(2LL, (long long)i) + abs(-i) + abs(x[i]);
}
extern "C" __global__ void several_early_returns(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] < 0) { y[i] = -1.0f; return; }
    y[i] = 1.0f;
}
__device__ __forceinline__ float warp_total(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
    return v;
}
extern "C" __global__ void softmax_row(const float* x, float* y, int n) {
    __shared__ float parts[4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < n; i += blockDim.x) top = fmaxf(top, x[i]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(FULL, top, step));
    if (lane == 0) parts[warp] = top;
    __syncthreads();
    top = fmaxf(fmaxf(parts[0], parts[1]), fmaxf(parts[2], parts[3]));
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - top);
    sum = warp_total(sum);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    sum = parts[0] + parts[1] + parts[2] + parts[3];
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - top) / sum;
}
extern "C" __global__ void last_block_sums(const float* x, float* y, int n) {
    __shared__ bool last;
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int j = 0; j < 64; j++) sum += s[j];
        y[2 + blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd((int*)&y[1], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0.0f;
        for (int j = 0; j < gridDim.x; j++) total += y[2 + j];
        y[0] = total;
    }
}
namespace inner {
struct Range { int begin, end; __device__ bool has(int i) const { return begin <= i && i < end; } };
template <class F> __device__ float apply(F f, float v) { return f(v); }
}
extern "C" __global__ void structs_and_lambdas(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    inner::Range range{2, n - 2};
    auto twice = [=] (float v) { return 2.0f * v + (range.has(i) ? 1.0f : 0.0f); };
    if (i < n) y[i] = inner::apply(twice, x[i]);
}
extern "C" __global__ void by_value(float4 v, double d, bool flag, unsigned char byte, long long big, float* y, size_t n) {
    if (threadIdx.x < n) y[threadIdx.x] = v.x + 2 * v.w + (float)d + (flag ? 100 : 0) + byte + (float)(big >> 32);
}

// An index that divides, in an array that is chosen.
__global__ void one_of_two(const float* a, const float* b, float* y, int n, int which) {
    float sum = 0.0f;
    for (int w = threadIdx.x; w < n; w += 32)
        sum += (which == 1 ? b : a)[w / 4] + 8.0f * (which % 2 ? b : which / 2 ? a + 1 : a)[w % 5];
    y[threadIdx.x] = sum;
}
