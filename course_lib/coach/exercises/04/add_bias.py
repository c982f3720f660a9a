"""A thread for each number of a matrix: a grid in two dimensions, and neighbouring lanes in neighbouring columns."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates

WIDE, HIGH = 32, 4  # threads of a block


def cases(random):
    shapes = {"two rows of three": (2, 3), "one number": (1, 1), "one column": (9, 1), "one row": (1, 50),
              "more rows than columns": (41, 7), "more columns than rows": (5, 70), "blocks that fit": (40, 64)}  # fmt: skip
    for label, (M, N) in shapes.items():
        x = (0.5 + random.integers(-99, 100, size=(M, N))).astype(np.float32)
        yield Case(label, x, (0.25 + 1000 * (1 + np.arange(N))).astype(np.float32))


def launch(kernel, x, bias):
    (M, N), y = x.shape, cuda.empty(x.shape)  # (M, N)
    grid = (N + WIDE - 1) // WIDE, (M + HIGH - 1) // HIGH
    kernel(grid, (WIDE, HIGH), (cuda.asarray(x), cuda.asarray(bias), y, M, N))
    return y


def roles_swapped(x, bias):
    """Rows counted along x and columns along y: the grid does not reach everything."""
    (M, N), y = x.shape, np.full_like(x, np.nan)
    high, wide = WIDE * ((N + WIDE - 1) // WIDE), HIGH * ((M + HIGH - 1) // HIGH)
    y[:high, :wide] = (x + bias)[:high, :wide]
    return y


def outside(seen, beyond):
    """Did a thread whose row i and column j are `beyond` the matrix reach outside of an array?"""
    (M, N) = seen.inputs[0].shape
    places = [(issue.block[1] * HIGH + issue.thread[1], issue.block[0] * WIDE + issue.thread[0])
              for issue in seen.issues if issue.kind == "out-of-bounds"]  # fmt: skip
    return any(beyond(i >= M, j >= N) for i, j in places)


def of_the_row(seen):
    """Was every number given the bias of its row, where there is one?"""
    x, bias = seen.inputs
    own = bias[: len(x), None]
    return seen.got is not None and np.array_equal(seen.got[: len(own)], x[: len(own)] + own)


exercise = Exercise(
    title="Add a bias to each row of a matrix",
    minutes=15,
    language="cuda",
    defines="add_bias",
    cases=cases,
    reference=lambda x, bias: x + bias,
    call=launch,
    measured="blocks that fit",
    goals=rates(1.1 * 12 * 40 * 64, read=4.0, write=4.0),
    hints=(
        "A thread needs two numbers of its own: row i and column j. Each is counted as in one dimension, with its own letter.",
        "j runs along x, i along y. Row i begins at i * N. Both ends need a test: the last blocks stick out at the right "
        "and below.",
        "int i = blockIdx.y * blockDim.y + threadIdx.y; the same with x for j; then if (i < M && j < N) and y[i * N + j] = ...",
    ),
    example='''// The number of each row and column, added: y (M, N).
__global__ void add_numbers(float* y, int M, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && column < N) {
        y[row * N + column] = row + column;
    }
}
''',
    wrong=[
        Wrong(Changed(("bias[j]", "bias[i]")),
              "Each number got the bias of its row. The bias has one number for each column: bias[j].", when=of_the_row),
        Wrong(Changed(("int i = blockIdx.y * blockDim.y + threadIdx.y;", "int i = blockIdx.x * blockDim.x + threadIdx.x;"),
                      ("int j = blockIdx.x * blockDim.x + threadIdx.x;", "int j = blockIdx.y * blockDim.y + threadIdx.y;")),
              "Rows and columns are swapped: x counts along a row, so the column j comes from the numbers ending in "
              ".x, and the row i from those ending in .y.", like=roles_swapped),
        Wrong(Changed(("i < M && j < N", "i < M")),
              "A thread to the right of the matrix took part: its column j is N or more. Such a thread must do nothing.",
              when=lambda seen: outside(seen, lambda below, right: right and not below)),
        Wrong(Changed(("i < M && j < N", "j < N")),
              "A thread below the matrix took part: its row i is M or more. Such a thread must do nothing.",
              when=lambda seen: outside(seen, lambda below, right: below and not right)),
        Wrong(Changed(("y[i * N + j] = x", "int sum = x"), ("+ bias[j];", "+ bias[j];\n        y[i * N + j] = sum;")),
              generic="so its fractional part is lost"),
        Wrong("""__global__ void add_bias(const float* x, const float* bias, float* y, int M, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N) y[i] = x[i] + bias[i % N];
}
""", generic="a block has 32 x 4 threads. Your kernel never uses threadIdx.y"),
        Wrong("""__global__ void add_bias(const float* x, const float* bias, float* y, int M, int N) {
    int first = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    int threads = gridDim.x * gridDim.y * blockDim.x * blockDim.y;
    for (int i = first; i < M; i += threads) {
        for (int j = 0; j < N; j++) {
            y[i * N + j] = x[i * N + j] + bias[j];
        }
    }
}
""", generic="the goal is not reached"),
    ],
)  # fmt: skip
