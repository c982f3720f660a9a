"""Two operations in one kernel: the sum stays in registers, and is not read again from memory."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

BLOCKS = 2  # also where there are fewer rows
PLAIN, WIDE = "64, 1, 2", "64, 4, 1"
ROWS, LONG = 40, 256  # of the case that is counted


def cases(random):
    for label, rows, C, bias in (("one row of three", 1, 3, True), ("three rows of five", 3, 5, True), ("no bias", 2, 37, False),
                                 ("more rows than blocks", 5, 100, True), (f"{ROWS} rows of "
                                                                           f"{LONG}", ROWS, LONG, True)):  # fmt: skip
        x, residual = (random.normal(0.5, 1, size=(rows, C)).astype(np.float32) for _ in range(2))
        weight, b = (
            (0.5 + random.integers(1, 4, size=C)).astype(np.float32),
            (0.5 + random.integers(-3, 4, size=C)).astype(np.float32),
        )
        yield Case(label, x, residual, weight, b if bias else None, 0.5 if label == "no bias" else 1e-5)


def both(x, residual, weight, bias, eps):
    """y, total, mean, rstd."""
    total = x.astype(np.float64) + residual  # (rows, C)
    return norm_of(total, total, weight, bias, eps)


def norm_of(normalised, total, weight, bias, eps):
    mean = normalised.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((normalised - mean) ** 2).mean(-1, keepdims=True) + eps)
    y = (normalised - mean) * rstd * weight + (0 if bias is None else bias)
    return tuple(a.astype(np.float32) for a in (y, total, mean[:, 0], rstd[:, 0]))


def launch(kernel, x, residual, weight, bias, eps):
    rows, C = x.shape
    y, total, mean, rstd = cuda.empty(x.shape), cuda.empty(x.shape), cuda.empty(rows), cuda.empty(rows)
    given = (
        cuda.asarray(x),
        cuda.asarray(residual),
        cuda.asarray(weight),
        None if bias is None else cuda.asarray(bias),
    )
    kernel.instance(WIDE if C % 4 == 0 and C > 128 else PLAIN)(BLOCKS, 64, (*given, y, total, mean, rstd, rows, C, eps))
    return y, total, mean, rstd


def kept_too_late(*inputs):
    y, _, mean, rstd = both(*inputs)
    return y, y, mean, rstd


exercise = Exercise(
    title="The residual and the norm in one kernel",
    minutes=15,
    core=False,
    language="cuda",
    defines="residual_layernorm_forward",
    instances=(PLAIN, WIDE),
    target="kernel:residual_layernorm.cu",
    cases=cases,
    reference=both,
    call=launch,
    results=("y", "total", "mean", "rstd"),
    tolerance=1e-4,
    measured=f"{ROWS} rows of {LONG}",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.15 * 16 * ROWS * LONG)],
    hints=(
        "Weight and bias are loaded once, before the loop over rows; without a bias, b.fill(0.0f). In the loop: load both "
        "rows, add them, store the sum, normalise, store the result, and let thread 0 keep mean and rstd.",
        "Four rows in registers: Row<THREADS, N, ITEMS> w, b, own, other; and for (int row = blockIdx.x; row < rows; row += "
        "gridDim.x).",
        "own.load(x + (long long)row * C, C); other.load(...); for each e: own[e] += other[e]; own.store(total + ..., C); "
        "float m, r; normalise(own, w, b, C, eps, m, r); own.store(y + ..., C);",
    ),
    example='''// Two rows in one kernel: y = a * b, and the mean of the product of each row.
template <int THREADS, int N, int ITEMS>
__global__ void product_and_mean(const float* a, const float* b, float* y, float* mean, int rows, int C) {
    Row<THREADS, N, ITEMS> own, other;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        own.load(a + (long long)row * C, C);
        other.load(b + (long long)row * C, C);
        float sum = 0.0f;
        for (int e = 0; e < own.COUNT; e++) {
            own[e] *= other[e];
            sum += own[e];
        }
        own.store(y + (long long)row * C, C);
        sum = block_sum<THREADS>(sum);
        if (threadIdx.x == 0) mean[row] = sum / C;
    }
}
''',
    wrong=[
        Wrong(Changed(("        own.store(total + (long long)row * C, C);\n", "        own.store(total + (long long)row * C, "
                                                                              "C);\n"
                       "        own.load(x + (long long)row * C, C);\n")),
              "What was normalised is x alone. The norm is of the sum, x + residual.",
              like=lambda x, r, w, b, eps: norm_of(x.astype(np.float64), x.astype(np.float64) + r, w, b, eps)),
        Wrong(Changed(("        own.store(total + (long long)row * C, C);\n", ""),
                      ("        own.store(y + (long long)row * C, C);\n", "        own.store(y + (long long)row * C, C);\n"
                       "        own.store(total + (long long)row * C, C);\n")),
              "total holds the normalised row. Store the sum before normalise changes it.", like=kept_too_late),
        Wrong(Changed(("for (int row = blockIdx.x; row < rows; row += gridDim.x)", "if (int row = blockIdx.x; row < rows)")),
              "There are fewer blocks than rows: each block must go on with the row gridDim.x further down.",
              when=lambda seen: seen.label in ("three rows of five", "more rows than blocks") and isinstance(seen.got, tuple)
                  and np.isnan(seen.got[0][2:]).all() and not np.isnan(seen.got[0][:2]).any(),
              once="which rows were written, and which were not"),
        Wrong(Changed(("    if (bias) b.load(bias, C);\n    else b.fill(0.0f);", "    b.load(bias, C);")),
              "bias may be null, and then there is nothing to load: fill the row with 0.0f.",
              when=lambda seen: seen.label == "no bias" and "null-pointer" in seen.kinds),
        Wrong(Changed(("        own.store(total + (long long)row * C, C);\n", "        own.store(total + (long long)row * C, "
                                                                              "C);\n"
                       "        own.load(total + (long long)row * C, C);\n")), generic="the goal is not reached"),
    ],
)  # fmt: skip
