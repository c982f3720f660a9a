// Packs that are read or written whole and used in parts: each of these accesses is one request, whatever becomes of it, unless a
// GPU has no access of that size or alignment. Behind each: the bytes of an access, then requests and sectors of a request where
// these are not 1 and the bytes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T, int N> struct alignas(sizeof(T) * N) Pack { T v[N]; };
struct Three { float x, y, z; };
struct Row { float v[4]; };  // aligned to 4 bytes only
struct Eight { float v[8]; };
struct Pair { float2 low, high; __device__ Pair(float2 a, float2 b) : low(a), high(b) {} };

__device__ float first_and_last(float4 p) { return p.x + p.w; }
__device__ float4 twice(float4 p) { return make_float4(2 * p.x, 2 * p.y, 2 * p.z, 2 * p.w); }
__device__ float4 fetch(const float* x, int i) { return reinterpret_cast<const float4*>(x)[i]; }
__device__ float4 operator+(const float4& a, const float4& b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

__global__ void one_part(const float* x, float* y, int n) {  // read 16
    float4 p = reinterpret_cast<const float4*>(x)[threadIdx.x];
    y[threadIdx.x] = p.z;
}
__global__ void all_parts(const float* x, float* y, int n) {  // read 16
    float4 p = *reinterpret_cast<const float4*>(&x[4 * threadIdx.x]);
    y[threadIdx.x] = p.x * p.y + p.z * p.w;
}
__global__ void parts_by_number(const float* x, float* y, int n) {  // read 16
    Pack<float, 4> p = reinterpret_cast<const Pack<float, 4>*>(x)[threadIdx.x];
    float sum = 0;
    for (int i = 0; i < n; i++) sum += p.v[i];
    y[threadIdx.x] = sum;
}
__global__ void parts_in_a_loop(const float* x, float* y, int n) {  // read 16 4
    float sum = 0;
    for (int i = 0; i < n; i++) {
        const float4 p = reinterpret_cast<const float4*>(x)[(threadIdx.x + i) % 32];
        sum += p.x + p.y;
    }
    y[threadIdx.x] = sum;
}
__global__ void under_a_condition(const float* x, float* y, int n) {  // read 16
    float4 p = n > 2 ? reinterpret_cast<const float4*>(x)[threadIdx.x] : make_float4(0, 0, 0, 0);
    y[threadIdx.x] = p.y;
}
__global__ void by_value(const float* x, float* y, int n) {  // read 16
    y[threadIdx.x] = first_and_last(reinterpret_cast<const float4*>(x)[threadIdx.x]);
}
__global__ void from_a_function(const float* x, float* y, int n) {  // read 16
    y[threadIdx.x] = fetch(x, threadIdx.x).w;
}
__global__ void through_ldg(const float* x, float* y, int n) {  // read 16
    float4 p = __ldg(reinterpret_cast<const float4*>(x) + threadIdx.x);
    y[threadIdx.x] = p.x + p.z;
}
__global__ void two_floats(const float* x, float* y, int n) {  // read 8
    float2 p = reinterpret_cast<const float2*>(x)[threadIdx.x];
    y[threadIdx.x] = p.x - p.y;
}
__global__ void two_halves(const float* x, float* y, int n) {  // read 4
    half2 p = reinterpret_cast<const half2*>(x)[threadIdx.x];
    y[threadIdx.x] = __low2float(p) - __high2float(p);
}
__global__ void eight_bfloats(const float* x, float* y, int n) {  // read 16
    Pack<__nv_bfloat16, 8> p = reinterpret_cast<const Pack<__nv_bfloat16, 8>*>(x)[threadIdx.x];
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += __bfloat162float(p.v[i]);
    y[threadIdx.x] = sum;
}
__global__ void four_bytes(const float* x, float* y, int n) {  // read 4
    char4 p = reinterpret_cast<const char4*>(x)[threadIdx.x];
    y[threadIdx.x] = p.x + p.w;
}
__global__ void three_floats(const float* x, float* y, int n) {  // read 4 3 12
    Three p = reinterpret_cast<const Three*>(x)[threadIdx.x];
    y[threadIdx.x] = p.x + p.z;
}
__global__ void not_aligned(const float* x, float* y, int n) {  // read 4 4 16
    Row p = reinterpret_cast<const Row*>(x)[threadIdx.x];
    y[threadIdx.x] = p.v[0] + p.v[3];
}
__global__ void eight_floats(const float* x, float* y, int n) {  // read 16 2 32
    Eight p = reinterpret_cast<const Eight*>(x)[threadIdx.x];
    y[threadIdx.x] = p.v[0] + p.v[7];
}
__global__ void as_bytes(const float* x, float* y, int n) {  // read 4 4 16
    float p[4];
    memcpy(p, x + 4 * threadIdx.x, 16);
    y[threadIdx.x] = p[1] + p[2];
}
__global__ void from_shared(const float* x, float* y, int n) {  // shared read 16
    __shared__ __align__(16) float s[128];
    for (int i = 0; i < 4; i++) s[32 * i + threadIdx.x] = x[32 * i + threadIdx.x];
    __syncthreads();
    float4 p = *reinterpret_cast<float4*>(&s[4 * threadIdx.x]);
    y[threadIdx.x] = p.x + p.w;
}
extern __shared__ float dynamic[];
__global__ void from_dynamic_shared(const float* x, float* y, int n) {  // shared read 16
    for (int i = 0; i < 4; i++) dynamic[32 * i + threadIdx.x] = x[32 * i + threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = reinterpret_cast<float4*>(dynamic)[threadIdx.x].x;
    float4 p = reinterpret_cast<float4*>(dynamic)[threadIdx.x];  // here
    y[threadIdx.x] = p.x + p.w;
}
__global__ void made_of_parts(const float* x, float* y, int n) {  // write 16
    float value = x[threadIdx.x];
    reinterpret_cast<float4*>(y)[threadIdx.x] = make_float4(value, value + 1, value + 2, value + 3);
}
__global__ void made_by_number(const float* x, float* y, int n) {  // write 16
    Pack<float, 4> p;
    for (int i = 0; i < 4; i++) p.v[i] = x[threadIdx.x] + i;
    *reinterpret_cast<Pack<float, 4>*>(&y[4 * threadIdx.x]) = p;
}
__global__ void made_of_pairs(const float* x, float* y, int n) {  // write 16
    float value = x[threadIdx.x];
    reinterpret_cast<Pair*>(y)[threadIdx.x] = Pair(make_float2(value, value + 1), make_float2(value + 2, value + 3));
}
__global__ void returned(const float* x, float* y, int n) {  // write 16
    float value = x[threadIdx.x];
    reinterpret_cast<float4*>(y)[threadIdx.x] = twice(make_float4(value, value, value, value));
}
__global__ void added(const float* x, float* y, int n) {  // write 16
    float value = x[threadIdx.x];
    float4 one = {1, 1, 1, 1}, p = {value, value, value, value};
    reinterpret_cast<float4*>(y)[threadIdx.x] = p + one;
}
__global__ void one_half_pair(const float* x, float* y, int n) {  // write 4
    reinterpret_cast<half2*>(y)[threadIdx.x] = __floats2half2_rn(x[threadIdx.x], 1.0f);
}
__global__ void zero(const float* x, float* y, int n) {  // write 16
    reinterpret_cast<float4*>(y)[threadIdx.x] = float4{};
}
__global__ void straight_through(const float* x, float* y, int n) {  // write 16
    reinterpret_cast<float4*>(y)[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x];
}
