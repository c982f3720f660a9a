"""Open challenge: 64 x 64 numbers of a product by 256 threads, with as few bytes as possible."""

import numpy as np

from course_lib.coach.exercise import Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import multiplied, products

SIZES = {"two by two": (2, 2, 2), "one number": (1, 1, 1), "one row": (1, 20, 9), "one column": (20, 1, 9),
         "several blocks, ragged": (70, 66, 21), "64 by 64": (64, 64, 64),
         "a long sum": (5, 3, 130)}  # fmt: skip


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
    call=multiplied(64, 256),
    measured="64 by 64",
    flops=2 * 64**3,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "In ours each tile of 16 x 16 loads its own rows of A and columns of B, so A is loaded four times. What if four "
        "tiles shared one load?",
        "A thread may keep several sums at once, float sum[16]. Load a slice of A with 64 rows and a slice of B with 64 "
        "columns, and let each thread use them for all its 16 results.",
        "__shared__ float a[64][16], b[16][64]; x = threadIdx.x % 16, y = threadIdx.x / 16. In each iteration a thread "
        "loads 4 numbers of each, zeros outside; a barrier; the sums; a barrier. It owns the rows y, y + 16, y + 32, y + 48 "
        "and the columns x, x + 16, x + 32, x + 48 of the block, and writes those that C has.",
    ),
    example='''// y (M) = A (M, K) v: a block of 64 threads for 64 rows, v loaded into shared memory once for all of them.
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
    wrong=[
        Wrong(Changed(("part < 16; part++", "part < 1; part++")),
              "Only 16 x 16 numbers of each block's 64 x 64 are written. A thread has 16 of them to compute.",
              like=one_tile_only),
        Wrong(Changed(("k < K; k += 16", "k < min(K, 64); k += 16")),
              "Only the first 64 terms of each sum are there, and K may be larger: loop over all of it.",
              like=lambda A, B: A[:, :64] @ B[:64]),
        Wrong(Changed(("k < K; k += 16", "k < 16; k += 16")),
              "Only the first 16 terms of each sum are there: loop over all of K.", like=lambda A, B: A[:, :16] @ B[:16]),
        Wrong(Changed(("        float sum = 0.0f;", "        if (i >= M || j >= N) continue;\n        float sum = 0.0f;")),
              "Threads of a block do not reach the same barriers: a loop or a condition "
              "around a barrier must be the same for all.",
              when=lambda seen: bool(seen.kinds & {"missed-barrier", "divergent-barrier"})),
        Wrong(Changed(("part / 4 * 16 + y", "part % 4 * 16 + y")), generic="nan"),
    ],
)  # fmt: skip
