// One fault of each kind. A comment names what is to be told of its line, or of the line of a launch.
#include <cstdio>

__global__ void past_the_end(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;  // expect: out-of-bounds
}
__global__ void racing(int* x) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;  // expect: race
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void unwritten(const float* given, float* out) {
    out[threadIdx.x] = given[threadIdx.x];  // expect: uninitialised-read
}
__global__ void divided(int* x) {
    if (threadIdx.x < 16) __syncthreads();
    else __syncthreads();  // expect: divergent-barrier
    x[threadIdx.x] = 0;
}
__global__ void of_the_host(const float* given, float* out) { out[threadIdx.x] = given[threadIdx.x]; }  // expect: host-pointer
__global__ void fine(float* x) { x[threadIdx.x] = 1; }

int main() {
    float *x, *y, *kept, host[64] = {};
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    cudaMalloc(&kept, 100);  // expect: leak
    unwritten<<<1, 64>>>(x, y);
    past_the_end<<<1, 128>>>(x, 64);
    racing<<<1, 64>>>((int*)y);
    divided<<<1, 32>>>((int*)y);
    of_the_host<<<1, 1>>>(host, y);
    for (int i = 0; i < 3; i++) fine<<<1, 64>>>(x);
    fine<<<1, 64, 100000>>>(x);                                // expect: api-error
    cudaMemcpy(host, x, 65 * sizeof(float), cudaMemcpyDeviceToHost);  // expect: api-error
    cudaMemcpy(x, y, 64, cudaMemcpyHostToDevice);              // expect: api-error
    float sum = x[1] + 1;                                      // expect: host-access
    printf("%g\n", sum);
    cudaFree(x);
    cudaFree(y);
    cudaFree(y);                                               // expect: api-error
    return 0;
}
