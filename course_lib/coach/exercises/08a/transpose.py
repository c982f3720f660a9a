"""A transpose through shared memory: coalesced on both sides, and a padding word against bank conflicts."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates


def cases(random):
    shapes = {"two by three": (2, 3), "one number": (1, 1), "one row": (1, 40), "one column": (40, 1), "one tile": (32, 32),
              "several tiles, ragged": (35, 70), "64 by 96": (64, 96)}  # fmt: skip
    for label, shape in shapes.items():
        yield Case(label, (0.5 + random.permutation(shape[0] * shape[1]).reshape(shape)).astype(np.float32))


def launch(kernel, x):
    (M, N), y = x.shape, cuda.empty(x.shape[::-1])  # (N, M)
    kernel((-(-N // 32), -(-M // 32)), (32, 32), (cuda.asarray(x), y, M, N))
    return y


def beyond_y(seen):
    """Did a thread write to y that would own an element beyond its edges? Only where tiles are transposed as the task says."""
    (M, N), found = seen.inputs[0].shape, []
    for issue in seen.issues:
        if "'y'" in issue.message and "tile[threadIdx.x][threadIdx.y]" in seen.text.replace(" ", ""):
            other = re.search(r"the other is thread \((\d+), (\d+)", issue.message)
            threads = [issue.thread[:2], tuple(map(int, other.groups()))] if other else [issue.thread[:2]]
            found += [(issue.block[0] * 32 + y, issue.block[1] * 32 + x) for x, y in threads]
    return any(row >= N or column >= M for row, column in found)


exercise = Exercise(
    title="Transpose a matrix",
    minutes=15,
    language="cuda",
    defines="transpose",
    cases=cases,
    reference=lambda x: np.ascontiguousarray(x.T),
    call=launch,
    measured="64 by 96",
    goals=rates(1.1 * 8 * 64 * 96, read=4.0, write=4.0, wavefronts=1.0),
    hints=(
        "Read along the rows of x, write along the rows of y: threadIdx.x counts columns both times. In between, a number "
        "passes to another thread.",
        "The block of x at (blockIdx.y, blockIdx.x) becomes the block of y at (blockIdx.x, blockIdx.y). After the barrier "
        "thread (x, y) takes tile[x][y]. How long must a row of the tile be, so that these are 32 different banks?",
        "__shared__ float tile[32][33]; fill tile[threadIdx.y][threadIdx.x] where x has a number; __syncthreads(); row = "
        "blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x, and y[row * M + column] = "
        "tile[threadIdx.x][threadIdx.y] if that element exists.",
    ),
    example='''// Each row of 32 numbers reversed through shared memory: x, y (M, 32), a block of 32 x 8 threads for 8 rows.
__global__ void reverse_rows(const float* x, float* y, int M) {
    __shared__ float tile[8][32];
    int i = blockIdx.x * 8 + threadIdx.y;
    if (i < M) {
        tile[threadIdx.y][threadIdx.x] = x[i * 32 + threadIdx.x];
    }
    __syncthreads();
    if (i < M) {
        y[i * 32 + threadIdx.x] = tile[threadIdx.y][31 - threadIdx.x];
    }
}
''',
    wrong=[
        Wrong("""__global__ void transpose(const float* x, float* y, int M, int N) {
    int i = blockIdx.y * 32 + threadIdx.y;
    int j = blockIdx.x * 32 + threadIdx.x;
    if (i < M && j < N) {
        y[i * N + j] = x[i * N + j];
    }
}
""", "The numbers are in their old order: this is a copy, not a transpose.", like=lambda x: x.reshape(x.shape[::-1])),
        Wrong(Changed(("    __syncthreads();\n", "")),
              "The tile is read before all threads have filled it: put a barrier between.",
              when=lambda seen: "__syncthreads" not in seen.text and any("__shared__" in i.message for i in seen.issues)),
        Wrong(Changed(("row < N && column < M", "i < M && j < N")),
              "A thread has written that has no element of y. Ask about y before you write: y has N rows and M columns, so "
              "row < N and column < M.", when=beyond_y),
        Wrong("""__global__ void transpose(const float* x, float* y, int M, int N) {
    int i = blockIdx.y * 32 + threadIdx.y;
    int j = blockIdx.x * 32 + threadIdx.x;
    if (i < M && j < N) {
        y[j * M + i] = x[i * N + j];
    }
}
""", generic="not reached: sectors for each request, writing"),
        Wrong(Changed(("tile[32][33]", "tile[32][32]")), generic="not reached: wavefronts"),
        Wrong(Changed(("row = blockIdx.x * 32", "row = blockIdx.y * 32"), ("column = blockIdx.y * 32", "column = blockIdx.x * "
                                                                                                       "32")),
              generic="is read, but no thread of this block has written it"),
    ],
)  # fmt: skip
