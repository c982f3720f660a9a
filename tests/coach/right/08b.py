"""Right answers to the exercises of chapter 8b, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "best_rectangle": [
        """def best_rectangle(sums):
    TM = math.isqrt(sums)
    while sums % TM:
        TM -= 1
    return [TM, sums // TM]
""",
        """def best_rectangle(sums):
    shapes = [(TM, TN) for TM in range(1, sums + 1) for TN in range(TM, sums + 1) if TM * TN == sums]
    return min(shapes, key=sum)
""",
    ],
    "row_times_matrix": [
        """__global__ void row_times_matrix(const float* x, const float* A, float* y, int N, int K) {
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    int first = blockIdx.x * 128 + 4 * threadIdx.x;
    for (int k = 0; k < K; k++) {
        float left = x[k];
        float4 right = *(const float4*)(A + k * N + first);
        sum.x += left * right.x, sum.y += left * right.y, sum.z += left * right.z, sum.w += left * right.w;
    }
    *(float4*)(y + first) = sum;
}
""",
        Changed(("for (int k = 0; k < K; k++) {\n        float left = x[k];",
                 "for (int k = K - 1; k >= 0; k--) {\n        const float left = x[k];")),
    ],
    "sums_of_four": [
        Changed(("float4 v = *(const float4*)(x + 4 * i);", "float4 v = ((const float4*)x)[i];"),
                ("v.x + v.y + v.z + v.w", "(v.x + v.y) + (v.z + v.w)")),
        Changed(("float4 v = *(const float4*)(x + 4 * i);",
                 "const float4* all = (const float4*)x;\n        const float4 v = *(all + i);")),
    ],
    "offset_of_term": [
        """def offset_of_term(transposed, row, term, M, K):
    index = np.arange(M * K)
    return int((index.reshape(K, M).T if transposed else index.reshape(M, K))[row, term])
""",
        """def offset_of_term(transposed, row, term, M, K):
    if not transposed:
        return term + K * row
    return row + M * term
""",
    ],
    "matmul_register_tiles_1d": [
        """// The slice of A is kept turned over, and the rows of a thread are spread.
template <int BM, int BN, int BK, int TM>
__global__ void matmul_register_tiles_1d(const float* A, const float* B, float* C, int M, int N, int K) {
    const int THREADS = BM / TM * BN, STEP = BM / TM;
    __shared__ float a[BK][BM + 4];
    __shared__ float b[BK][BN];
    int x = threadIdx.x % BN, y = threadIdx.x / BN;
    int top = blockIdx.y * BM, column = blockIdx.x * BN + x;
    float sum[TM];
    for (int r = 0; r < TM; r++) sum[r] = 0.0f;
    for (int k = 0; k < K; k += BK) {
        for (int e = threadIdx.x; e < BM * BK; e += THREADS) {
            int i = top + e / BK, t = k + e % BK;
            a[e % BK][e / BK] = i < M && t < K ? A[i * K + t] : 0.0f;
        }
        for (int e = threadIdx.x; e < BK * BN; e += THREADS) {
            int t = k + e / BN, j = blockIdx.x * BN + e % BN;
            b[e / BN][e % BN] = t < K && j < N ? B[t * N + j] : 0.0f;
        }
        __syncthreads();
        for (int t = 0; t < BK; t++) {
            float right = b[t][x];
            for (int r = 0; r < TM; r++) sum[r] += a[t][y + r * STEP] * right;
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++) {
        int row = top + y + r * STEP;
        if (row < M && column < N) C[row * N + column] = sum[r];
    }
}
""",
        Changed(("const float right = b[j][x];", "float right = b[j][x];"), ("sum[r] += a[y + r][j] * right;", "sum[r] = "
                                                                                                               "fmaf(a[y + "
                                                                                                               "r][j], right, "
                                                                                                               "sum[r]);")),
    ],
    "double_buffer": [
        Changed(("        half = 1 - half;\n        a[half]", "        a[half ^ 1]"), ("        b[half][y][x] = next_b;\n",
                "        b[half ^ 1][y][x] = next_b;\n        half ^= 1;\n")),
        Changed(("        half = 1 - half;\n        a[half]", "        __syncthreads();\n        a[half]")),
    ],
    "gemm": [
        Changed(("""            int t = TRANSPOSE_A ? e / BM : e % BK;
            int r = TRANSPOSE_A ? e % BM : e / BK;
            int row = first_row + r, term = k + t;
            size_t offset = TRANSPOSE_A ? (size_t)term * M + row : (size_t)row * K + term;
            a[t][r] = row < M && term < end ? A[offset] : 0.0f;
""", """            if (TRANSPOSE_A) {
                int t = e / BM, r = e % BM;
                a[t][r] = first_row + r < M && k + t < end ? A[(k + t) * M + first_row + r] : 0.0f;
            } else {
                int t = e % BK, r = e / BK;
                a[t][r] = first_row + r < M && k + t < end ? A[(first_row + r) * K + k + t] : 0.0f;
            }
""")),
        """// Strides instead of cases, and sums that are spread.
template <bool TRANSPOSE_A, bool TRANSPOSE_B, int BM, int BN, int BK, int TM, int TN>
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K, long long stride_a, long long stride_b,
                     int split) {
    constexpr int ACROSS = BN / TN, THREADS = BM / TM * ACROSS;
    __shared__ float a[BK][BM + 1], b[BK][BN + 1];
    const int z = blockIdx.z;
    const float *left = A + z * stride_a, *right = B + z * stride_b;
    const int begin = z * split, end = split > 0 && begin + split < K ? begin + split : K;
    const int down = TRANSPOSE_A ? 1 : K, down_k = TRANSPOSE_A ? M : 1, side = TRANSPOSE_B ? K : 1, side_k = TRANSPOSE_B ? 1 : N;
    float sum[TM][TN] = {};
    for (int k = begin; k < end; k += BK) {
        for (int e = threadIdx.x; e < BM * BK; e += THREADS) {
            int r = TRANSPOSE_A ? e % BM : e / BK, t = TRANSPOSE_A ? e / BM : e % BK, i = blockIdx.y * BM + r;
            a[t][r] = i < M && k + t < end ? left[i * down + (k + t) * down_k] : 0.0f;
        }
        for (int e = threadIdx.x; e < BN * BK; e += THREADS) {
            int c = TRANSPOSE_B ? e / BK : e % BN, t = TRANSPOSE_B ? e % BK : e / BN, j = blockIdx.x * BN + c;
            b[t][c] = j < N && k + t < end ? right[j * side + (k + t) * side_k] : 0.0f;
        }
        __syncthreads();
        for (int t = 0; t < BK; t++)
            for (int r = 0; r < TM; r++)
                for (int c = 0; c < TN; c++)
                    sum[r][c] += a[t][threadIdx.x / ACROSS + r * (BM / TM)] * b[t][threadIdx.x % ACROSS + c * ACROSS];
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int c = 0; c < TN; c++) {
            int i = blockIdx.y * BM + threadIdx.x / ACROSS + r * (BM / TM);
            int j = blockIdx.x * BN + threadIdx.x % ACROSS + c * ACROSS;
            if (i < M && j < N) C[((size_t)z * M + i) * N + j] = sum[r][c];
        }
}
""",
    ],
    "transpose_float4": [
        """__global__ void transpose_float4(const float* x, float* y, int M, int N) {
    int i = 4 * (blockIdx.y * blockDim.y + threadIdx.y), j = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= M || j >= N) return;
    const float4* from = (const float4*)(x + i * N + j);
    float4 a = from[0], b = from[N / 4], c = from[2 * N / 4], d = from[3 * N / 4];
    float4* to = (float4*)(y + j * M + i);
    to[0] = make_float4(a.x, b.x, c.x, d.x);
    to[M / 4] = make_float4(a.y, b.y, c.y, d.y);
    to[2 * M / 4] = make_float4(a.z, b.z, c.z, d.z);
    to[3 * M / 4] = make_float4(a.w, b.w, c.w, d.w);
}
""",
        """__global__ void transpose_float4(const float* x, float* y, int M, int N) {
    int i = blockIdx.y * 32 + threadIdx.y * 4, j = blockIdx.x * 32 + threadIdx.x * 4;
    if (i < M && j < N) {
        float piece[4][4];
        for (int r = 0; r < 4; r++) {
            float4 four = *(const float4*)&x[(i + r) * N + j];
            piece[r][0] = four.x, piece[r][1] = four.y, piece[r][2] = four.z, piece[r][3] = four.w;
        }
        for (int c = 0; c < 4; c++) {
            *(float4*)&y[(j + c) * M + i] = make_float4(piece[0][c], piece[1][c], piece[2][c], piece[3][c]);
        }
    }
}
""",
    ],
    "matmul_few_requests": [
        """__global__ void matmul_few_requests(const float* A, const float* B, float* C, int M, int N, int K) {
    for (int e = threadIdx.x; e < 64 * 64; e += 64) {
        int i = blockIdx.y * 64 + e / 64, j = blockIdx.x * 64 + e % 64;
        if (i < M && j < N) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
    }
}
""",
        """// Groups of four, spread: four float4 for each term.
__global__ void matmul_few_requests(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ __align__(16) float a[8][68], b[8][68];
    int top = blockIdx.y * 64, first = blockIdx.x * 64, y = threadIdx.x / 8 * 4, x = threadIdx.x % 8 * 4;
    float sum[8][8] = {};
    for (int k = 0; k < K; k += 8) {
        for (int e = threadIdx.x; e < 512; e += 64) {
            a[e % 8][e / 8] = top + e / 8 < M && k + e % 8 < K ? A[(top + e / 8) * K + k + e % 8] : 0.0f;
            b[e / 64][e % 64] = k + e / 64 < K && first + e % 64 < N ? B[(k + e / 64) * N + first + e % 64] : 0.0f;
        }
        __syncthreads();
        for (int t = 0; t < 8; t++) {
            float left[8], right[8];
            for (int g = 0; g < 2; g++) {
                float4 p = *(const float4*)&a[t][y + 32 * g], q = *(const float4*)&b[t][x + 32 * g];
                left[4 * g] = p.x, left[4 * g + 1] = p.y, left[4 * g + 2] = p.z, left[4 * g + 3] = p.w;
                right[4 * g] = q.x, right[4 * g + 1] = q.y, right[4 * g + 2] = q.z, right[4 * g + 3] = q.w;
            }
            for (int r = 0; r < 8; r++)
                for (int c = 0; c < 8; c++) sum[r][c] += left[r] * right[c];
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) {
            int i = top + y + r / 4 * 32 + r % 4, j = first + x + c / 4 * 32 + c % 4;
            if (i < M && j < N) C[i * N + j] = sum[r][c];
        }
}
""",
    ],
}  # fmt: skip
