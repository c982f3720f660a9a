"""Find the fault: a mean that counts elements beyond the row is right only for rows that fill the registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCKS = 3  # also where there are fewer rows
PLAIN, WIDE = "64, 1, 2", "64, 4, 1"  # a row of up to 128, and one of up to 256 whose length four divides
PLACES = {False: 128, True: 256}


def is_wide(C):
    return C % 4 == 0 and C > 128


def cases(random):
    yield Case("two rows of two", np.array([[3, 4], [1, 7]], np.float32), np.ones(2, np.float32), 1e-5)
    for label, rows, C in (("one column", 3, 1), ("a row of 100 in registers for 128", 2, 100), ("all 128 in registers", 2, 128),
                           ("four at a time", 3, 132), ("more rows than blocks", 7, 37)):  # fmt: skip
        x = (0.5 + random.integers(-4, 5, size=(rows, C))).astype(np.float32)
        weight = (0.5 + random.integers(1, 4, size=C)).astype(np.float32)
        yield Case(label, x, weight, 1e-5)
    yield Case("another eps", x, weight, 0.5)


def norm(x, weight, eps, count=None, power=1.0, mean=0.0):
    """y and rstd. count: what the sum of squares is divided by; power: of rstd in y; mean: how much of the mean is subtracted."""
    wide = x.astype(np.float64)  # (rows, C)
    wide -= mean * wide.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((wide**2).sum(-1, keepdims=True) / (count or x.shape[1]) + eps)  # (rows, 1)
    return (wide * rstd**power * weight).astype(np.float32), rstd[:, 0].astype(np.float32)


def launch(kernel, x, weight, eps):
    rows, C = x.shape
    y, rstd = cuda.empty(x.shape), cuda.empty(rows)  # (rows, C), (rows,)
    run = kernel.instance(WIDE if is_wide(C) else PLAIN)
    run(BLOCKS, 64, (cuda.asarray(x), cuda.asarray(weight), y, rstd, rows, C, eps))
    return y, rstd


def another(**ideas):
    return lambda x, weight, eps: norm(x, weight, eps, **ideas)


exercise = Exercise(
    title="Find the fault: right for 128 columns",
    minutes=10,
    core=False,
    language="cuda",
    defines="rmsnorm_forward",
    instances=(PLAIN, WIDE),
    target="kernel:rmsnorm.cu",
    cases=cases,
    reference=norm,
    call=launch,
    results=("y", "rstd"),
    hints=(
        "Look at the case that fails: how many columns has its row, and how many numbers do the registers of 64 threads hold?",
        "Beyond the row all registers hold 0, so the sum is right. What is it divided by?",
        "The mean of the squares is block_sum<THREADS>(squares) divided by the number of numbers that the row really has.",
    ),
    example='''// Each row divided by its largest absolute value; the zeros beyond a row in registers do not change that.
#include "reduce.cuh"
#include "row.cuh"

template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS) by_largest(const float* x, float* y, int rows, int C) {
    Row<THREADS, N, ITEMS> own;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(x + (long long)row * C, C);
        float top = 0.0f;
        for (int e = 0; e < own.COUNT; e++) top = fmaxf(top, fabsf(own[e]));
        top = block_max<THREADS>(top);
        for (int e = 0; e < own.COUNT; e++) own[e] /= top;
        own.store(y + (long long)row * C, C);
    }
}
''',
    wrong=[
        Wrong(Changed(("(squares) / C", "(squares) / (ITEMS * N * THREADS)")),
              "The sum of the squares was divided by how many numbers the block can hold in registers. The row has C "
              "numbers, and only these count.",
              like=lambda x, weight, eps: norm(x, weight, eps, PLACES[is_wide(x.shape[1])])),
        Wrong(Changed(("(squares) / C", "(squares) / own.COUNT")),
              "The sum of the squares was divided by how many numbers one thread holds, `own.COUNT`. The sum is that of "
              "the whole row, which has C numbers.",
              like=lambda x, weight, eps: norm(x, weight, eps, 4 if is_wide(x.shape[1]) else 2)),
        Wrong(Changed(("(squares) / C", "(squares)")), "The sum of the squares was not divided: rstd needs their mean.",
              like=another(count=1)),
        Wrong(Changed(("        float squares = 0.0f;", "        float sum = 0.0f, squares = 0.0f;\n        for (int e = 0; e < "
                       "own.COUNT; e++) sum += own[e];\n        sum = block_sum<THREADS>(sum) / C;\n        for (int e = 0; e < "
                       "own.COUNT; e++) if (own.column(e) < C) own[e] -= sum;")),
              "The mean was subtracted first, as in LayerNorm. RMSNorm does not subtract it.", like=another(mean=1.0)),
        Wrong(Changed(("        float squares = 0.0f;", "        if (threadIdx.x >= C) return;\n        float squares = 0.0f;")),
              "Some threads do not reach block_sum. All threads of a block must call it.",
              when=lambda seen: {"missing-lanes", "missed-barrier", "divergent-barrier"} & set(seen.kinds)),
    ],
)  # fmt: skip
