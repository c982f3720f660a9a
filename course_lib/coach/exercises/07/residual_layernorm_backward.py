"""A value that was used twice: the gradients of both uses add up, in the same kernel."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

PLAIN, WIDE = "64, 1, 2", "64, 4, 1"
ROWS, LONG = 40, 256
BLOCKS = 2  # also where there are fewer rows: partial has a row for each


def cases(random):
    for label, rows, C, passed, bias in (
        ("one row of three", 1, 3, True, True), ("total was not used again", 2, 5, False, True), ("no bias", 3, 37, True, False),
        ("more rows than blocks", 5, 100, True, True), (f"{ROWS} rows of {LONG}", ROWS, LONG, True, True),
    ):  # fmt: skip
        dy, dtotal, total = (random.normal(0.5, 1, size=(rows, C)).astype(np.float32) for _ in range(3))
        yield Case(
            label, dy, dtotal if passed else None, total, (0.5 + random.integers(1, 4, size=C)).astype(np.float32), bias
        )


def gradients(dy, dtotal, total, weight, has_bias, also=1.0, early=False):
    """dx, and the sums of dy xhat and of dy over all rows. also: how much of dtotal arrives; early: before the norm."""
    dy, total = dy.astype(np.float64), total.astype(np.float64)  # (rows, C)
    if early and dtotal is not None:
        dy, dtotal = dy + dtotal, None
    mean, rstd = statistics(total)
    xhat, g = (total - mean) * rstd, dy * weight  # (rows, C)
    dx = (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True)) * rstd
    parts = (dx + (0 if dtotal is None else also * dtotal), (dy * xhat).sum(0), dy.sum(0))
    return tuple(part.astype(np.float32) for part in parts[: 3 if has_bias else 2])


def statistics(x):
    mean = x.mean(-1, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def launch(kernel, dy, dtotal, total, weight, has_bias):
    rows, C = total.shape
    mean, rstd = (cuda.asarray(s[:, 0].astype(np.float32)) for s in statistics(total.astype(np.float64)))  # (rows,)
    dx, partial = cuda.empty(total.shape), cuda.empty((BLOCKS, 2 * C if has_bias else C))
    given = (
        cuda.asarray(dy),
        None if dtotal is None else cuda.asarray(dtotal),
        cuda.asarray(total),
        cuda.asarray(weight),
    )
    instance = WIDE if C % 4 == 0 and C > 128 else PLAIN
    kernel.instance(instance)(BLOCKS, 64, (*given, mean, rstd, dx, partial, rows, C, has_bias))
    sums = partial.sum(0)  # (2 C) or (C)
    return (dx, sums[:C], sums[C:]) if has_bias else (dx, sums)


exercise = Exercise(
    title="The backward pass of the residual and the norm",
    minutes=15,
    core=False,
    language="cuda",
    defines="residual_layernorm_backward",
    instances=(PLAIN, WIDE),
    target="kernel:residual_layernorm.cu",
    cases=cases,
    reference=gradients,
    call=launch,
    results=("dx", "dweight", "dbias"),
    tolerance=1e-4,
    measured=f"{ROWS} rows of {LONG}",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.15 * 16 * ROWS * LONG)],
    hints=(
        "As layernorm_backward, with one row more: passed, for dtotal. It is added where dx is ready, before it is stored.",
        "normalise_backward(own, d, w, dweight, dbias, C, mean[row], rstd[row]) turns own, which held the row of total, into dx.",
        "passed, dweight, dbias: fill(0.0f); in the loop if (dtotal) passed.load(dtotal + (long long)row * C, C); ... "
        "own[e] += passed[e]; ... and after the loop: float* sums = partial + (long long)blockIdx.x * (has_bias ? "
        "2 * C : C); dweight.store(sums, C); if (has_bias) dbias.store(sums + C, C);",
    ),
    example='''// z = x * x + 3 x: x was used twice, so dx = dz (2 x + 3) = 2 x dz + 3 dz.
__global__ void twice_used_backward(const float* dz, const float* x, float* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        dx[i] = 2.0f * x[i] * dz[i] + 3.0f * dz[i];
    }
}
''',
    wrong=[
        Wrong(Changed(("own[e] += passed[e];", "own[e] += 0.0f;")),
              "dtotal is not in dx. total was used twice, in the norm and by what came after it: both gradients add up.",
              like=lambda *inputs: gradients(*inputs, also=0.0)),
        Wrong(Changed(("own[e] += passed[e];", "own[e] += 2.0f * passed[e];")), "dtotal was added twice.",
              like=lambda *inputs: gradients(*inputs, also=2.0)),
        Wrong(Changed(("own[e] += passed[e];", "own[e] += 0.0f;"),
                      ("        normalise_backward(", "        for (int e = 0; e < d.COUNT; e++) d[e] += passed[e];\n"
                       "        normalise_backward(")),
              "dtotal was added to dy, so it went through the norm. It reaches total past the norm: add it to dx.",
              like=lambda *inputs: gradients(*inputs, early=True)),
        Wrong(Changed(("        if (dtotal) passed.load", "        passed.load")),
              "dtotal may be null, if total was not used again. Then there is nothing to load: its row stays 0.",
              when=lambda seen: seen.label == "total was not used again" and "null-pointer" in seen.kinds),
        Wrong(Changed(("(has_bias ? 2 * C : C)", "2 * C")),
              "Without a bias a row of partial has only C numbers: a block's row begins at "
              "blockIdx.x * C, and dbias is not stored.",
              when=lambda seen: seen.label == "no bias" and bool(seen.kinds & {"out-of-bounds", "race"})),
    ],
)  # fmt: skip
