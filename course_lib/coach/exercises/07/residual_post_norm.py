"""Open challenge: a norm after the branch, and the sum, with as few bytes moved as possible."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

BLOCKS, ROWS = 4, 32


def cases(random):
    for label, rows, size in (("one row", 1, 1.0), ("two rows", 2, 1.0), ("numbers so small that eps counts", 2, 1e-3),
                              ("more rows than blocks", 7, 1.0), (f"{ROWS} rows", ROWS, 1.0)):  # fmt: skip
        x, branch = (random.normal(size=(rows, 384)).astype(np.float32) for _ in range(2))
        branch *= np.float32(size)
        yield Case(label, x, branch, (0.5 + random.integers(1, 4, size=384)).astype(np.float32))


def added(x, branch, weight, eps=1e-5, of=None):
    wide = branch.astype(np.float64) if of is None else of  # (rows, 384)
    rms = np.sqrt((wide**2).mean(-1, keepdims=True) + eps)
    return (x + wide / rms * weight).astype(np.float32)


def launch(kernel, x, branch, weight):
    y = cuda.empty(x.shape)  # (rows, 384)
    kernel(BLOCKS, 128, (cuda.asarray(x), cuda.asarray(branch), cuda.asarray(weight), y, len(x)))
    return y


def first_rows(x, branch, weight):
    y = np.full(x.shape, np.nan, np.float32)
    y[:BLOCKS] = added(x, branch, weight)[:BLOCKS]
    return y


NAIVE = """#include "reduce.cuh"
__global__ void residual_post_norm(const float* x, const float* branch, const float* weight, float* y, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float squares = 0.0f;
        for (int c = threadIdx.x; c < 384; c += 128) {
            squares += branch[row * 384 + c] * branch[row * 384 + c];
        }
        float r = rsqrtf(block_sum<128>(squares) / 384 + 1e-5f);
        for (int c = threadIdx.x; c < 384; c += 128) {
            y[row * 384 + c] = x[row * 384 + c] + branch[row * 384 + c] * r * weight[c];
        }
    }
}
"""

exercise = Exercise(
    title="Challenge: a norm after the branch",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="residual_post_norm",
    cases=cases,
    reference=added,
    call=launch,
    tolerance=1e-4,
    measured=f"{ROWS} rows",
    flops=9 * ROWS * 384,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Begin with a kernel that is right: for each row the sum of squares, then the result. What does it read more than once?",
        "128 threads and 384 numbers: each thread owns three columns. What it needs of the branch again, it can keep.",
        "The weight is the same for each row: three numbers of it belong to a thread, and can be read before the loop over rows.",
    ),
    example='''#include "reduce.cuh"
// Every row of 256 numbers divided by its largest: read once, kept in registers.
__global__ void by_largest(const float* x, float* y, int rows) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float a = x[row * 256 + threadIdx.x], b = x[row * 256 + 128 + threadIdx.x];
        float most = block_max<128>(fmaxf(a, b));
        y[row * 256 + threadIdx.x] = a / most;
        y[row * 256 + 128 + threadIdx.x] = b / most;
    }
}
''',
    wrong=[
        Wrong(NAIVE.replace("for (int row = blockIdx.x; row < rows; row += gridDim.x) {", "int row = blockIdx.x;\n    if (row < "
                                                                                          "rows) {"),
              "There are 4 blocks, and more rows. Each block must go on with the row gridDim.x further down.",
              like=first_rows),
        Wrong(NAIVE.replace("squares += branch[row * 384 + c] * branch[row * 384 + c];", "squares += x[row * 384 + c] * x[row * "
                                                                                         "384 + c];")
              .replace("x[row * 384 + c] + branch[row * 384 + c] * r", "branch[row * 384 + c] + x[row * 384 + c] * r"),
              "What was normalised is x. It stays as it is; the norm is of the branch.",
              like=lambda x, b, w: (b + added(0 * x, x, w)).astype(np.float32)),
        Wrong(Changed(("own[k] = branch[first + 128 * k];", "own[k] = x[first + 128 * k] + branch[first + 128 * k];"),
                      ("x[first + 128 * k] + own[k] * r", "own[k] * r")),
              "The sum of both was normalised. Here the norm comes first, of the branch alone, and then the sum.",
              like=lambda x, b, w: added(0 * x, x + b, w)),
        Wrong(NAIVE.replace("squares += branch[row * 384 + c] * branch[row * 384 + c];",
                            "squares += x[row * 384 + c] * x[row * 384 + c];"),
              "The root mean square is that of x. It must be that of the branch.",
              like=lambda x, b, w: x + b * (added(0 * x, x, w) / x)),
        Wrong(NAIVE.replace("x[row * 384 + c] + branch", "branch"), "This is the norm of the branch. x is not added.",
              like=lambda x, b, w: added(0 * x, b, w)),
    ],
)  # fmt: skip
