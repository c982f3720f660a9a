// What test_arm64.py runs on another processor: every way to wait, once.
extern "C" __global__ void arm(const float* x, float* out, int n) {
    __shared__ float tile[96];
    int t = threadIdx.x, lane = t % 32;
    if (t >= n) return;
    tile[t] = x[t];
    float inside = 0.0f;
    for (int i = 0; i < 3; i++) {
        __syncthreads();
        inside += tile[(t + i) % n];
    }
    float sum = inside;
    if (t < 64)
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    unsigned odd = 0;
    if (lane % 2 && t < 64) odd = __ballot_sync(0xaaaaaaaau, t % 3 == 0);
    int many = __syncthreads_count(t % 5 == 0);
    out[blockIdx.x * n + t] = sum + __popc(odd) + 1000.0f * many;
}
