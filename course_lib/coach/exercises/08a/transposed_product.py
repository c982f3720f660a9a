"""Which of x and y chooses the column: a product whose left matrix is transposed."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import matrices


def cases(random):
    for label, M, N, K in (("one number", 1, 1, 1), ("2 x 3", 2, 3, 4), ("3 x 2", 3, 2, 1), ("33 x 7", 33, 7, 9),
                           ("3 x 70", 3, 70, 2), ("16 x 32", 16, 32, 3)):  # fmt: skip
        A, B = matrices(random, M, N, K)
        yield Case(label, np.ascontiguousarray(A.T), B)


def launch(kernel, A, B):
    (K, M), N = A.shape, B.shape[1]
    C, side = cuda.empty((M, N)), max(M, N)
    kernel((-(-side // 32), -(-side // 8)), (32, 8), (cuda.asarray(A), cuda.asarray(B), C, M, N, K))
    return C


exercise = Exercise(
    title="A product with a transposed matrix",
    minutes=4,
    core=False,
    language="cuda",
    defines="transposed_product",
    cases=cases,
    reference=lambda A, B: A.T @ B,
    call=launch,
    measured="16 x 32",
    goals=rates(24_000, write=4.0),  # twice and a half what ours moves
    hints=("Lanes differ in threadIdx.x, so it is the column. If row < M and column < N: the sum over k of A[k * M + row] * "
           "B[k * N + column], to C[row * N + column].",),
    wrong=[
        Wrong(Changed(("int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;",
                       "int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;")),
              generic="the goal is not reached"),
        Wrong(Changed(("A[k * M + row]", "A[row * K + k]")),
              "This reads A as if it had the shape (M, K). Here its rows have M numbers: element (k, row).",
              like=lambda A, B: A.reshape(A.shape[1], -1) @ B),
        Wrong(Changed(("A[k * M + row]", "A[k * K + row]")), generic="accesses an array out of bounds: line 5"),
    ],
)  # fmt: skip
