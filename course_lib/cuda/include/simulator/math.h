// CUDA's mathematics: what <math.h> lacks, the fast intrinsics, integer intrinsics, and cached loads.
#pragma once
#include "integers.h"
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

// glibc declares some of these names itself (__expf, rsqrtf), so ours are macros.
SIM_OPERATION float sim_rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIM_OPERATION double sim_rsqrt(double x) { return 1.0 / sqrt(x); }
SIM_OPERATION float sim_rsqrt(float x) { return 1.0f / sqrtf(x); }
SIM_OPERATION float sim_exp10f(float x) { return powf(10.0f, x); }
SIM_OPERATION double sim_exp10(double x) { return pow(10.0, x); }
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
SIM_OPERATION float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
SIM_OPERATION float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
#define SIM_BITS(NAME, FROM, TO)                                                     \
    SIM_INLINE SIM_UNCHECKED TO NAME(FROM x) {                                       \
        TO y;                                                                        \
        __builtin_memcpy(&y, &x, sizeof y);                                          \
        return y;                                                                    \
    }
SIM_BITS(__float_as_int, float, int) SIM_BITS(__int_as_float, int, float)
SIM_BITS(__float_as_uint, float, unsigned) SIM_BITS(__uint_as_float, unsigned, float)
SIM_BITS(__double_as_longlong, double, long long) SIM_BITS(__longlong_as_double, long long, double)
SIM_INLINE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
SIM_INLINE int __double2loint(double x) { return (int)__double_as_longlong(x); }
SIM_INLINE double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((uint64_t)(unsigned)high << 32 | (unsigned)low));
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
SIM_INLINE size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
SIM_INLINE size_t __cvta_generic_to_local(const void* p) { return (size_t)p; }
SIM_INLINE size_t __cvta_generic_to_constant(const void* p) { return (size_t)p; }
SIM_INLINE void* __cvta_shared_to_generic(size_t p) { return (void*)p; }
SIM_INLINE void* __cvta_global_to_generic(size_t p) { return (void*)p; }
SIM_INLINE void* __cvta_local_to_generic(size_t p) { return (void*)p; }
SIM_INLINE void* __cvta_constant_to_generic(size_t p) { return (void*)p; }
#if defined(__x86_64__)
SIM_INLINE long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
#elif defined(__wasm__)
extern "C" long long sim_ticks();
SIM_INLINE long long clock64() { return sim_ticks(); }
#else
SIM_INLINE long long clock64() {
    long long ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#endif

#ifdef SIM_PROGRAM
SIM_FUNCTION clock_t sim_clock() { return sim_block ? (clock_t)clock64() : clock(); }
#else
SIM_INLINE clock_t sim_clock() { return (clock_t)clock64(); }
#endif
#define clock sim_clock  // <ctime> undoes this, and leaves its own

template <class Never = void> void __brkpt() { static_assert(!std::is_void<Never>::value, "__brkpt_is_not_simulated: printf shows values"); }
template <class Never = void> void __prof_trigger(int) {
    static_assert(!std::is_void<Never>::value, "__prof_trigger_is_not_simulated: there is no profiler here");
}

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
