// Complex numbers of cuComplex.h, and the named constants of math_constants.h.
#include <cuComplex.h>
#include <math_constants.h>

#if __CUDACC_VER_MAJOR__ < 11 || __CUDACC_VER_MINOR__ < 0
#error "too old"
#endif

extern "C" __global__ void complex_floats(const cuFloatComplex* a, const cuComplex* b, cuFloatComplex* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuFloatComplex p = a[i], q = b[i];
    y[i] = cuCaddf(cuCdivf(cuCmulf(p, q), cuCsubf(p, cuConjf(q))), make_cuFloatComplex(cuCabsf(p), cuCimagf(q)));
    y[i] = cuCfmaf(y[i], make_cuComplex(cuCrealf(p), 0.0f), cuComplexDoubleToFloat(cuComplexFloatToDouble(q)));
}
extern "C" __global__ void complex_doubles(const cuDoubleComplex* a, const cuDoubleComplex* b, cuDoubleComplex* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuDoubleComplex p = a[i], q = b[i];
    y[i] = cuCadd(cuCdiv(cuCmul(p, q), cuCsub(p, cuConj(q))), make_cuDoubleComplex(cuCabs(p), cuCimag(q)));
    y[i] = cuCfma(y[i], make_cuDoubleComplex(cuCreal(p), 0.0), q);
}
extern "C" __global__ void constants(float* y, double* z) {
    float floats[] = {CUDART_PI_F, CUDART_PIO2_F, CUDART_SQRT_TWO_F, CUDART_SQRT_HALF_F, CUDART_L2E_F, CUDART_LN2_F, CUDART_LNT_F,
                      CUDART_SQRT_2_OVER_PI_F, CUDART_THIRD_F, CUDART_INF_F, CUDART_MAX_NORMAL_F, CUDART_MIN_DENORM_F,
                      CUDART_TWO_TO_126_F};
    double doubles[] = {CUDART_PI, CUDART_PIO2, CUDART_SQRT_TWO, CUDART_SQRT_HALF, CUDART_L2E, CUDART_LN2, CUDART_LNT,
                        CUDART_SQRT_2OPI, CUDART_THIRD, CUDART_INF, CUDART_SQRT_2PI, CUDART_MIN_DENORM, CUDART_TWO_TO_M1022};
    for (int i = 0; i < 13; i++) y[i] = floats[i], z[i] = doubles[i];
}
