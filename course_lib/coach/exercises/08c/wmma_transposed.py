"""Where a fragment begins, and how far its rows are apart, if the left matrix is transposed."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import bfloat16_bits, matrices


def cases(random):
    for label, M, N, K in (("one fragment", 16, 16, 16), ("two steps", 16, 16, 32),
                           ("2 x 3 tiles, four steps", 32, 48, 64)):  # fmt: skip
        A, B = matrices(random, M, N, K)
        yield Case(label, np.ascontiguousarray(A.T), B)


def launch(kernel, A, B):
    (K, M), N = A.shape, B.shape[1]
    C = cuda.empty((M, N))
    kernel((N // 16, M // 16), 32, (cuda.asarray(bfloat16_bits(A)), cuda.asarray(bfloat16_bits(B)), C, M, N, K))
    return C


exercise = Exercise(
    title="A fragment of a transposed matrix",
    minutes=4,
    core=False,
    language="cuda",
    defines="wmma_transposed",
    cases=cases,
    reference=lambda A, B: A.T @ B,
    call=launch,
    hints=("Both matrices have K rows. Row k of A begins at A + k * M, row k of B at B + k * N. The tile begins 16 * "
           "blockIdx.y numbers further in A, 16 * blockIdx.x in B.",),
    wrong=[
        Wrong(Changed(("A + k * M + blockIdx.y * 16, M", "A + blockIdx.y * 16 * K + k, K")),
              "A is read as if it had the shape (M, K). Its rows have M numbers: row k begins at A + k * M.",
              when=lambda seen: "A+blockIdx.y*16*K+k" in seen.text.replace(" ", "")),
        Wrong(Changed(("B + k * N + blockIdx.x * 16, N", "B + blockIdx.x * 16 * K + k, K")),
              "B is read as if it were stored transposed. It is not: row k begins at B + k * N.",
              when=lambda seen: "B+blockIdx.x*16*K+k" in seen.text.replace(" ", "")),
        Wrong(Changed(("blockIdx.y * 16, M)", "blockIdx.y * 16, K)")),
              "The last argument is the distance from one row to the next in memory. For A that is M.",
              when=lambda seen: "blockIdx.y*16,K)" in seen.text.replace(" ", "")),
        Wrong(Changed(("B + k * N + blockIdx.x * 16", "B + k * N")), "All blocks read the first 16 columns of B.",
              like=lambda A, B: np.tile(A.T @ B[:, :16], (1, B.shape[1] // 16))),
        Wrong(Changed(("A + k * M + blockIdx.y * 16", "A + k * M")), "All blocks read the first 16 columns of A.",
              like=lambda A, B: np.tile(A[:, :16].T @ B, (A.shape[1] // 16, 1))),
    ],
)  # fmt: skip
