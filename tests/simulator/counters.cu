// Access patterns with textbook counts; the reasoning is in test_counters.py. One warp unless it says otherwise.
extern "C" __global__ void stride_1(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void stride_2(const float* x, float* y) { y[threadIdx.x] = x[2 * threadIdx.x]; }
extern "C" __global__ void stride_8(const float* x, float* y) { y[threadIdx.x] = x[8 * threadIdx.x]; }
extern "C" __global__ void stride_32(const float* x, float* y) { y[32 * threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void misaligned(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x + 1]; }
extern "C" __global__ void broadcast(const float* x, float* y) { y[threadIdx.x] = x[5]; }
extern "C" __global__ void reversed(const float* x, float* y) { y[threadIdx.x] = x[31 - threadIdx.x]; }
extern "C" __global__ void half_a_warp(const float* x, float* y) { if (threadIdx.x < 16) y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void vector_4(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void vector_2(const float2* x, float2* y) { y[threadIdx.x] = x[threadIdx.x]; }
struct alignas(16) Pack {
    float item[4];
};
extern "C" __global__ void pack_4(const float* x, float* y) {
    Pack p = ((const Pack*)x)[threadIdx.x];
    for (int j = 0; j < 4; j++) p.item[j] *= 2;
    ((Pack*)y)[threadIdx.x] = p;
}
extern "C" __global__ void doubles(const double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void bytes(const char* x, char* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void structs(const float* x, float* y) {
    y[threadIdx.x] = x[3 * threadIdx.x + 1];
}
extern "C" __global__ void four_scalars(const float* x, float* y) {
    float sum = 0.0f;
    for (int j = 0; j < 4; j++) sum += x[4 * threadIdx.x + j];
    y[threadIdx.x] = sum;
}
extern "C" __global__ void rows_by_thread(const float* x, float* y) {
    float sum = 0.0f;
    for (int j = 0; j < 32; j++) sum += x[32 * threadIdx.x + j];
    y[threadIdx.x] = sum;
}
extern "C" __global__ void columns_by_thread(const float* x, float* y) {
    float sum = 0.0f;
    for (int j = 0; j < 32; j++) sum += x[32 * j + threadIdx.x];
    y[threadIdx.x] = sum;
}
extern "C" __global__ void atomic_one_place(const float* x, float* y) { atomicAdd(&y[0], x[threadIdx.x]); }
extern "C" __global__ void shared_stride(float* y, int stride) {
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) s[i] = i;
    __syncthreads();
    y[threadIdx.x] = s[(stride * threadIdx.x) % 1024];  // read
}
extern "C" __global__ void shared_vector(float4* y) {
    __shared__ float4 s[32];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);  // write
    __syncthreads();
    y[threadIdx.x] = s[31 - threadIdx.x];
}
extern "C" __global__ void shared_double(double* y) {
    __shared__ double s[32];
    s[threadIdx.x] = threadIdx.x;  // write
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void shared_broadcast(float* y) {
    __shared__ float s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[7];  // read
}
extern "C" __global__ void shared_two_words_a_bank(float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = 1.0f, s[threadIdx.x + 32] = 2.0f;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x % 2 ? threadIdx.x + 31 : threadIdx.x];  // read
}
extern "C" __global__ void transpose_naive(const float* x, float* y, int n) {
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    y[column * n + row] = x[row * n + column];
}
extern "C" __global__ void transpose_tiled(const float* x, float* y, int n) {
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[(threadIdx.y + j) * n + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        y[(threadIdx.y + j) * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];  // read
}
extern "C" __global__ void transpose_padded(const float* x, float* y, int n) {
    __shared__ float tile[32][33];
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[(threadIdx.y + j) * n + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        y[(threadIdx.y + j) * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];  // read
}
extern "C" __global__ void shared_pairs(float4* y, int step) {
    __shared__ float4 s[32];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x / step];  // read
}
