"""Open challenge: 64 x 64 numbers of a product by 256 threads, with as few bytes as possible."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Changed, Exercise, Goal, Mistake, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.trials import multiply, products

SIZES = {"two by two": (2, 2, 2), "one number": (1, 1, 1), "one row": (1, 20, 9), "one column": (20, 1, 9),
         "several blocks, ragged": (70, 66, 21), "64 by 64": (64, 64, 64)}  # fmt: skip


def launch(kernel, A, B):
    arrays = cuda.asarray(A), cuda.asarray(B)
    return multiply(kernel, *arrays, len(A), B.shape[1], len(B), 64, 256)


def one_tile_only(A, B):
    """256 threads, a number each: the first 16 x 16 of each 64 x 64."""
    C = np.full((len(A), B.shape[1]), np.nan, np.float32)
    for i in range(0, len(A), 64):
        for j in range(0, B.shape[1], 64):
            C[i : i + 16, j : j + 16] = (A @ B)[i : i + 16, j : j + 16]
    return C


exercise = Exercise(
    title="Challenge: a product with few bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="matmul_few_bytes",
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=launch,
    measured="64 by 64",
    flops=2 * 64**3,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    mistakes=[
        Mistake("Only 16 x 16 numbers of each block's 64 x 64 are written. A thread has 16 of them to compute.",
                like=one_tile_only),
        Mistake("Only the first 16 terms of each sum are there: go on over all of K.", like=lambda A, B: A[:, :16] @ B[:16]),
        Mistake("Threads of a block do not go through the same barriers: a loop or a condition around a barrier must be the "
                "same for all.",
                when=lambda seen: bool(seen.kinds & {"missed-barrier", "divergent-barrier"})),
    ],
    hints=(
        "In ours each tile of 16 x 16 fetches its own rows of A and columns of B, so A is fetched four times over. What if "
        "four tiles shared "
        "a fetch?",
        "A thread may keep several sums at once, float sum[16]. Fetch a slice of A with 64 rows and a slice of B with 64 "
        "columns, and let "
        "each thread use them for all its 16 places.",
        "__shared__ float a[64][16], b[16][64]; in each round 256 threads fetch 4 numbers of each; thread (x, y) owns the rows "
        "y, y + 16, "
        "y + 32, y + 48 and the columns x, x + 16, x + 32, x + 48.",
    ),
    sibling='''// y (M) = A (M, K) v: a block of 64 threads for 64 rows, v fetched into shared memory once for all of them.
__global__ void matrix_vector(const float* A, const float* v, float* y, int M, int K) {
    __shared__ float part[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 64) {
        part[threadIdx.x] = k + threadIdx.x < K ? v[k + threadIdx.x] : 0.0f;
        __syncthreads();
        for (int t = 0; t < 64 && k + t < K; t++)
            if (i < M) sum += A[i * K + k + t] * part[t];
        __syncthreads();
    }
    if (i < M) y[i] = sum;
}
''',
    right=[
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
    wrong=[
        Wrong(Changed(("part < 16; part++", "part < 1; part++")), "Only 16 x 16 numbers"),
        Wrong(Changed(("k < K; k += 16", "k < 16; k += 16")), "Only the first 16 terms"),
        Wrong(Changed(("        float sum = 0.0f;", "        if (i >= M || j >= N) continue;\n        float sum = 0.0f;")),
              "must be the same for all"),
        Wrong(Changed(("part / 4 * 16 + y", "part % 4 * 16 + y")), "nan"),
    ],
)  # fmt: skip
