"""Coalescing: a picture mirrored by as few threads as there are, with neighbouring lanes at neighbouring numbers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates, sectors

GRID, BLOCK = 4, 32
MEASURED = "96 by 128"


def cases(random):
    shapes = {"two by three": (2, 3), "one number": (1, 1), "one row": (1, 200), "one column": (200, 1),
              "narrower than a block": (9, 7), "more rows than threads": (150, 5), MEASURED: (96, 128)}  # fmt: skip
    for label, shape in shapes.items():
        yield Case(label, (0.5 + random.permutation(shape[0] * shape[1])).astype(np.float32).reshape(shape))


def launch(kernel, x):
    y = cuda.empty(x.shape)  # (M, N)
    kernel(GRID, BLOCK, (cuda.asarray(x), y, *x.shape))
    return y


def first_only(count):
    """Only the first `count` numbers, rows or columns are written: axis None, 0 or 1."""

    def mirrored(axis):
        def like(x):
            y = np.full_like(x, np.nan)
            part = {None: lambda a: a.reshape(-1)[:count], 0: lambda a: a[:count], 1: lambda a: a[:, :count]}[axis]
            part(y)[...] = part(np.ascontiguousarray(x[:, ::-1]))
            return y

        return like

    return mirrored


def lanes_far_apart(seen):
    reports = next(outcome.reports for outcome in seen.outcomes if outcome.label == MEASURED)
    return all(outcome.right for outcome in seen.outcomes) and sectors("write")(reports) > 8


exercise = Exercise(
    title="Flip each row, lane by lane",
    minutes=10,
    core=False,
    language="cuda",
    defines="flip_rows",
    cases=cases,
    reference=lambda x: x[:, ::-1],
    call=launch,
    measured=MEASURED,
    goals=rates(1.1 * 8 * 96 * 128, read=4.2, write=4.2),
    hints=(
        "Two questions: which numbers does a thread take, and which ones do the lanes beside it take at the same time?",
        "The simplest is a grid-stride loop over all M * N numbers: lane after lane takes number after number. What are row and "
        "column of number e?",
        "for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < M * N; e += gridDim.x * blockDim.x): i = e / N, j = e % N, and "
        "y[e] = x[i * N + (N - 1 - j)].",
    ),
    example='''// Every second column of x (M, N) set to 0, in place: a block loops over a row, its lanes side by side.
__global__ void stripes(float* x, int M, int N) {
    for (int i = blockIdx.x; i < M; i += gridDim.x) {
        for (int j = threadIdx.x; j < N; j += blockDim.x) {
            if (j % 2 == 1) {
                x[i * N + j] = 0.0f;
            }
        }
    }
}
''',
    wrong=[
        Wrong("""__global__ void flip_rows(const float* x, float* y, int M, int N) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < M * N) {
        y[e] = x[e / N * N + N - 1 - e % N];
    }
}
""", "Each thread wrote one number, and then stopped. There are 128 threads in all, so each must go on.",
              like=first_only(GRID * BLOCK)(None)),
        Wrong("""__global__ void flip_rows(const float* x, float* y, int M, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M) {
        for (int j = 0; j < N; j++) {
            y[i * N + j] = x[i * N + N - 1 - j];
        }
    }
}
""", "Only the first 128 rows are written: as many as there are threads. Go on with the next ones.",
              like=first_only(GRID * BLOCK)(0)),
        Wrong(Changed(("i < M; i += gridDim.x", "i < min(M, (int)gridDim.x); i += gridDim.x")),
              "Only the first 4 rows are written: as many as there are blocks. Go on with the next ones.",
              like=first_only(GRID)(0)),
        Wrong(Changed(("j < N; j += blockDim.x", "j < min(N, (int)blockDim.x); j += blockDim.x")),
              "Only the first 32 columns are written: as many as a block has threads. Go on with the next ones.",
              like=first_only(BLOCK)(1)),
        Wrong(Changed(("x[i * N + N - 1 - j]", "x[(M - 1 - i) * N + j]")),
              "The order of the rows is reversed. Reverse the numbers within each row instead.", like=lambda x: x[::-1]),
        Wrong(Changed(("x[i * N + N - 1 - j]", "x[M * N - 1 - (i * N + j)]")),
              "Rows and columns are both reversed. The order of the rows must stay.", like=lambda x: x[::-1, ::-1]),
        Wrong("""__global__ void flip_rows(const float* x, float* y, int M, int N) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < M; i += threads) {
        for (int j = 0; j < N; j++) {
            y[i * N + j] = x[i * N + N - 1 - j];
        }
    }
}
""",
              "The results are right, but the lanes of a warp access numbers far apart, so most of the 32 bytes of each "
              "sector are moved for nothing. Let neighbouring lanes take neighbouring columns.",
              when=lanes_far_apart),
        Wrong("""__global__ void flip_rows(const float* x, float* y, int M, int N) {
    int i = blockIdx.x, j = threadIdx.x;
    if (i < M && j < N) {
        y[i * N + j] = x[i * N + N - 1 - j];
    }
}
""", generic="Your kernel never wrote columns 32 to 199: they are still nan. 128 threads (4 x 32) have 200 elements to write"),
        Wrong(Changed(("N - 1 - j", "N - j")), generic="accesses an array out of bounds"),
    ],
)  # fmt: skip
