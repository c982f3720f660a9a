"""Open challenge: 64 x 64 numbers of a product by 64 threads, with as few requests to shared memory as possible."""

from course_lib.coach.exercise import Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests
from course_lib.coach.shared_cases import multiplied, products

SIZES = {"two by two": (2, 2, 2), "one number": (1, 1, 1), "one row": (1, 20, 9), "one column": (20, 1, 9),
         "several blocks, ragged": (70, 66, 21), "128 by 128": (128, 128, 64),
         "a long sum": (5, 3, 130)}  # fmt: skip


exercise = Exercise(
    title="Challenge: a product with few requests to shared memory",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="matmul_few_requests",
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=multiplied(64, 64),
    measured="128 by 128",
    flops=2 * 128 * 128 * 64,
    goals=[Goal("requests to shared memory", requests(None, "shared"))],
    hints=(
        "Count ours: for each term a warp reads 8 numbers of A and 8 of B, 16 requests. Which of them could be adjacent in "
        "shared memory?",
        "If a thread owns four columns side by side, one float4 brings all four of them: groups of four that are spread, "
        "as in kernel 6. For the "
        "rows, store the slice of A transposed, a[t][r]: then the rows of one term are adjacent.",
        "x = threadIdx.x % 8, y = threadIdx.x / 8; `__shared__ __align__(16) float b[8][64];`, then for each term t of the "
        "slice `const float4 four = *(const float4*)&b[t][4 * x];` and the next group 32 columns on; a[t] likewise with y. "
        "And the load may write float4 too.",
    ),
    example='''// Sums of the rows of x (M, 64), read four at a time; a warp for each row.
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
    wrong=[
        Wrong(Changed(("k < K; k += 8", "k < min(K, 64); k += 8")),
              "Only the first 64 terms of each sum are there, and K may be larger: loop over all of it.",
              like=lambda A, B: A[:, :64] @ B[:64]),
        Wrong(Changed(("k < K; k += 8", "k < 8; k += 8")), "Only the first slice of 8 terms is summed: loop over all of K.",
              like=lambda A, B: A[:, :8] @ B[:8]),
        Wrong(Changed(("    float sum[8][8] = {};", "    if (first_row + y >= M) return;\n    float sum[8][8] = {};")),
              "Threads of a block do not reach the same barriers: a loop or a condition "
              "around a barrier must be the same for all.",
              when=lambda seen: bool(seen.kinds & {"missed-barrier", "divergent-barrier"})),
        Wrong(Changed(("a[8][64 + 4]", "a[8][64 + 1]"),
                      ("left[r] = a[t][y + 8 * r];",
                          "{\n                float4 four = *(const float4*)&a[t][(y + 8 * r) / 4 * 4];\n"
                       "                left[r] = y % 4 == 0 ? four.x : y % 4 == 1 ? four.y : "
                       "y % 4 == 2 ? four.z : four.w;\n            }")),
              "A float4 must begin at a multiple of 16 bytes. In shared memory that requires rows whose length is a "
              "multiple of 4, and __align__(16) before the array; in A and B it requires rows of "
              "such a length, which not all cases have.", when=lambda seen: "misaligned-access" in seen.kinds),
        Wrong(Changed(("                for (int c = 0; c < 8; c++) sum", "                for (int c = 0; c < 7; c++) sum")),
              generic="Every wrong element is 0"),
    ],
)  # fmt: skip
