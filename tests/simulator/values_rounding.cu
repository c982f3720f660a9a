// Arithmetic and conversions that say how they round. Row k of y holds the k-th result of every element.

#define ROUNDED(NAME, ...) NAME##_rn(__VA_ARGS__), NAME##_rz(__VA_ARGS__), NAME##_ru(__VA_ARGS__), NAME##_rd(__VA_ARGS__)

#define UNSIGNED_FLOAT_rn(x) (long long)__float2ull_rn(x)
#define UNSIGNED_FLOAT_rz(x) (long long)__float2ull_rz(x)
#define UNSIGNED_FLOAT_ru(x) (long long)__float2ull_ru(x)
#define UNSIGNED_FLOAT_rd(x) (long long)__float2ull_rd(x)
#define UNSIGNED_DOUBLE_rn(x) (long long)__double2ull_rn(x)
#define UNSIGNED_DOUBLE_rz(x) (long long)__double2ull_rz(x)
#define UNSIGNED_DOUBLE_ru(x) (long long)__double2ull_ru(x)
#define UNSIGNED_DOUBLE_rd(x) (long long)__double2ull_rd(x)

template <typename T, int N> __device__ void store(T* y, int i, int n, const T (&results)[N]) {
    for (int k = 0; k < N; k++) y[k * n + i] = results[k];
}

extern "C" __global__ void float_arithmetic(const float* a, const float* b, const float* c, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = a[i], q = b[i], r = c[i];
    float results[] = {ROUNDED(__fadd, p, q), ROUNDED(__fsub, p, q), ROUNDED(__fmul, p, q), ROUNDED(__fdiv, p, q),
                       ROUNDED(__frcp, p), ROUNDED(__fsqrt, q), ROUNDED(__fmaf, p, q, r)};
    store(y, i, n, results);
}
extern "C" __global__ void double_arithmetic(const double* a, const double* b, const double* c, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double p = a[i], q = b[i], r = c[i];
    double results[] = {ROUNDED(__dadd, p, q), ROUNDED(__dsub, p, q), ROUNDED(__dmul, p, q), ROUNDED(__ddiv, p, q),
                        ROUNDED(__drcp, p), ROUNDED(__dsqrt, q), ROUNDED(__fma, p, q, r)};
    store(y, i, n, results);
}
extern "C" __global__ void to_float(const double* d, const long long* w, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long v = w[i];
    float results[] = {ROUNDED(__double2float, d[i]), ROUNDED(__int2float, (int)v), ROUNDED(__uint2float, (unsigned)v),
                       ROUNDED(__ll2float, v), ROUNDED(__ull2float, (unsigned long long)v)};
    store(y, i, n, results);
}
extern "C" __global__ void to_double(const long long* w, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double results[] = {ROUNDED(__ll2double, w[i]), ROUNDED(__ull2double, (unsigned long long)w[i])};
    store(y, i, n, results);
    if (__int2double_rn((int)w[i]) != (int)w[i] || __uint2double_rn((unsigned)w[i]) != (unsigned)w[i]) y[i] = -1.0;
}
extern "C" __global__ void float_to_integer(const float* x, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long results[] = {ROUNDED(__float2int, x[i]), ROUNDED(__float2uint, x[i]), ROUNDED(__float2ll, x[i]),
                           ROUNDED(UNSIGNED_FLOAT, x[i])};
    store(y, i, n, results);
}
extern "C" __global__ void double_to_integer(const double* x, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long results[] = {ROUNDED(__double2int, x[i]), ROUNDED(__double2uint, x[i]), ROUNDED(__double2ll, x[i]),
                           ROUNDED(UNSIGNED_DOUBLE, x[i])};
    store(y, i, n, results);
}
