"""Right answers to the exercises of chapter 8c, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "bfloat16_gap": [
        "def bfloat16_gap(x):\n    return 2.0 ** (math.frexp(x)[1] - 8)",
        """def bfloat16_gap(x):
    power = 1.0
    while power > x:
        power /= 2
    while 2 * power <= x:
        power *= 2
    return power / 128
""",
    ],
    "wmma_transposed": [
        Changed(("A + k * M + blockIdx.y * 16", "&A[16 * blockIdx.y + M * k]"),
                ("B + k * N + blockIdx.x * 16", "&B[16 * blockIdx.x + N * k]")),
        Changed(("wmma::load_matrix_sync(left,", "const __nv_bfloat16* row = B + k * N;\n        wmma::load_matrix_sync(left,"),
                ("B + k * N + blockIdx.x * 16", "row + blockIdx.x * 16")),
    ],
    "lane_of_sum": [
        """def lane_of_sum(row, column):
    g, t = row % 8, column // 2
    index = column - 2 * t
    if row >= 8:
        index += 2
    return 4 * g + t, index
""",
        """def lane_of_sum(row, column):
    for lane in range(32):
        g, t = lane // 4, lane % 4
        held = [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]
        if (row, column) in held:
            return lane, held.index((row, column))
""",
    ],
    "warp_matmul": [
        """#include <cuda_bf16.h>
#include <mma.h>

// The result is found turned over: each row of B as a column, each column of A as a row.
__global__ void warp_matmul(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __nv_bfloat16, col_major> b;
    fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> a;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    int row = 16 * blockIdx.y, column = 16 * blockIdx.x;
    for (int step = 0; step < K / 16; ++step) {
        load_matrix_sync(a, &A[row * K + 16 * step], K);
        load_matrix_sync(b, &B[16 * step * N + column], N);
        mma_sync(sum, b, a, sum);
    }
    store_matrix_sync(&C[row * N + column], sum, N, mem_col_major);
}
""",
        """#include <cuda_bf16.h>

// Without tensor cores: each lane has eight numbers.
__global__ void warp_matmul(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    for (int e = threadIdx.x; e < 256; e += 32) {
        int i = blockIdx.y * 16 + e / 16, j = blockIdx.x * 16 + e % 16;
        float sum = 0.0f;
        for (int k = 0; k < K; k++) sum += __bfloat162float(A[i * K + k]) * __bfloat162float(B[k * N + j]);
        C[i * N + j] = sum;
    }
}
""",
    ],
    "bias_gradient": [
        """#include <cuda_bf16.h>
__global__ void bias_gradient(const __nv_bfloat16* dY, float* y, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= N) return;
    float even = 0.0f, odd = 0.0f;
    for (int i = 0; i < M; i += 2) {
        even += (float)dY[i * N + j];
        if (i + 1 < M) odd += (float)dY[(i + 1) * N + j];
    }
    y[j] = even + odd;
}
""",
        """#include <cuda_bf16.h>
__global__ void bias_gradient(const __nv_bfloat16* dY, float* y, int M, int N) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) {
        double sum = 0.0;
        for (const __nv_bfloat16* p = dY + j; p < dY + M * N; p += N) sum += __bfloat162float(*p);
        y[j] = sum;
    }
}
""",
    ],
    "matmul_wmma": [
        Changed(("load_matrix_sync(left[r], &a[y + 16 * r][j], BK + 8)",
                 "load_matrix_sync(left[r], &a[y + 16 * r][j], sizeof(a[0]) / 2)"),
                ("sum[r][s], BN + 4, wmma::mem_row_major", "sum[r][s], sizeof(c[0]) / 4, wmma::mem_row_major")),
        Changed(("bf16 a[BM][BK + 8]", "bf16 a[BM][BK + 16]"),
                ("load_matrix_sync(left[r], &a[y + 16 * r][j], BK + 8)",
                 "load_matrix_sync(left[r], &a[y + 16 * r][j], BK + 16)")),
    ],
    "swizzled_columns": [
        Changed(("chunk ^ (row % 8)", "(chunk + row) % 8")),
        Changed(("chunk ^ (row % 8)", "(chunk ^ row) & 7")),
        Changed(("chunk ^ (row % 8)", "(chunk + 7 * row) % 8")),
    ],
    "async_copy_pipeline": [
        Changed(("cp_async_wait<1>()", "cp_async_wait<0>()")),
        Changed(("cp_async_wait<1>()", "cp_async_wait_all()")),
        Changed(("        ptx::cp_async_wait<1>();\n        __syncthreads();\n",
                 "        if (i + 1 < n) {\n            ptx::cp_async_wait<1>();\n        } else {\n"
                 "            ptx::cp_async_wait<0>();\n        }\n        __syncthreads();\n")),
    ],
    "matmul_backward_a": [
        """#include <cuda_bf16.h>

__global__ void matmul_backward_a(const __nv_bfloat16* dC, const __nv_bfloat16* B, float* dA, int M, int N, int K) {
    for (int e = threadIdx.x; e < 256; e += 32) {
        int i = 16 * blockIdx.y + e / 16, k = 16 * blockIdx.x + e % 16;
        float sum = 0.0f;
        for (int j = 0; j < N; j++) sum += __bfloat162float(dC[i * N + j]) * __bfloat162float(B[k * N + j]);
        dA[i * K + k] = sum;
    }
}
""",
        Changed(("wmma::col_major> right", "wmma::row_major> right"),
                ("    wmma::fragment<wmma::matrix_a", "    __shared__ __align__(32) __nv_bfloat16 turned[16][16];\n"
                 "    wmma::fragment<wmma::matrix_a"),
                ("wmma::load_matrix_sync(right, B + blockIdx.x * 16 * N + n, N);",
                 "for (int e = threadIdx.x; e < 256; e += 32) turned[e % 16][e / 16] = B[(blockIdx.x * 16 + e / 16) * N + n + e "
                 "% 16];\n        __syncwarp();\n        wmma::load_matrix_sync(right, &turned[0][0], 16);\n        "
                 "__syncwarp();")),
    ],
    "matmul_wmma_few_bytes": [
        """#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
// A warp owns 32 x 32, and slices in shared memory serve all four.
__global__ void matmul_wmma_few_bytes(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    __shared__ __align__(32) __nv_bfloat16 a[64][24], b[16][72];
    int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
    int warp = threadIdx.x / 32, y = warp / 2 * 32, x = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++) wmma::fill_fragment(sum[r][s], 0.0f);
    for (int k = 0; k < K; k += 16) {
        for (int e = threadIdx.x; e < 1024; e += 128) {
            a[e / 16][e % 16] = A[(first_row + e / 16) * K + k + e % 16];
            b[e / 64][e % 64] = B[(k + e / 64) * N + first_column + e % 64];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right[2];
        for (int r = 0; r < 2; r++) {
            wmma::load_matrix_sync(left[r], &a[y + 16 * r][0], 24);
            wmma::load_matrix_sync(right[r], &b[0][x + 16 * r], 72);
        }
        for (int r = 0; r < 2; r++)
            for (int s = 0; s < 2; s++) wmma::mma_sync(sum[r][s], left[r], right[s], sum[r][s]);
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            wmma::store_matrix_sync(C + (first_row + y + 16 * r) * N + first_column + x + 16 * s, sum[r][s], N,
                                    wmma::mem_row_major);
}
""",
        """#include <cuda_bf16.h>
__global__ void matmul_wmma_few_bytes(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
    for (int e = threadIdx.x; e < 64 * 64; e += 128) {
        int i = blockIdx.y * 64 + e / 64, j = blockIdx.x * 64 + e % 64;
        float sum = 0.0f;
        for (int k = 0; k < K; k++) sum += __bfloat162float(A[i * K + k]) * __bfloat162float(B[k * N + j]);
        C[i * N + j] = sum;
    }
}
""",
    ],
}  # fmt: skip
