// The same bytes under two types: what C++ leaves undefined, and kernels do all the time. Each thread owns x[4 i .. 4 i + 3].
#include <cuda_fp16.h>

#define OWN                                                   \
    int i = blockIdx.x * blockDim.x + threadIdx.x;            \
    if (i >= n) return;                                       \
    const float* own = x + 4 * i;                             \
    float* out = y + 4 * i;

// y = 2 x + y, in packs of int whose parts are changed through a float*
__global__ void axpy_in_int4(const float* x, float* y, int n) {
    OWN
    float r[4];
    for (int j = 0; j < 4; j++) r[j] = own[j];
    int4 v{*(const int4*)out};
    const int4 w{*(const int4*)&r[0]};
    for (int j = 0; j < 4; j++) ((float*)&v)[j] = 2.0f * ((const float*)&w)[j] + ((const float*)&v)[j];
    *(int4*)out = v;
}

// the sign bit, flipped through an unsigned*
__global__ void sign_through_unsigned(const float* x, float* y, int n) {
    OWN
    for (int j = 0; j < 4; j++) {
        float value = own[j];
        *(unsigned*)&value ^= 0x80000000u;
        out[j] = value + 1.0f;
    }
}

// an array of float, filled through a float4&
__global__ void array_through_pack(const float* x, float* y, int n) {
    OWN
    float r[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    reinterpret_cast<float4&>(r[0]) = *(const float4*)own;
    for (int j = 0; j < 4; j++) out[j] = 10.0f * r[j];
}

// two shorts in an int: the upper halves of two floats exchanged
__global__ void halves_exchanged(const float* x, float* y, int n) {
    OWN
    for (int j = 0; j < 4; j += 2) {
        int a = __float_as_int(own[j]), b = __float_as_int(own[j + 1]);
        short upper = ((short*)&a)[1];
        ((short*)&a)[1] = ((short*)&b)[1];
        ((short*)&b)[1] = upper;
        out[j] = __int_as_float(a);
        out[j + 1] = __int_as_float(b);
    }
}

// two halves in an unsigned, written one by one and read together
__global__ void halves_in_unsigned(const float* x, float* y, int n) {
    OWN
    for (int j = 0; j < 4; j += 2) {
        unsigned both = 0;
        ((half*)&both)[0] = __float2half(own[j]);
        ((half*)&both)[1] = __float2half(own[j + 1]);
        float2 back = __half22float2(*(half2*)&both);
        out[j] = back.x;
        out[j + 1] = back.y;
    }
}

// two floats in a double, moved as one
__global__ void floats_in_double(const float* x, float* y, int n) {
    OWN
    double moved[2];
    ((float*)moved)[0] = own[3];
    ((float*)moved)[1] = own[2];
    moved[1] = moved[0];
    ((float*)moved)[0] = own[1];
    *(double*)out = moved[0];
    *(double*)(out + 2) = moved[1];
}

// shared memory written as packs of int, read as float
__global__ void shared_under_two_types(const float* x, float* y, int n) {
    __shared__ float s[256];
    OWN
    int t = 4 * threadIdx.x;
    for (int j = 0; j < 4; j++) s[t + j] = -1.0f;
    *(int4*)&s[t] = *(const int4*)own;
    for (int j = 0; j < 4; j++) out[j] = s[t + 3 - j];
}

// global memory: cleared as int, then added to as float
__global__ void global_under_two_types(const float* x, float* y, int n) {
    OWN
    for (int j = 0; j < 4; j++) {
        out[j] = 7.0f;
        ((int*)out)[j] = 0;
        out[j] += own[j];
    }
}
