// The headers that open public files, and what they declare: limits, exact integers, the functions of std.
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_functions.h>
#include <device_launch_parameters.h>
#include <builtin_types.h>
#include <host_defines.h>
#include <math_functions.h>
#include <vector_functions.h>
#include <vector_types.h>

__device__ __noinline__ uint bits_of(float x) {
    uint bits;
    memcpy(&bits, &x, sizeof(uint));
    return bits;
}
extern "C" __global__ void standard(const float* x, float* y, unsigned* bits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(n > 0);
    float copy[4];
    memset(copy, 0, sizeof copy);
    std::memcpy(copy + 1, x + i, sizeof(float));
    y[i] = std::exp(copy[1]) + std::fabs(copy[1]) + copy[0] + (float)M_PI + (float)M_SQRT1_2 + (float)abs(-3);
    bits[i] = bits_of(copy[1]);
    if (x[i] > 1e30f) std::printf("%f is large\n", x[i]);
    if (x[i] > 1e30f) printf("%f is large\n", x[i]);
}
extern "C" __global__ void limits(long long* y, double* z) {
    ushort small = USHRT_MAX;
    ulong large = UINT32_MAX;
    uintptr_t where = (uintptr_t)y;
    size_t size = sizeof(int16_t) + sizeof(int64_t);
    y[0] = CHAR_BIT, y[1] = SCHAR_MIN, y[2] = UCHAR_MAX, y[3] = SHRT_MIN, y[4] = small, y[5] = INT_MIN, y[6] = (long long)large;
    y[7] = LLONG_MIN, y[8] = INT64_MAX, y[9] = (long long)(UINT64_MAX >> 1), y[10] = (long long)size, y[11] = INT8_MAX;
    y[12] = where == (uintptr_t)y, y[13] = std::isnan((float)NAN), y[14] = std::isinf(HUGE_VALF), y[15] = DBL_DIG + FLT_DIG;
    z[0] = FLT_MAX, z[1] = FLT_MIN, z[2] = DBL_MAX, z[3] = DBL_MIN, z[4] = DBL_EPSILON, z[5] = M_E, z[6] = M_LN2, z[7] = HUGE_VAL;
}

#include <cuda_fp8.h>
// Of each number: e4m3 and e5m2, saturated and not; of each pair of them the sum, read back.
extern "C" __global__ void eight_bits(const float* x, unsigned char* y, float* back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = __nv_fp8_e4m3(x[i]).__x;
    y[4 * i + 1] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
    y[4 * i + 2] = __nv_fp8_e5m2(x[i]).__x;
    y[4 * i + 3] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
    __nv_fp8_e4m3 a;
    a.__x = (unsigned char)i;
    back[2 * i] = float(a);
    back[2 * i + 1] = __half(__nv_cvt_fp8_to_halfraw((unsigned char)i, __NV_E5M2));
}
extern "C" __global__ void eight_bit_vectors(const float4* x, float4* y) {
    float4 four = float4(__nv_fp8x4_e4m3(x[0]));
    float2 two = float2(__nv_fp8x2_e5m2(make_float2(x[0].x, x[0].w)));
    y[0] = four;
    y[1] = make_float4(two.x, two.y, float(__nv_fp8_e4m3(3)), float(__nv_fp8_e5m2(__float2half(-0.3f))));
}
