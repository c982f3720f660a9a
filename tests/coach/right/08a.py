"""Right answers to the exercises of chapter 8a, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "transposed_product": [
        """__global__ void transposed_product(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = threadIdx.x + blockDim.x * blockIdx.x;
    int row = threadIdx.y + blockDim.y * blockIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = K - 1; k >= 0; k--) {
        const float* left = A + k * M;
        sum += left[row] * B[column + k * N];
    }
    C[row * N + column] = sum;
}
""",
        Changed(("float sum = 0.0f;", "C[row * N + column] = 0.0f;"),
                ("sum += A[k * M + row]", "C[row * N + column] += A[row + M * k]"),
                ("        C[row * N + column] = sum;\n", "")),
    ],
    "tile_reads": [
        "def tile_reads(M, N, K, TM, TN):\n    return M * K * (N // TN) + K * N * (M // TM)",
        """def tile_reads(M, N, K, TM, TN):
    count = 0
    for row in range(0, M, TM):
        for column in range(0, N, TN):
            count += K * TM + K * TN
    return count
""",
    ],
    "ranks": [
        Changed(("if (first + t < m) part[t] = b[first + t];", "part[t] = first + t < m ? b[first + t] : INFINITY;"),
                (" && first + u < m", "")),
        Changed(("        __syncthreads();\n        for",
                 "        __syncthreads();\n        int end = min(T, m - first);\n        for"),
                ("u < T && first + u < m", "u < end"), ("count += part[u] < own;", "if (own > part[u]) count++;")),
    ],
    "count_wavefronts": [
        """def count_wavefronts(words):
    banks = [0] * 32
    for word in set(words):
        banks[word % 32] += 1
    return max(banks)
""",
        "def count_wavefronts(words):\n    return int(np.bincount(np.unique(words) % 32).max())",
    ],
    "matmul_shared_tiles": [
        """template <int TILE>
__global__ void matmul_shared_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float left[TILE * TILE];
    __shared__ float right[TILE * TILE];
    int mine = threadIdx.y * TILE + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.0f;
    int count = (K + TILE - 1) / TILE;
    for (int t = 0; t < count; t++) {
        int k = t * TILE + threadIdx.x;
        left[mine] = 0.0f;
        if (row < M && k < K) left[mine] = A[row * K + k];
        k = t * TILE + threadIdx.y;
        right[mine] = 0.0f;
        if (column < N && k < K) right[mine] = B[k * N + column];
        __syncthreads();
        for (int j = 0; j < TILE; ++j) total += left[threadIdx.y * TILE + j] * right[j * TILE + threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = total;
}
""",
        """// The barrier stands before the fetch, and the sum ends where K ends.
template <int TILE>
__global__ void matmul_shared_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    const bool inside = row < M && column < N;
    float sum = 0.0f;
    for (int k = 0; k < K; k += TILE) {
        __syncthreads();
        if (row < M && k + x < K) a[y][x] = A[row * K + k + x];
        if (column < N && k + y < K) b[y][x] = B[(k + y) * N + column];
        __syncthreads();
        if (inside)
            for (int j = 0; j < min(TILE, K - k); j++) sum += a[y][j] * b[j][x];
    }
    if (inside) C[row * N + column] = sum;
}
""",
    ],
    "transpose": [
        """__global__ void transpose(const float* x, float* y, int M, int N) {
    __shared__ float tile[32 * 33];
    int first_row = blockIdx.y * blockDim.y, first_column = blockIdx.x * blockDim.x;
    int tx = threadIdx.x, ty = threadIdx.y;
    if (first_row + ty < M && first_column + tx < N) tile[tx * 33 + ty] = x[(first_row + ty) * N + first_column + tx];
    __syncthreads();
    if (first_column + ty < N && first_row + tx < M) y[(first_column + ty) * M + first_row + tx] = tile[ty * 33 + tx];
}
""",
        """// Without padding: each row of the tile is moved round by its own number.
__global__ void transpose(const float* x, float* y, int M, int N) {
    __shared__ float tile[32][32];
    int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    float own = i < M && j < N ? x[i * N + j] : 0.0f;
    tile[threadIdx.y][(threadIdx.x + threadIdx.y) % 32] = own;
    __syncthreads();
    i = blockIdx.y * 32 + threadIdx.x, j = blockIdx.x * 32 + threadIdx.y;
    if (i < M && j < N) y[j * M + i] = tile[threadIdx.x][(threadIdx.y + threadIdx.x) % 32];
}
""",
    ],
    "weight_gradient": [
        """__global__ void weight_gradient(const float* X, const float* dY, float* dW, int M, int N, int K) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int k = blockIdx.y * 8 + y, n = blockIdx.x * 8 + x;
    int column = blockIdx.y * 8 + x;
    bool mine = k < K && n < N;
    float sum = 0.0f;
    for (int m = 0; m < M; m += 8) {
        __syncthreads();
        a[y][x] = m + y < M && column < K ? X[(m + y) * K + column] : 0.0f;
        b[y][x] = m + y < M && n < N ? dY[(m + y) * N + n] : 0.0f;
        __syncthreads();
        if (mine) {
            for (int t = 0; t < 8; t++) sum += a[t][y] * b[t][x];
        }
    }
    if (mine) dW[k * N + n] = sum;
}
""",
        """// Without tiles: each thread alone, and so without a barrier.
__global__ void weight_gradient(const float* X, const float* dY, float* dW, int M, int N, int K) {
    int k = blockIdx.y * 8 + threadIdx.y, n = blockIdx.x * 8 + threadIdx.x;
    if (k >= K || n >= N) return;
    float sum = 0.0f;
    for (int m = 0; m < M; m++) sum += X[m * K + k] * dY[m * N + n];
    dW[k * N + n] = sum;
}
""",
    ],
    "pairwise_distances": [
        Changed(("b[16][17]", "b[16][16 + 1]"), ("float apart = a[y][t] - b[x][t];", "float apart = b[x][t] - a[y][t];")),
        """// The tile of Y is turned over while it is fetched.
__global__ void pairwise_distances(const float* X, const float* Y, float* D, int M, int N, int K) {
    __shared__ float a[16][17], b[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x, other = blockIdx.x * 16 + y;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 16) {
        a[y][x] = i < M && k + x < K ? X[i * K + k + x] : 0.0f;
        b[x][y] = other < N && k + x < K ? Y[other * K + k + x] : 0.0f;
        __syncthreads();
        for (int t = 0; t < 16 && k + t < K; t++) sum += (a[y][t] - b[t][x]) * (a[y][t] - b[t][x]);
        __syncthreads();
    }
    if (i < M && j < N) D[i * N + j] = sum;
}
""",
    ],
    "matmul_few_bytes": [
        """__global__ void matmul_few_bytes(const float* A, const float* B, float* C, int M, int N, int K) {
    for (int e = threadIdx.x; e < 64 * 64; e += 256) {
        int i = blockIdx.y * 64 + e / 64, j = blockIdx.x * 64 + e % 64;
        if (i < M && j < N) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
    }
}
""",
        """// Every number once: 16 sums in each thread.
__global__ void matmul_few_bytes(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[64][16], b[16][64];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int e = threadIdx.x; e < 1024; e += 256) {
            int i = row + e / 16, p = k + e % 16, q = k + e / 64, j = column + e % 64;
            a[e / 16][e % 16] = i < M && p < K ? A[i * K + p] : 0.0f;
            b[e / 64][e % 64] = q < K && j < N ? B[q * N + j] : 0.0f;
        }
        __syncthreads();
        for (int t = 0; t < 16; t++)
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 4; c++) sum[r][c] += a[y + 16 * r][t] * b[t][x + 16 * c];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            int i = row + y + 16 * r, j = column + x + 16 * c;
            if (i < M && j < N) C[i * N + j] = sum[r][c];
        }
}
""",
    ],
}  # fmt: skip
