"""The backward pass of RMSNorm, for rows of any length: the component along xhat is subtracted, the weight's gradient summed."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

PLAIN, WIDE = "64, 1, 2", "64, 4, 1"
ROWS, LONG = 40, 256
BLOCKS = 2  # also where there are fewer rows: partial has a row for each


def cases(random):
    yield Case("the row of the lecture", np.array([[1, 0]], np.float32), np.array([[3, 4]], np.float32),
               np.ones(2, np.float32))  # fmt: skip
    for label, rows, C in (("one column", 2, 1), ("three rows of 37", 3, 37), ("more rows than blocks", 5, 100),
                           (f"{ROWS} rows of {LONG}", ROWS, LONG)):  # fmt: skip
        dy, x = (random.normal(0.5, 1, size=(rows, C)).astype(np.float32) for _ in range(2))
        yield Case(label, dy, x, (0.5 + random.integers(1, 4, size=C)).astype(np.float32))


def kept(x):
    """rstd (rows, 1)"""
    return 1 / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5)


def gradients(dy, x, weight, away=True, weighted=True, of=None, rows=slice(None)):
    """dx and dweight. away: is the component along xhat subtracted; weighted: is the weight in that sum; of: what dweight
    sums in place of dy xhat; rows: the rows that dweight sums."""
    rstd, dy = kept(x), dy.astype(np.float64)
    xhat, g = x * rstd, dy * weight  # (rows, C)
    along = ((g if weighted else dy) * xhat).mean(-1, keepdims=True)
    dx = (g - xhat * along * away) * rstd
    sums = dy * xhat if of is None else of(dy, x, xhat, weight)
    return dx.astype(np.float32), sums[rows].sum(0).astype(np.float32)


def launch(kernel, dy, x, weight):
    rows, C = x.shape
    dx, partial = cuda.empty(x.shape), cuda.empty((BLOCKS, C))
    rstd = kept(x)[:, 0].astype(np.float32)
    arrays = (cuda.asarray(array) for array in (dy, x, weight, rstd))
    kernel.instance(WIDE if C % 4 == 0 and C > 128 else PLAIN)(BLOCKS, 64, (*arrays, dx, partial, rows, C))
    return dx, partial.sum(0)


def another(**ideas):
    return lambda dy, x, weight: gradients(dy, x, weight, **ideas)


def last_rows(dy, x, weight):
    blocks = min(BLOCKS, len(x))
    return gradients(dy, x, weight, rows=slice(len(x) - blocks, None))


exercise = Exercise(
    title="The backward pass of RMSNorm",
    minutes=15,
    core=False,
    language="cuda",
    defines="rmsnorm_backward",
    instances=(PLAIN, WIDE),
    target="kernel:rmsnorm.cu",
    cases=cases,
    reference=gradients,
    call=launch,
    results=("dx", "dweight"),
    tolerance=1e-4,
    measured=f"{ROWS} rows of {LONG}",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.15 * 12 * ROWS * LONG)],
    hints=(
        "Four rows in registers: the weight, x, dy and the sums of dweight. Before the loop: w.load(weight, C); and "
        "dweight.fill(0.0f);",
        "With own for x, d for dy and r = rstd[row], for each e: own[e] *= r makes xhat; dweight[e] += d[e] * own[e]; "
        "along += d[e] * w[e] * own[e]. Then along = block_sum<THREADS>(along) / C.",
        "own[e] = (d[e] * w[e] - own[e] * along) * r; own.store(dx + (long long)row * C, C); and after the loop "
        "dweight.store(partial + (long long)blockIdx.x * C, C).",
    ),
    example='''// The backward pass of y = x - mean(x), with the same tools: the mean of dy is subtracted.
#include "reduce.cuh"
#include "row.cuh"

template <int THREADS, int N, int ITEMS>
__global__ void __launch_bounds__(THREADS) centre_backward(const float* dy, float* dx, int rows, int C) {
    Row<THREADS, N, ITEMS> d;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        d.load(dy + (long long)row * C, C);
        float mean = 0.0f;
        for (int e = 0; e < d.COUNT; e++) mean += d[e];
        mean = block_sum<THREADS>(mean) / C;
        for (int e = 0; e < d.COUNT; e++) d[e] -= mean;
        d.store(dx + (long long)row * C, C);
    }
}
''',
    wrong=[
        Wrong(Changed((" - own[e] * along", "")),
              "Nothing was subtracted: a change along xhat does not change the result, so dx has no component along xhat.",
              like=another(away=False)),
        Wrong(Changed(("along += d[e] * w[e] * own[e]", "along += d[e] * own[e]")),
              "The sum along xhat is that of g = dy weight, not of dy.", like=another(weighted=False)),
        Wrong(Changed(("own[e] *= r;  // xhat\n            dweight[e] += d[e] * own[e];",
                       "dweight[e] += d[e] * own[e];\n            own[e] *= r;")),
              "dweight sums dy x. The gradient of the weight is the sum of dy xhat.",
              like=another(of=lambda dy, x, xhat, w: dy * x)),
        Wrong(Changed(("dweight[e] += d[e] * own[e];", "dweight[e] += d[e] * w[e] * own[e];")),
              "dweight sums dy weight xhat. The weight is no factor of its own gradient.",
              like=another(of=lambda dy, x, xhat, w: dy * w * xhat)),
        Wrong(Changed(("dweight[e] += d[e] * own[e];", "dweight[e] += d[e];")),
              "dweight is the sum of dy: that is the gradient of a bias. The weight was multiplied by xhat.",
              like=another(of=lambda dy, x, xhat, w: dy)),
        Wrong(Changed(("dweight[e] += d[e] * own[e];", "dweight[e] = d[e] * own[e];")),
              "dweight holds only the last row of each block. It must sum over all of them.", like=last_rows),
        Wrong(Changed(("    dweight.fill(0.0f);\n", "")),
              "dweight is added to before it is initialised: dweight.fill(0.0f), once, before the loop.",
              when=lambda seen: re.search(r"Row<[^>]*>[^;]*\bdweight\b", seen.text)
                  and not re.search(r"dweight\.(fill|load)|dweight\[[^]]*\] *=", seen.text)
                  and seen.failing.difference is not None and seen.failing.difference.name == "dweight"),
        Wrong(Changed(("        const float r = rstd[row];", "        if (threadIdx.x >= C) continue;\n        const float r = "
                                                             "rstd[row];")),
              "Some threads do not reach block_sum. All threads of a block must call it.",
              when=lambda seen: {"missing-lanes", "missed-barrier", "divergent-barrier"} & set(seen.kinds)),
    ],
)  # fmt: skip
