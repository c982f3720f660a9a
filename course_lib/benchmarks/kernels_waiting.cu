// What `course bench kernels` runs: kernels whose threads wait for each other.
#define FULL 0xffffffffu

template <int TILE> __global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += TILE) {
        a[y][x] = row < M && k + x < K ? A[row * K + k + x] : 0.0f;
        b[y][x] = k + y < K && column < N ? B[(k + y) * N + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += a[y][j] * b[j][x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

// 64 threads make a 64 x 64 tile, each an 8 x 8 part of it in registers. Sizes are multiples of 64.
extern "C" __global__ void matmul_registers(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[8][64], b[8][64];
    int x = threadIdx.x % 8, y = threadIdx.x / 8, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[8][8] = {};
    for (int k = 0; k < K; k += 8) {
        for (int j = 0; j < 8; j++) {
            a[j][threadIdx.x] = A[(row + threadIdx.x) * K + k + j];
            b[j][threadIdx.x] = B[(k + j) * N + column + threadIdx.x];
        }
        __syncthreads();
        for (int j = 0; j < 8; j++)
            for (int r = 0; r < 8; r++)
                for (int c = 0; c < 8; c++) sum[r][c] += a[j][8 * y + r] * b[j][8 * x + c];
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) C[(row + 8 * y + r) * N + column + 8 * x + c] = sum[r][c];
}

__device__ inline float warp_sum(float v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(FULL, v, step);
    return v;
}

__device__ inline float block_sum(float v, float* parts) {
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < blockDim.x / 32; i++) v += parts[i];
    __syncthreads();
    return v;
}

extern "C" __global__ void layernorm_block(const float* x, const float* g, const float* b, float* y, int C, float eps) {
    __shared__ float parts[32];
    x += blockIdx.x * C, y += blockIdx.x * C;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < C; i += blockDim.x) sum += x[i];
    float mean = block_sum(sum, parts) / C;
    for (int i = threadIdx.x; i < C; i += blockDim.x) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(block_sum(squares, parts) / C + eps);
    for (int i = threadIdx.x; i < C; i += blockDim.x) y[i] = (x[i] - mean) * scale * g[i] + b[i];
}

extern "C" __global__ void layernorm_warp(const float* x, const float* g, const float* b, float* y, int R, int C, float eps) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= R) return;
    x += row * C, y += row * C;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < C; i += 32) sum += x[i];
    float mean = warp_sum(sum) / C;
    for (int i = lane; i < C; i += 32) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(warp_sum(squares) / C + eps);
    for (int i = lane; i < C; i += 32) y[i] = (x[i] - mean) * scale * g[i] + b[i];
}

extern "C" __global__ void softmax_warp(const float* x, float* y, int R, int C) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= R) return;
    x += row * C, y += row * C;
    float top = -INFINITY, sum = 0.0f;
    for (int i = lane; i < C; i += 32) top = fmaxf(top, x[i]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(FULL, top, step));
    for (int i = lane; i < C; i += 32) {
        float e = expf(x[i] - top);
        y[i] = e;
        sum += e;
    }
    sum = warp_sum(sum);
    for (int i = lane; i < C; i += 32) y[i] /= sum;
}

// Causal flash attention, forward: 32 queries a block, keys and values in tiles of 32. D is 32, 64 or 128.
extern "C" __global__ void flash_forward(const float* Q, const float* K, const float* V, float* O, float* L, int T, int D,
                                         float scale) {
    extern __shared__ float space[];
    const int W = D + 1, x = threadIdx.x, y = threadIdx.y, thread = 32 * y + x, first = 32 * blockIdx.x;
    float *q = space, *k = q + 32 * W, *v = k + 32 * W, *p = v + 32 * W;
    const size_t head = (size_t)blockIdx.y * T * D;
    for (int i = thread; i < 32 * D; i += 256) q[i / D * W + i % D] = Q[head + first * D + i];
    float sum[4][4] = {}, top[4], total[4] = {};
    for (int r = 0; r < 4; r++) top[r] = -INFINITY;
    for (int key = 0; key <= first; key += 32) {
        __syncthreads();
        for (int i = thread; i < 32 * D; i += 256) {
            k[i / D * W + i % D] = K[head + key * D + i];
            v[i / D * W + i % D] = V[head + key * D + i];
        }
        __syncthreads();
        for (int r = 0; r < 4; r++) {
            int row = 4 * y + r;
            float s = 0.0f;
            for (int d = 0; d < D; d++) s += q[row * W + d] * k[x * W + d];
            s = key + x > first + row ? -INFINITY : s * scale;
            float high = s;
            for (int step = 16; step > 0; step /= 2) high = fmaxf(high, __shfl_xor_sync(FULL, high, step));
            high = fmaxf(top[r], high);
            float e = expf(s - high), shrink = expf(top[r] - high);
            total[r] = total[r] * shrink + warp_sum(e);
            top[r] = high;
            for (int j = 0; j < D / 32; j++) sum[r][j] *= shrink;
            p[row * 33 + x] = e;
        }
        __syncwarp();
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 32; c++)
                for (int j = 0; j < D / 32; j++) sum[r][j] += p[(4 * y + r) * 33 + c] * v[c * W + x + 32 * j];
    }
    for (int r = 0; r < 4; r++) {
        int row = first + 4 * y + r;
        for (int j = 0; j < D / 32; j++) O[head + (size_t)row * D + x + 32 * j] = sum[r][j] / total[r];
        if (x == 0) L[(size_t)blockIdx.y * T + row] = top[r] + logf(total[r]);
    }
}
