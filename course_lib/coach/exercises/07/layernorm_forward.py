"""LayerNorm of a row in registers: two sums, and what must not be counted beyond the end of the row."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCKS = 3  # also where there are fewer rows
PLAIN, WIDE = "64, 1, 2", "64, 4, 1"  # a row of up to 128, and one of up to 256 whose length four divides
UNBIASED = "The variance was divided by C - 1. That is the unbiased estimate; LayerNorm divides by C."


def cases(random):
    yield Case(
        "two rows of three",
        np.array([[1, 2, 3], [4, 4, 1]], np.float32),
        np.ones(3, np.float32),
        np.zeros(3, np.float32),
        1e-5,
    )
    for label, rows, C, mean, bias in (
        ("weight and bias", 1, 5, 0, True),
        ("no bias", 2, 5, 0, False),
        ("one column", 3, 1, 1, True),
        ("a row of 100 in registers for 128", 2, 100, 3, True),
        ("four at a time", 2, 132, 1, True),
        ("far from zero", 2, 128, 10_000, True),
        ("more rows than blocks", 7, 37, 0, True),
    ):
        x = (0.5 + mean + random.integers(-4, 5, size=(rows, C))).astype(np.float32)
        weight, b = (
            (0.5 + random.integers(1, 4, size=C)).astype(np.float32),
            (0.5 + random.integers(-3, 4, size=C)).astype(np.float32),
        )
        yield Case(label, x, weight, b if bias else None, 1e-5)
    yield Case("another eps", x, weight, b, 0.5)


def norm(x, weight, bias, eps, spread=None):
    """y, mean, rstd. spread: another definition of the variance, given x in float64 and its mean."""
    wide = x.astype(np.float64)  # (rows, C)
    mean = wide.mean(-1, keepdims=True)
    with np.errstate(all="ignore"):
        variance = ((wide - mean) ** 2).mean(-1, keepdims=True) if spread is None else spread(wide, mean)
        rstd = 1 / np.sqrt(variance + eps)
        y = (wide - mean) * rstd * weight + (0 if bias is None else bias)
    return tuple(a.astype(np.float32) for a in (y, mean[:, 0], rstd[:, 0]))


def launch(kernel, x, weight, bias, eps):
    rows, C = x.shape
    y, mean, rstd = cuda.empty(x.shape), cuda.empty(rows), cuda.empty(rows)  # (rows, C), (rows,), (rows,)
    arrays = cuda.asarray(x), cuda.asarray(weight), None if bias is None else cuda.asarray(bias)
    kernel.instance(WIDE if C % 4 == 0 and C > 128 else PLAIN)(BLOCKS, 64, (*arrays, y, mean, rstd, rows, C, eps))
    return y, mean, rstd


def beyond(x, mean):
    """The variance with (0 - mean)^2 for each element in registers that lies beyond the row."""
    C = x.shape[-1]
    places = 256 if C % 4 == 0 and C > 128 else 128
    return (((x - mean) ** 2).sum(-1, keepdims=True) + (places - C) * mean**2) / C


def no_digits(seen):
    return seen.label == "far from zero" and isinstance(seen.got, tuple) and np.allclose(seen.got[1], seen.expected[1])


exercise = Exercise(
    title="LayerNorm, the row in registers",
    minutes=20,
    language="cuda",
    defines="layernorm_forward",
    instances=(PLAIN, WIDE),
    target="kernel:layernorm.cu",
    cases=cases,
    reference=norm,
    call=launch,
    results=("y", "mean", "rstd"),
    tolerance=1e-4,
    hints=(
        "Three passes over the thread's own elements x[e], e from 0 to x.COUNT - 1: add up; subtract the mean and add up the "
        "squares; write the result. After each of the first two comes a block_sum.",
        "Beyond the row there are zeros. They do no harm in the first sum. In the second they would count as (0 - mean)^2: test "
        "x.column(e) < C.",
        "mean = block_sum<THREADS>(sum) / C; then x[e] -= mean; squares += x[e] * x[e] where the column is in the row; "
        "rstd = rsqrtf(block_sum<THREADS>(squares) / C + eps); x[e] = x[e] * rstd * weight[e] + bias[e];",
    ),
    example='''// A row moved and scaled: each element minus the mean, divided by the largest distance from it.
template <int THREADS, int N, int ITEMS>
__device__ void to_unit(Row<THREADS, N, ITEMS>& x, int C) {
    float sum = 0.0f, most = 0.0f;
    for (int e = 0; e < x.COUNT; e++) sum += x[e];
    float mean = block_sum<THREADS>(sum) / C;
    for (int e = 0; e < x.COUNT; e++) {
        x[e] -= mean;
        if (x.column(e) < C) most = fmaxf(most, fabsf(x[e]));
    }
    most = block_max<THREADS>(most);
    for (int e = 0; e < x.COUNT; e++) x[e] /= most;
}
''',
    wrong=[
        Wrong(Changed(("        if (x.column(e) < C) squares += x[e] * x[e];", "        squares += x[e] * x[e];")),
              "The variance counts elements beyond the end of the row. They hold 0, and 0 minus the mean is not 0: add up "
              "only where x.column(e) < C.", like=lambda x, w, b, eps: norm(x, w, b, eps, beyond)),
        Wrong(Changed(("block_sum<THREADS>(squares) / C + eps", "block_sum<THREADS>(squares) / max(C - 1, 1) + "
                                                                "eps")), UNBIASED,
              like=lambda x, w, b, eps: norm(x, w, b, eps, lambda wide,
                  mean: ((wide - mean) ** 2).sum(-1, keepdims=True) / max(wide.shape[-1] - 1, 1))),
        Wrong(Changed(("block_sum<THREADS>(squares) / C + eps", "block_sum<THREADS>(squares) / (C - 1) + eps")),
              UNBIASED, also=True,
              like=lambda x, w, b, eps: norm(x, w, b, eps, lambda wide,
                  mean: ((wide - mean) ** 2).sum(-1, keepdims=True) / np.float64(wide.shape[-1] - 1))),
        Wrong(Changed(("block_sum<THREADS>(squares) / C + eps", "block_sum<THREADS>(squares) / C")),
              "eps is missing: a row of equal numbers has the variance 0, and 1 / sqrt(0) is infinite.",
              like=lambda x, w, b, eps: norm(x, w, b, 0.0)),
        Wrong(Changed(("rsqrtf(block_sum<THREADS>(squares) / C + eps)", "1.0f / (sqrtf(block_sum<THREADS>(squares) / C) + eps)")),
              "eps is added to the root. It belongs under it, to the variance.",
              like=lambda x, w, b, eps: norm(x, w, b, eps, lambda wide,
                  mean: (np.sqrt(((wide - mean) ** 2).mean(-1, keepdims=True)) + eps) ** 2 - eps)),
        Wrong(Changed((" + bias[e];", ";")), "The bias is not added.", like=lambda x, w, b, eps: norm(x, w, None, eps)),
        Wrong(Changed(("rstd = rsqrtf(", "rstd = sqrtf("), ("x[e] * rstd * weight[e]", "x[e] / rstd * weight[e]")),
              "Here rstd is the standard deviation, and the row is divided by it. The task asks for its inverse: rsqrtf.",
              like=lambda *inputs: (lambda y, mean, rstd: (y, mean, 1 / rstd))(*norm(*inputs))),
        Wrong(Changed(("        x[e] -= mean;\n        if (x.column(e) < C) squares += x[e] * x[e];", "        squares += x[e] * "
                                                                                                      "x[e];"),
                      ("block_sum<THREADS>(squares) / C + eps", "block_sum<THREADS>(squares) / C - mean * mean + eps"),
                      ("x[e] = x[e] * rstd", "x[e] = (x[e] - mean) * rstd")),
              "The numbers of this row are near 10,000, so their squares are near 100,000,000, and a float keeps 7 digits: "
              "nothing is left of a variance made from such squares. Subtract the mean first, then square.",
              when=no_digits, once="the only row so far from 0, and its mean is right"),
        Wrong(Changed(("mean = block_sum<THREADS>(sum) / C;", "mean = sum / C;")), generic="never taken over all threads"),
    ],
)  # fmt: skip
