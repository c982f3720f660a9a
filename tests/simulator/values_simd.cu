// SIMD intrinsics. Row k of y holds the k-th result of every element.
template <int N> __device__ void store(long long* y, int i, int n, const long long (&results)[N]) {
    for (int k = 0; k < N; k++) y[k * n + i] = results[k];
}
#define OF_ONE(NAME) NAME##2(a), NAME##4(a)
#define OF_TWO(NAME) NAME##2(a, b), NAME##4(a, b)

extern "C" __global__ void of_lanes(const unsigned* x, const unsigned* z, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = z[i];
    long long results[] = {
        OF_ONE(__vabs), OF_ONE(__vabsss), OF_ONE(__vneg), OF_ONE(__vnegss),
        OF_TWO(__vadd), OF_TWO(__vaddss), OF_TWO(__vaddus), OF_TWO(__vsub), OF_TWO(__vsubss), OF_TWO(__vsubus),
        OF_TWO(__vabsdiffs), OF_TWO(__vabsdiffu), OF_TWO(__vsads), OF_TWO(__vsadu),
        OF_TWO(__vavgs), OF_TWO(__vavgu), OF_TWO(__vhaddu), OF_TWO(__vmaxs), OF_TWO(__vmaxu), OF_TWO(__vmins), OF_TWO(__vminu),
        OF_TWO(__vcmpeq), OF_TWO(__vcmpne), OF_TWO(__vcmpges), OF_TWO(__vcmpgeu), OF_TWO(__vcmpgts), OF_TWO(__vcmpgtu),
        OF_TWO(__vcmples), OF_TWO(__vcmpleu), OF_TWO(__vcmplts), OF_TWO(__vcmpltu),
        OF_TWO(__vseteq), OF_TWO(__vsetne), OF_TWO(__vsetges), OF_TWO(__vsetgeu), OF_TWO(__vsetgts), OF_TWO(__vsetgtu),
        OF_TWO(__vsetles), OF_TWO(__vsetleu), OF_TWO(__vsetlts), OF_TWO(__vsetltu)};
    store(y, i, n, results);
}

#define SIGNED_EXTREMES(EXTREME, KIND)                                                                                        \
    __vi##EXTREME##_##KIND##_relu(a, b), __vi##EXTREME##3_##KIND(a, b, c), __vi##EXTREME##3_##KIND##_relu(a, b, c),           \
        __viadd##EXTREME##_##KIND(a, b, c), __viadd##EXTREME##_##KIND##_relu(a, b, c)
#define UNSIGNED_EXTREMES(EXTREME, KIND) __vi##EXTREME##3_##KIND(a, b, c), __viadd##EXTREME##_##KIND(a, b, c)
#define AND_WHOSE(EXTREME)                                                                                                    \
    __vib##EXTREME##_s32(a, b, &low), low, __vib##EXTREME##_u32(a, b, &low), low,                                             \
        __vib##EXTREME##_s16x2(a, b, &high, &low), 2 * high + low, __vib##EXTREME##_u16x2(a, b, &high, &low), 2 * high + low
#define EXTREMES(EXTREME)                                                                                                     \
    SIGNED_EXTREMES(EXTREME, s32), SIGNED_EXTREMES(EXTREME, s16x2), UNSIGNED_EXTREMES(EXTREME, u32),                          \
        UNSIGNED_EXTREMES(EXTREME, u16x2), AND_WHOSE(EXTREME)

extern "C" __global__ void extremes(const unsigned* x, const unsigned* z, const unsigned* w, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = z[i], c = w[i];
    bool high, low;
    long long results[] = {EXTREMES(max), EXTREMES(min)};
    store(y, i, n, results);
}
