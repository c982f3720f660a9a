// CUDA's mathematics: what <math.h> lacks, the fast intrinsics, integer intrinsics, and cached loads.
#pragma once
#include "sync.h"

using std::isfinite;
using std::isinf;
using std::isnan;

#define SIM_MIN_MAX(T)                                        \
    SIM_INLINE T min(T a, T b) { return b < a ? b : a; }      \
    SIM_INLINE T max(T a, T b) { return a < b ? b : a; }
SIM_MIN_MAX(int) SIM_MIN_MAX(unsigned) SIM_MIN_MAX(long) SIM_MIN_MAX(unsigned long)
SIM_MIN_MAX(long long) SIM_MIN_MAX(unsigned long long)
SIM_INLINE float min(float a, float b) { return fminf(a, b); }
SIM_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIM_INLINE double min(double a, double b) { return fmin(a, b); }
SIM_INLINE double max(double a, double b) { return fmax(a, b); }
SIM_INLINE double min(float a, double b) { return fmin(a, b); }
SIM_INLINE double min(double a, float b) { return fmin(a, b); }
SIM_INLINE double max(float a, double b) { return fmax(a, b); }
SIM_INLINE double max(double a, float b) { return fmax(a, b); }
#define SIM_MIXED(A, B, T)                                    \
    SIM_INLINE T min(A a, B b) { return min((T)a, (T)b); }    \
    SIM_INLINE T max(A a, B b) { return max((T)a, (T)b); }
SIM_MIXED(int, unsigned, unsigned) SIM_MIXED(unsigned, int, unsigned)
SIM_MIXED(unsigned long long, long long, unsigned long long) SIM_MIXED(long long, unsigned long long, unsigned long long)
SIM_MIXED(long, unsigned long, unsigned long) SIM_MIXED(unsigned long, long, unsigned long)

// glibc declares some of these names itself (__expf, rsqrtf): macros stand above its functions.
SIM_OPERATION float sim_rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIM_OPERATION double sim_rsqrt(double x) { return 1.0 / sqrt(x); }
SIM_OPERATION float sim_rsqrt(float x) { return 1.0f / sqrtf(x); }
SIM_OPERATION float sim_exp10f(float x) { return powf(10.0f, x); }
SIM_OPERATION double sim_exp10(double x) { return pow(10.0, x); }
SIM_OPERATION float sim_sinpif(float x) { return (float)sin(3.14159265358979323846 * fmod(x, 2.0)); }
SIM_OPERATION float sim_cospif(float x) { return (float)cos(3.14159265358979323846 * fmod(x, 2.0)); }
SIM_INLINE void sim_sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
SIM_INLINE void sim_sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
SIM_INLINE float sim_expf(float x) { return expf(x); }
SIM_INLINE float sim_logf(float x) { return logf(x); }
SIM_INLINE float sim_log2f(float x) { return log2f(x); }
SIM_INLINE float sim_log10f(float x) { return log10f(x); }
SIM_INLINE float sim_powf(float x, float y) { return powf(x, y); }
SIM_INLINE float sim_sinf(float x) { return sinf(x); }
SIM_INLINE float sim_cosf(float x) { return cosf(x); }
SIM_INLINE float sim_tanf(float x) { return tanf(x); }
SIM_INLINE float sim_tanhf(float x) { return tanhf(x); }
#define rsqrtf sim_rsqrtf
#define rsqrt sim_rsqrt
#define exp10f sim_exp10f
#define exp10 sim_exp10
#define sinpif sim_sinpif
#define cospif sim_cospif
#define sincosf sim_sincosf
#define sincos sim_sincos
#define __expf sim_expf
#define __exp10f sim_exp10f
#define __logf sim_logf
#define __log2f sim_log2f
#define __log10f sim_log10f
#define __powf sim_powf
#define __sinf sim_sinf
#define __cosf sim_cosf
#define __tanf sim_tanf
#define __tanhf sim_tanhf
#define __sincosf sim_sincosf

SIM_INLINE float fdividef(float a, float b) { return a / b; }
SIM_INLINE float __fdividef(float a, float b) { return a / b; }
SIM_INLINE float __fdiv_rn(float a, float b) { return a / b; }
SIM_INLINE float __frcp_rn(float x) { return 1.0f / x; }
SIM_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
SIM_OPERATION float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
SIM_INLINE float __fadd_rn(float a, float b) { volatile float r = a + b; return r; }  // never fused into an fma
SIM_INLINE float __fsub_rn(float a, float b) { volatile float r = a - b; return r; }
SIM_INLINE float __fmul_rn(float a, float b) { volatile float r = a * b; return r; }
SIM_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIM_INLINE double __dadd_rn(double a, double b) { volatile double r = a + b; return r; }
SIM_INLINE double __dmul_rn(double a, double b) { volatile double r = a * b; return r; }
SIM_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SIM_OPERATION float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
SIM_OPERATION float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
SIM_OPERATION double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
SIM_INLINE float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
SIM_OPERATION float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
SIM_OPERATION float rcbrtf(float x) { return 1.0f / cbrtf(x); }

#define SIM_BITS(NAME, FROM, TO)                                                     \
    SIM_INLINE SIM_UNCHECKED TO NAME(FROM x) {                                       \
        TO y;                                                                        \
        __builtin_memcpy(&y, &x, sizeof y);                                          \
        return y;                                                                    \
    }
SIM_BITS(__float_as_int, float, int) SIM_BITS(__int_as_float, int, float)
SIM_BITS(__float_as_uint, float, unsigned) SIM_BITS(__uint_as_float, unsigned, float)
SIM_BITS(__double_as_longlong, double, long long) SIM_BITS(__longlong_as_double, long long, double)

SIM_INLINE int __float2int_rn(float x) { return (int)rintf(x); }
SIM_INLINE int __float2int_rz(float x) { return (int)x; }
SIM_INLINE int __float2int_rd(float x) { return (int)floorf(x); }
SIM_INLINE int __float2int_ru(float x) { return (int)ceilf(x); }
SIM_INLINE unsigned __float2uint_rn(float x) { return (unsigned)rintf(x); }
SIM_INLINE unsigned __float2uint_rz(float x) { return (unsigned)x; }
SIM_INLINE int __double2int_rn(double x) { return (int)rint(x); }
SIM_INLINE int __double2int_rz(double x) { return (int)x; }
SIM_INLINE float __int2float_rn(int x) { return (float)x; }
SIM_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
SIM_INLINE double __int2double_rn(int x) { return x; }
SIM_INLINE float __double2float_rn(double x) { return (float)x; }

SIM_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIM_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIM_INLINE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
SIM_INLINE int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
SIM_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIM_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIM_INLINE unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++, x >>= 1) r = r << 1 | (x & 1);
    return r;
}
SIM_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
SIM_INLINE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
SIM_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
SIM_INLINE int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
SIM_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
SIM_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SIM_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SIM_INLINE unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? (unsigned)b - a : (unsigned)a - b); }
SIM_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
SIM_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
SIM_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
SIM_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = selector >> (4 * i), byte = bytes >> (8 * (pick & 7)) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
SIM_INLINE int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
}

// Loads and stores with cache hints are loads and stores.
template <class T> SIM_INLINE T __ldg(const T* p) { return *p; }
template <class T> SIM_INLINE T __ldcs(const T* p) { return *p; }
template <class T> SIM_INLINE T __ldcg(const T* p) { return *p; }
template <class T> SIM_INLINE T __ldca(const T* p) { return *p; }
template <class T> SIM_INLINE T __ldlu(const T* p) { return *p; }
template <class T> SIM_INLINE T __ldcv(const T* p) { return *p; }
template <class T> SIM_INLINE void __stcs(T* p, T value) { *p = value; }
template <class T> SIM_INLINE void __stcg(T* p, T value) { *p = value; }
template <class T> SIM_INLINE void __stwb(T* p, T value) { *p = value; }
template <class T> SIM_INLINE void __stwt(T* p, T value) { *p = value; }
SIM_INLINE size_t __cvta_generic_to_shared(const void* p) { return (size_t)p; }
#if defined(__x86_64__)
SIM_INLINE long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
#else
SIM_INLINE long long clock64() {
    long long ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#endif

#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_PI_F 3.14159265f
#define CUDART_INF ((double)INFINITY)

// Let g++ call the vector forms of these three (glibc 2.35 and newer has them all).
#if !defined(SIM_CHECKED) && defined(__GLIBC__) && defined(__x86_64__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
extern "C" {
__attribute__((simd("notinbranch"))) float expf(float) noexcept(true);
__attribute__((simd("notinbranch"))) float logf(float) noexcept(true);
__attribute__((simd("notinbranch"))) float tanhf(float) noexcept(true);
}
#endif
#endif
