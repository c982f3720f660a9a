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

__global__ void add(float* out, const float* x) { out[threadIdx.x] = x[threadIdx.x] + 1; }

// Memory that host and device share, before and after the host has waited. Two calls look alike; the first of each is wrong.
float shared_with_the_host(float* device, float sum) {
    float *managed, *pinned;
    cudaStream_t stream, other;
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    cudaMallocManaged(&managed, 128 * sizeof(float));
    cudaMallocHost(&pinned, 64 * sizeof(float));
    for (int i = 0; i < 128; i++) managed[i] = i;
    add<<<1, 64>>>(managed, device);
    sum += managed[64];                                        // which the kernel leaves alone
    sum += managed[63];                                        // expect: race
    cudaDeviceSynchronize();
    sum += managed[62];
    add<<<1, 64, 0, stream>>>(device, managed);
    sum += managed[1];                                         // both read
    managed[2] = 1;                                            // expect: race
    cudaStreamSynchronize(stream);
    managed[3] = 1;
    cudaMemcpyAsync(pinned, device, 64 * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(other);
    sum += pinned[4];                                          // expect: race
    cudaStreamSynchronize(stream);
    sum += pinned[5];
    cudaMemcpyAsync(device, pinned, 64 * sizeof(float), cudaMemcpyHostToDevice, stream);
    sum += pinned[6];
    pinned[7] = 1;                                             // expect: race
    cudaFreeHost(pinned);
    cudaFree(managed);
    return sum;
}

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
    sum = shared_with_the_host(x, sum);
    printf("%g\n", sum);
    cudaFree(x);
    cudaFree(y);
    cudaFree(y);                                               // expect: api-error
    return 0;
}
