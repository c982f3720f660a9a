// The rarer intrinsics: special functions, integers, atomics of a scope. Row k of y holds the k-th result of every element.
template <typename T, int N> __device__ void store(T* y, int i, int n, const T (&results)[N]) {
    for (int k = 0; k < N; k++) y[k * n + i] = results[k];
}

extern "C" __global__ void special_doubles(const double* x, const double* u, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[i], p = u[i], s, c;
    const double four[] = {a, 1.0, 2.0, p};
    sincospi(a, &s, &c);
    double results[] = {sinpi(a), cospi(a), s, c, rcbrt(a), rhypot(a, p), norm3d(a, p, 2.0), norm4d(a, p, 2.0, 3.0),
                        rnorm3d(a, p, 2.0), rnorm4d(a, p, 2.0, 3.0), norm(4, four), rnorm(4, four), erfinv(p), erfinv(-p),
                        erfcinv(p), erfcinv(2.0 - p), normcdf(a), normcdfinv(p), erfcx(a), cyl_bessel_i0(a), cyl_bessel_i1(a),
                        __hiloint2double(__double2hiint(a), __double2loint(a))};
    store(y, i, n, results);
}
extern "C" __global__ void special_floats(const float* x, const float* u, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], p = u[i], s, c;
    const float four[] = {a, 1.0f, 2.0f, p};
    sincospif(a, &s, &c);
    float results[] = {sinpif(a), cospif(a), s, c, rcbrtf(a), rhypotf(a, p), norm3df(a, p, 2.0f), norm4df(a, p, 2.0f, 3.0f),
                       rnorm3df(a, p, 2.0f), rnorm4df(a, p, 2.0f, 3.0f), normf(4, four), rnormf(4, four), erfinvf(p), erfinvf(-p),
                       erfcinvf(p), erfcinvf(2.0f - p), normcdff(a), normcdfinvf(p), erfcxf(a), cyl_bessel_i0f(a),
                       cyl_bessel_i1f(a)};
    store(y, i, n, results);
}
extern "C" __global__ void integers(const int* x, const int* z, const int* w, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = x[i], b = z[i], c = w[i];
    unsigned p = a, q = b, r = c;
    long long la = (long long)a << 20, lb = (long long)b << 20;
    unsigned long long ua = la, ub = lb;
    char4 sa = *(const char4*)&a, sb = *(const char4*)&b;
    uchar4 pa = *(const uchar4*)&a, pb = *(const uchar4*)&b;
    short2 ha = *(const short2*)&a;
    ushort2 hp = *(const ushort2*)&a;
    long long results[] = {
        umin(p, q), umax(p, q), llmin(la, lb), llmax(la, lb), (long long)ullmin(ua, ub), (long long)ullmax(ua, ub),
        __hadd(a, b), __rhadd(a, b), __uhadd(p, q), __urhadd(p, q), __funnelshift_lc(p, q, r & 63), __funnelshift_rc(p, q, r & 63),
        (int)__fns(p, r & 31, (int)(q % 9) - 4), __dp2a_lo(a, b, c), __dp2a_hi(a, b, c), __dp2a_lo(p, q, r), __dp2a_hi(p, q, r),
        __dp2a_lo(ha, sb, c), __dp2a_hi(ha, sb, c), __dp2a_lo(hp, pb, r), __dp2a_hi(hp, pb, r),
        __dp4a(a, b, c), __dp4a(p, q, r), __dp4a(sa, sb, c), __dp4a(pa, pb, r)};
    store(y, i, n, results);
}
extern "C" __global__ void scopes(int* y, unsigned* u, unsigned long long* l, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __builtin_assume(n > 0);
    atomicAdd_block(y, 1), atomicAdd_system(y, 1), atomicSub_block(y + 1, 1), atomicSub_system(y + 1, 2);
    atomicMax_block(y + 2, i), atomicMin_system(y + 3, -i);
    atomicCAS_block(y + 4, 0, 7), atomicCAS_system(l, 0ull, 5ull);
    atomicInc_block(u, 1000u), atomicInc_system(u, 1000u), atomicDec_block(u + 1, 1000u), atomicDec_system(u + 1, 1000u);
    atomicOr_block(u + 2, 1u << i % 32), atomicXor_system(u + 3, 1u << i % 32), atomicAnd_system(u + 4, ~(1u << i % 32));
    atomicExch_block(u + 5, 9u);
}
extern "C" __global__ void addresses(float* y) {
    __shared__ float tile[32];
    tile[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    float* mine = (float*)__cvta_shared_to_generic(__cvta_generic_to_shared(tile)) + 31 - threadIdx.x;
    clock_t start = clock();
    *((float*)__cvta_global_to_generic(__cvta_generic_to_global(y)) + threadIdx.x) = *mine + (clock() - start < 0 ? 1.0f : 0.0f);
}
