// The rest of half and bfloat16: pairs, comparisons, conversions that say how they round. Architectures: sm_80 and newer.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define ROUNDED(NAME, ...) NAME##_rn(__VA_ARGS__), NAME##_rz(__VA_ARGS__), NAME##_ru(__VA_ARGS__), NAME##_rd(__VA_ARGS__)

template <typename T, int N> __device__ void store(T* y, int i, int n, const T (&results)[N]) {
    for (int k = 0; k < N; k++) y[k * n + i] = results[k];
}
template <typename T, typename Pair> __device__ void pairs_of(const Pair* a, const Pair* b, Pair* y, int* flags, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Pair p = a[i], q = b[i], r = p;
    r -= q, r /= q, ++r.x, --r.y;
    Pair results[] = {__heq2(p, q), __hne2(p, q), __hlt2(p, q), __hle2(p, q), __hgt2(p, q), __hge2(p, q), __hgtu2(p, q), __hneu2(p, q),
                      -p, r, h2rsqrt(q), h2log(q), h2log2(q), h2exp2(p), h2sin(p), h2cos(p), h2floor(p), h2ceil(p), h2rint(p),
                      h2trunc(p), h2log10(q), h2exp10(p), __hmax2_nan(p, q), __hmin2_nan(p, q), __hisnan2(p), __hcmadd(p, q, p),
                      __hadd2_sat(p, q), __hsub2_sat(p, q), __hmul2_sat(p, q), __hfma2_sat(p, q, p), __hfma2_relu(p, q, p),
                      __hadd2_rn(p, q), __hsub2_rn(p, q), __hmul2_rn(p, q)};
    store(y, i, n, results);
    int marks[] = {__hbeq2(p, q), __hbne2(p, q), __hblt2(p, q), __hble2(p, q), __hbgt2(p, q), __hbge2(p, q), __hbltu2(p, q),
                   __hbneu2(p, q), __hneu(p.x, q.x), __hne(p.x, q.x), __hgeu(p.x, q.x), p == q, p != q, p < q};
    store(flags, i, n, marks);
}
extern "C" __global__ void half_pairs(const half2* a, const half2* b, half2* y, int* flags, int n) {
    pairs_of<half>(a, b, y, flags, n);
}
extern "C" __global__ void bf16_pairs(const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* y, int* flags, int n) {
    pairs_of<__nv_bfloat16>(a, b, y, flags, n);
}
#define CONVERSIONS(T, LABEL)                                                                                      \
    __device__ void from(const float* x, const long long* w, T* y, int n) {                                  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                         \
        if (i >= n) return;                                                                                                    \
        long long v = w[i];                                                                                                    \
        T results[] = {ROUNDED(__float2##LABEL, x[i]), ROUNDED(__int2##LABEL, (int)v), ROUNDED(__uint2##LABEL, (unsigned)v),   \
                       ROUNDED(__short2##LABEL, (short)v), ROUNDED(__ushort2##LABEL, (unsigned short)v),                       \
                       ROUNDED(__ll2##LABEL, v), ROUNDED(__ull2##LABEL, (unsigned long long)v)};                               \
        store(y, i, n, results);                                                                                               \
    }                                                                                                                          \
    __device__ void to(const T* x, long long* y, int n) {                                                    \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                         \
        if (i >= n) return;                                                                                                    \
        long long results[] = {ROUNDED(__##LABEL##2int, x[i]), ROUNDED(__##LABEL##2uint, x[i]), ROUNDED(__##LABEL##2short, x[i]), \
                               ROUNDED(__##LABEL##2ushort, x[i]), ROUNDED(__##LABEL##2ll, x[i])};                              \
        store(y, i, n, results);                                                                                               \
    }
CONVERSIONS(half, half)
CONVERSIONS(__nv_bfloat16, bfloat16)

extern "C" __global__ void half_from(const float* x, const long long* w, half* y, int n) { from(x, w, y, n); }
extern "C" __global__ void half_to(const half* x, long long* y, int n) { to(x, y, n); }
extern "C" __global__ void bf16_from(const float* x, const long long* w, __nv_bfloat16* y, int n) { from(x, w, y, n); }
extern "C" __global__ void bf16_to(const __nv_bfloat16* x, long long* y, int n) { to(x, y, n); }

extern "C" __global__ void exchanged(const half2* a, const __nv_bfloat162* b, half2* y, __nv_bfloat162* z) {
    y[0] = __low2half2(a[0]), y[1] = __high2half2(a[0]), y[2] = __lows2half2(a[0], a[1]), y[3] = __highs2half2(a[0], a[1]);
    z[0] = __low2bfloat162(b[0]), z[1] = __high2bfloat162(b[0]), z[2] = __lows2bfloat162(b[0], b[1]);
    z[3] = __highs2bfloat162(b[0], b[1]);
}
