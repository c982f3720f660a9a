"""Open challenge: the gradient of a bias is added up by the threads that write its column anyway."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.devices import ops

BLOCK, DOWN = 32, 2  # threads of a block, blocks along the rows


def cases(random):
    for label, rows, F, N in (("two rows of one", 2, 1, 1), ("one pack in each of three rows", 3, 4, 4), ("one row", 1, 12, 4),
                              ("an odd number of columns", 5, 37, 1), ("columns for three blocks", 7, 300, 4),
                              ("64 rows of 128", 64, 128, 4)):  # fmt: skip
        dy, x = random.normal(0, 1.5, size=(2, rows, F)).astype(np.float32)
        yield Case(label, dy, x, random.normal(size=F).astype(np.float32), N)


def launch(kernel, dy, x, bias, N):
    (rows, F), dy, x, bias = x.shape, cuda.asarray(dy), cuda.asarray(x), cuda.asarray(bias)
    dx, partial = cuda.empty((rows, F)), cuda.empty((DOWN, F))
    kernel.instance(str(N))(((F // N + BLOCK - 1) // BLOCK, DOWN), BLOCK, (dy, x, bias, dx, partial, rows, F))
    return dx, partial


def both(dx):
    """dx, and the sums over the rows that each row of blocks has written."""
    return dx, np.stack([dx[block::DOWN].sum(0) for block in range(DOWN)])


def right(dy, x, bias, N):
    return both(ops("reference").gelu_backward(dy.astype(np.float64), (x + bias).astype(np.float64)))


def without_bias(dy, x, bias, N):
    return both(ops("reference").gelu_backward(dy.astype(np.float64), x.astype(np.float64)))


def sums_of_dy(dy, x, bias, N):
    return right(dy, x, bias, N)[0], both(dy.astype(np.float64))[1]


def last_rows(dy, x, bias, N):
    dx, partial = right(dy, x, bias, N)
    for block in range(min(DOWN, len(x))):
        partial[block] = dx[block::DOWN][-1]
    return dx, partial


exercise = Exercise(
    title="Challenge: the backward pass of bias and GELU",
    minutes=20,
    core=False,
    challenge=True,
    language="cuda",
    defines="bias_gelu_backward",
    instances=("4", "1"),
    target="kernel:bias_gelu.cu",
    cases=cases,
    reference=right,
    results=("dx", "partial"),
    call=launch,
    measured="64 rows of 128",
    flops=30 * 64 * 128,
    goals=[Goal("bytes of global memory moved", bytes_moved)],
    hints=(
        "Write dx first, as in exercises 2 and 3. Then keep a sum for each of your columns in registers.",
        "Pack<float, N> sum = {}; makes a pack of zeros. Add to it in the loop over the rows, and write it once after the loop.",
        "d.item[j] *= gelu_grad(p.item[j] + b.item[j]); sum.item[j] += d.item[j]; and at the end the pack goes to partial + "
        "blockIdx.y * F + f.",
    ),
    example='''// The sum of each column of x, row of blocks by row of blocks.
#include "vector.cuh"

template <int N> __global__ void column_sums(const float* x, float* partial, int rows, int F) {
    int f = N * (blockIdx.x * blockDim.x + threadIdx.x);
    if (f >= F) return;
    Pack<float, N> sum = {};
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + row * F + f);
        for (int j = 0; j < N; j++) sum.item[j] += p.item[j];
    }
    *(Pack<float, N>*)(partial + blockIdx.y * F + f) = sum;
}
''',
    wrong=[
        Wrong(Changed(("gelu_grad(p.item[j] + b.item[j])", "gelu_grad(p.item[j])")),
              "The bias is missing: the slope is that of GELU at x + bias.", like=without_bias),
        Wrong(Changed(("d.item[j] *= gelu_grad(p.item[j] + b.item[j]);\n            sum.item[j] += d.item[j];",
                       "sum.item[j] += d.item[j];\n            d.item[j] *= gelu_grad(p.item[j] + b.item[j]);")),
              "dx is right. `partial` holds sums of dy; the gradient of the bias is the sum of dx.", like=sums_of_dy),
        Wrong(Changed(("sum.item[j] += d.item[j]", "sum.item[j] = d.item[j]")),
              "dx is right. `partial` holds the last row of each row of blocks, not the sum over its rows.", like=last_rows),
        Wrong(Changed(("Pack<float, N> sum = {};", "Pack<float, N> sum = {};\n    if (blockIdx.y >= rows) return;")),
              "`partial` is incomplete: with fewer rows than gridDim.y some blocks have no "
              "row. Their sums are 0, and are written too.",
              when=lambda seen: seen.label == "one row" and not np.isnan(seen.got[0]).any()
                  and np.isnan(seen.got[1][1]).all() and not np.isnan(seen.got[1][0]).any(),
              once="which rows were written, and which were not"),
        Wrong(Changed(("*(Pack<float, N>*)(partial + (long long)blockIdx.y * F + f) = sum;", "")),
              "`partial` is never written. Row blockIdx.y of it holds the sums of this row of blocks.",
              when=lambda seen: np.isnan(seen.got[1]).all() and not np.isnan(seen.got[0]).any() and not seen.issues),
        Wrong(Changed(("sum.item[j] += d.item[j]", "partial[blockIdx.y * F + f + j] += d.item[j]"),
                      ("*(Pack<float, N>*)(partial + (long long)blockIdx.y * F + f) = sum;", "")),
              "`partial` is read before it is written: a sum begins with 0, in a variable of the thread's own.",
              when=lambda seen: "uninitialised-read" in seen.kinds
                  and any("'partial'" in issue.message for issue in seen.issues)),
    ],
)  # fmt: skip
