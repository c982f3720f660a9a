"""LayerNorm backward: the components along two directions are subtracted, and two sums over rows are kept in registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

PLAIN, WIDE = "64, 1, 2", "64, 4, 1"
BLOCKS = 2  # also where there are fewer rows: partial has a row for each


def cases(random):
    for label, rows, C, bias in (("one row of two", 1, 2, True), ("one row of five", 1, 5, True), ("three rows", 3, 4, True),
                                 ("one column", 2, 1, True), ("no bias", 4, 37, False), ("four at a "
                                                                                         "time", 5, 132, True)):  # fmt: skip
        dy, x = (random.normal(0.5, 1, size=(rows, C)).astype(np.float32) for _ in range(2))
        yield Case(label, dy, x, (0.5 + random.integers(1, 4, size=C)).astype(np.float32), bias)


def gradients(
    dy,
    x,
    weight,
    has_bias,
    constant=True,
    along=True,
    scaled=True,
    weighted=True,
    raw=False,
    last=False,
    bracket=True,
    mean_of=np.mean,
):
    """dx, and the sums of dy xhat and of dy over all rows. The flags leave a part of the formula out."""
    dy, x = dy.astype(np.float64), x.astype(np.float64)  # (rows, C)
    mean, rstd = statistics(x)
    xhat, g = (x - mean) * rstd, dy * weight if weighted else dy  # (rows, C)
    means = [mean_of(a, axis=-1, keepdims=True) for a in (g, g * xhat)]
    dx = g - constant * means[0] - along * xhat * means[1]
    if not bracket:  # rstd for the last term only
        dx = g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True) * rstd
    counted = slice(None)
    if last:  # of each block only its last row
        counted = [max(range(block, len(x), BLOCKS)) for block in range(min(BLOCKS, len(x)))]
    parts = (dx * rstd if scaled and bracket else dx, (dy * (x if raw else xhat))[counted].sum(0), dy[counted].sum(0))
    return tuple(part.astype(np.float32) for part in parts[: 3 if has_bias else 2])


def statistics(x):
    mean = x.mean(-1, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def launch(kernel, dy, x, weight, has_bias):
    rows, C = x.shape
    mean, rstd = (cuda.asarray(s[:, 0].astype(np.float32)) for s in statistics(x.astype(np.float64)))  # (rows,)
    dx, partial = cuda.empty(x.shape), cuda.empty((BLOCKS, 2 * C if has_bias else C))
    given = (cuda.asarray(dy), cuda.asarray(x), cuda.asarray(weight), mean, rstd)
    kernel.instance(WIDE if C % 4 == 0 and C > 128 else PLAIN)(BLOCKS, 64, (*given, dx, partial, rows, C, has_bias))
    sums = partial.sum(0)  # (2 C) or (C)
    return (dx, sums[:C], sums[C:]) if has_bias else (dx, sums)


def piece_by_piece(dy, x, weight, has_bias):
    """block_sum called for each e alone: the mean of g, and the part along xhat, of element e of all threads."""
    wide, back = x.astype(np.float64), dy.astype(np.float64)  # (rows, C)
    mean, rstd = statistics(wide)
    (_, C), xhat, g = x.shape, (wide - mean) * rstd, back * weight
    e = np.arange(C) % 4 if C % 4 == 0 and C > 128 else np.arange(C) // 64  # (C,) as Row deals the columns out
    same = (e[:, None] == e) / C  # (C, C)
    dx = (g - g @ same - xhat * ((g * xhat) @ same)) * rstd
    return (dx.astype(np.float32), *gradients(dy, x, weight, has_bias)[1:])


def without(**flags):
    return lambda dy, x, weight, has_bias: gradients(dy, x, weight, has_bias, **flags)


exercise = Exercise(
    title="The backward pass of LayerNorm",
    minutes=20,
    language="cuda",
    defines="layernorm_backward",
    instances=(PLAIN, WIDE),
    target="kernel:layernorm.cu",
    cases=cases,
    reference=gradients,
    call=launch,
    results=("dx", "dweight", "dbias"),
    tolerance=1e-4,
    hints=(
        "First pass: make x[e] the normalised row, xhat; add to dweight[e] and dbias[e]; add up two sums, g and g * xhat, with "
        "g = dy[e] * weight[e].",
        "Both sums go through block_sum<THREADS>, divided by C. Second pass: g minus the first mean, minus xhat times the "
        "second; all times rstd.",
        "x[e] = (x[e] - mean) * rstd; dweight[e] += dy[e] * x[e]; dbias[e] += dy[e]; and at the end "
        "x[e] = (dy[e] * weight[e] - constant - x[e] * along) * rstd, where constant and along are the two means.",
    ),
    example='''// The backward pass of y = x - mean(x), where only the component along the constant direction is subtracted.
template <int THREADS, int N, int ITEMS>
__device__ void centre_backward(Row<THREADS, N, ITEMS>& dx, const Row<THREADS, N, ITEMS>& dy, int C) {
    float sum = 0.0f;
    for (int e = 0; e < dy.COUNT; e++) sum += dy[e];  // beyond the row dy is 0
    float mean = block_sum<THREADS>(sum) / C;
    for (int e = 0; e < dy.COUNT; e++) dx[e] = dy[e] - mean;
}
''',
    wrong=[
        Wrong(Changed(("weight[e] - constant - x[e] * along", "weight[e] - x[e] * along")),
              "The mean of g is not subtracted. To add one number to the whole row changes nothing in LayerNorm, so dx "
              "has no component in that direction.", like=without(constant=False)),
        Wrong(Changed(("weight[e] - constant - x[e] * along", "weight[e] - constant")),
              "The component along xhat is not subtracted. A longer row gives the same result, so dx has no component in "
              "that direction.", like=without(along=False)),
        Wrong(Changed(("constant = block_sum<THREADS>(constant) / C;", "constant = block_sum<THREADS>(constant);"),
                      ("along = block_sum<THREADS>(along) / C;", "along = block_sum<THREADS>(along);")),
              "The two sums over a row are not divided by C: what is subtracted are means.", like=without(mean_of=np.sum)),
        Wrong(Changed(("- x[e] * along) * rstd;", "- x[e] * along);")),
              "dx is not multiplied by rstd: a small change counts less in a row of large numbers.", like=without(scaled=False)),
        Wrong(Changed(("(dy[e] * weight[e] - constant - x[e] * along) * rstd;",
                       "dy[e] * weight[e] - constant - x[e] * along * rstd;")),
              "Only the last term of dx is multiplied by rstd. It belongs to all three: put them into brackets.",
              like=without(bracket=False)),
        Wrong(Changed(("x[e] = (dy[e] * weight[e] - constant - x[e] * along) * rstd;",
                       "{\n        const float g = dy[e] * weight[e], first = block_sum<THREADS>(g) / C;\n"
                       "        x[e] = (g - first - x[e] * (block_sum<THREADS>(g * x[e]) / C)) * rstd;\n    }")),
              "block_sum is called for each x[e] alone, so a sum holds one number of each thread. First let each thread add "
              "up all of its numbers, then call block_sum once.", like=piece_by_piece),
        Wrong(Changed(("constant += dy[e] * weight[e]", "constant += dy[e]"), ("along += dy[e] * weight[e]", "along += dy[e]"),
                      ("(dy[e] * weight[e] - constant", "(dy[e] - constant")),
              "dx uses dy as it is. In the forward pass the row was multiplied by the weight, so the gradient is g = dy * "
              "weight.",
              like=without(weighted=False)),
        Wrong(Changed(("        x[e] = (x[e] - mean) * rstd;  // xhat; beyond the row dy is zero, so nothing counts there\n"
                       "        dweight[e] += dy[e] * x[e];", "        dweight[e] += dy[e] * x[e];\n        x[e] = (x[e] - mean) "
                                                              "* rstd;")),
              "dweight collects dy * x. The weight was multiplied by the normalised row: dy * xhat.", like=without(raw=True)),
        Wrong(Changed(("dweight[e] += dy[e] * x[e];", "dweight[e] = dy[e] * x[e];"), ("dbias[e] += dy[e];", "dbias[e] = dy[e];")),
              "Of each block only its last row is in dweight and dbias: = overwrites the rows before; += adds to them.",
              like=without(last=True)),
    ],
)  # fmt: skip
