"""Open challenge: every product of two vectors, with as few bytes moved as possible."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

GRID, BLOCK = 2, 64


def cases(random):
    shapes = {"two by three": (2, 3), "one number": (1, 1), "one row": (1, 300), "one column": (300, 1),
              "fewer than the threads": (5, 7), "more columns than threads": (9, 201), "64 by 256": (64, 256)}  # fmt: skip
    for label, (M, N) in shapes.items():
        a, b = ((0.5 + random.integers(1, 50, size=length)).astype(np.float32) for length in (M, N))
        yield Case(label, a, b)


def launch(kernel, a, b):
    y = cuda.empty((len(a), len(b)))  # (M, N)
    kernel(GRID, BLOCK, (cuda.asarray(a), cuda.asarray(b), y, len(a), len(b)))
    return y


def one_each(a, b):
    """Each thread writes one number, and there are too few threads."""
    y = np.full(len(a) * len(b), np.nan, np.float32)
    y[: GRID * BLOCK] = np.outer(a, b).reshape(-1)[: GRID * BLOCK]
    return y.reshape(len(a), len(b))


def one_column_each(a, b):
    y = np.full((len(a), len(b)), np.nan, np.float32)
    y[:, : GRID * BLOCK] = np.outer(a, b)[:, : GRID * BLOCK]
    return y


exercise = Exercise(
    title="Challenge: all products with few bytes",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="outer_product",
    cases=cases,
    reference=lambda a, b: np.outer(a, b),
    call=launch,
    measured="64 by 256",
    flops=64 * 256,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Begin with a grid-stride loop over all M * N numbers: a[e / N] * b[e % N]. What does it read again and again?",
        "Give a thread a column, not a number: what it needs of b it reads once, into a variable of its own, and loops "
        "over the rows.",
        "Every row still reads a. With two columns to a thread, and more, one a[i] serves for all of them. Test each: it may "
        "be N or more.",
    ),
    example='''// Neighbouring rows of x (M, N), added: y (M - 1, N). Each number is read once, and kept for the next row.
__global__ void add_rows(const float* x, float* y, int M, int N) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < N; j += gridDim.x * blockDim.x) {
        float above = x[j];
        for (int i = 1; i < M; i++) {
            float own = x[i * N + j];
            y[(i - 1) * N + j] = above + own;
            above = own;
        }
    }
}
''',
    wrong=[
        Wrong("""__global__ void outer_product(const float* a, const float* b, float* y, int M, int N) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < M * N) {
        y[e] = a[e / N] * b[e % N];
    }
}
""",
              "Each thread wrote one number, and then stopped. There are 128 threads in all, so "
              "each must go on, as in the grid-stride loop.", like=one_each),
        Wrong("""__global__ void outer_product(const float* a, const float* b, float* y, int M, int N) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) {
        for (int i = 0; i < M; i++) {
            y[i * N + j] = a[i] * b[j];
        }
    }
}
""", "Only the first 128 columns are written: as many as there are threads. Go on with the next 128.", like=one_column_each),
        Wrong(Changed(("a[i] * own", "a[i] + own")), "The two vectors are added here; the task asks for their products.",
              like=np.add.outer),
        Wrong("""__global__ void outer_product(const float* a, const float* b, float* y, int M, int N) {
    int i = blockIdx.x;
    for (int j = threadIdx.x; i < M && j < N; j += blockDim.x) {
        y[i * N + j] = a[i] * b[j];
    }
}
""", generic="Your kernel never wrote rows 2 to 299"),
        Wrong(Changed(("y[i * N + j]", "y[i * M + j]")), generic="two threads write the same address"),
    ],
)  # fmt: skip
