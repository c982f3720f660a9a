"""Open challenge: 64 x 64 numbers of a product by 64 threads, with as few requests to shared memory as possible."""

from course_lib import cuda
from course_lib.coach.exercise import Changed, Exercise, Goal, Mistake, Wrong
from course_lib.coach.trials import multiply, products

SIZES = {"two by two": (2, 2, 2), "one number": (1, 1, 1), "one row": (1, 20, 9), "one column": (20, 1, 9),
         "several blocks, ragged": (70, 66, 21), "128 by 128": (128, 128, 64)}  # fmt: skip


def launch(kernel, A, B):
    arrays = cuda.asarray(A), cuda.asarray(B)
    return multiply(kernel, *arrays, len(A), B.shape[1], len(B), 64, 64)


def shared_requests(reports):
    lines = [line for report in reports for line in report.lines]
    return float(sum(x.requests for x in lines if x.space == "shared")) if lines else None


exercise = Exercise(
    title="Challenge: a product that seldom asks shared memory",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="matmul_few_requests",
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=launch,
    measured="128 by 128",
    flops=2 * 128 * 128 * 64,
    goals=[Goal("requests to shared memory", shared_requests)],
    mistakes=[
        Mistake("Only the first slice of 8 terms is summed up: go on over all of K.", like=lambda A, B: A[:, :8] @ B[:8]),
        Mistake("Threads of a block do not go through the same barriers: a loop or a condition around a barrier must be the "
                "same for all.",
                when=lambda seen: bool(seen.kinds & {"missed-barrier", "divergent-barrier"})),
        Mistake("A float4 must begin at a multiple of 16 bytes. In shared memory that asks for rows whose length is a multiple "
                "of 4, and for "
                "__align__(16) before the array; in A and B for rows of such a length, which not all cases have.",
                when=lambda seen: "misaligned-access" in seen.kinds),
    ],
    hints=(
        "Count ours: for each term a warp reads 8 numbers of A and 8 of B, 16 requests. Which of them are neighbours in shared "
        "memory?",
        "If a thread owns four columns side by side, one float4 brings all four of them: groups of four that are spread, as in "
        "rung 6. For the "
        "rows, the slice of A must lie with the terms along its rows: it does.",
        "`const float4 four = *(const float4*)&b[t][4 * x];` and the next group 32 columns on. And the fetch may write float4 "
        "too.",
    ),
    sibling='''// Sums of the rows of x (M, 64), read four at a time; a warp for each row.
__global__ void row_sums(const float* x, float* y, int M) {
    __shared__ __align__(16) float row[64];
    int i = blockIdx.x;
    if (threadIdx.x < 16) *(float4*)&row[4 * threadIdx.x] = *(const float4*)(x + i * 64 + 4 * threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 64; k += 4) {
            float4 four = *(const float4*)&row[k];
            sum += four.x + four.y + four.z + four.w;
        }
        y[i] = sum;
    }
}
''',
    right=[
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
    wrong=[
        Wrong(Changed(("k < K; k += 8", "k < 8; k += 8")), "Only the first slice"),
        Wrong(Changed(("    float sum[8][8] = {};", "    if (first_row + y >= M) return;\n    float sum[8][8] = {};")), "must "
                                                                                                                        "be "
                                                                                                                        "the "
                                                                                                                        "same "
                                                                                                                        "for "
                                                                                                                        "all"),
        Wrong(Changed(("a[8][64 + 4]", "a[8][64 + 1]"),
                      ("left[r] = a[t][y + 8 * r];",
                          "{\n                float4 four = *(const float4*)&a[t][(y + 8 * r) / 4 * 4];\n"
                       "                left[r] = y % 4 == 0 ? four.x : y % 4 == 1 ? four.y : "
                       "y % 4 == 2 ? four.z : four.w;\n            }")),
              "begin at a multiple of 16 bytes"),
        Wrong(Changed(("                for (int c = 0; c < 8; c++) sum", "                for (int c = 0; c < 7; c++) sum")),
              "elements of the result are wrong"),
    ],
)  # fmt: skip
