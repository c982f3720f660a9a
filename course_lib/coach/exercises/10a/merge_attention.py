"""Attention over two halves of the keys, merged by their logsumexp."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import beyond, extremes

BLOCK = 32


def cases(random):
    def drawn(n, D, shift=0.0):
        y1, y2 = (random.normal(size=(n, D)).astype(np.float32) for _ in range(2))
        a, b = (random.normal(size=n) + shift for _ in range(2))
        return y1, a.astype(np.float32), y2, b.astype(np.float32)

    quarter = np.log(np.array([3.0], np.float32))
    yield Case("three to one", np.array([[4.0, 8.0]], np.float32), quarter, np.zeros((1, 2), np.float32), 0 * quarter)
    for label, shape in {"one number": (1, 1), "one column": (40, 1), "one row": (1, 45), "some rows": (7, 12)}.items():
        yield Case(label, *drawn(*shape))
    y1, a, y2, b = drawn(3, 4)
    a[0] = b[2] = -np.inf
    y1[0] = y2[2] = np.nan  # 0/0: there was nothing to sum
    yield Case("halves without a key", y1, a, y2, b)
    yield Case("large logsumexps", *drawn(4, 5, 200.0))
    yield Case("small logsumexps", *drawn(4, 5, -200.0))
    y1, a, y2, b = drawn(4, 5)
    yield Case(
        "one half far above the other", y1, a + np.float32([150, -150, 0, 99]), y2, b - np.float32([150, -150, 99, 0])
    )
    for label, x in extremes(random, (3, 2)):
        yield Case(label, y1[:3], x[:, 0].copy(), y2[:3], x[:, 1].copy())


def launch(kernel, y1, a, y2, b):
    (n, D), y, logsumexp = y1.shape, cuda.empty(y1.shape), cuda.empty(a.shape)  # (n, D), (n,)
    given = [cuda.asarray(array) for array in (y1, a, y2, b)]
    kernel((n * D + BLOCK - 1) // BLOCK, BLOCK, (*given, y, logsumexp, n, D))
    return y, logsumexp


def variant(weigh=lambda a, b: (np.exp(a - np.logaddexp(a, b)), np.exp(b - np.logaddexp(a, b))), kept=np.logaddexp):
    def merge(y1, a, y2, b):
        wide = a.astype(np.float64), b.astype(np.float64)
        first, second = weigh(*wide)
        seen = (np.exp(lse - np.maximum(a, b))[:, None] > 0 for lse in (a, b))
        one, two = (np.where(some, half, 0) for some, half in zip(seen, (y1, y2), strict=True))
        y = first[:, None] * one + second[:, None] * two
        return y.astype(np.float32), kept(*wide).astype(np.float32)

    return merge


def nan_kept(y1, a, y2, b):
    top = np.maximum(a, b).astype(np.float64)
    first, second = np.exp(a - top)[:, None], np.exp(b - top)[:, None]
    return ((first * y1 + second * y2) / (first + second)).astype(np.float32), np.logaddexp(a, b)


def by_exponentials(y1, a, y2, b):
    """Without subtracting the larger one: nan where exp(logsumexp) is infinite, or 0 in both."""
    first, second = np.exp(a), np.exp(b)  # float32
    total = first + second
    first, second = first[:, None], second[:, None]
    y = np.where(first > 0, first * y1, 0) + np.where(second > 0, second * y2, 0)
    return y / total[:, None], np.log(total)


def wrong_row(y1, a, y2, b):
    """Number i takes the logsumexps of row i % n."""
    rows = np.arange(y1.size) % len(a)
    share = np.exp(a.astype(np.float64) - np.logaddexp(a, b))[rows].reshape(y1.shape)
    y = np.where(share > 0, share * y1, 0) + np.where(share < 1, (1 - share) * y2, 0)
    return y.astype(np.float32), np.logaddexp(a, b)


def in_proportion(a, b):
    return a / (a + b), b / (a + b)


exercise = Exercise(
    title="Two halves of the past",
    minutes=10,
    core=False,
    language="cuda",
    defines="merge_attention",
    cases=cases,
    reference=variant(),
    call=launch,
    results=("y", "logsumexp"),
    tolerance=5e-5,
    hints=(
        "exp(logsumexp) of a half is its sum of exponentials. Which fraction of the whole sum is it?",
        "Subtract the larger of the two logsumexps before exp: the fractions stay the same, and nothing overflows.",
        "if (i >= n * D) return; with a and b the logsumexps of row i / D: float m = fmaxf(a, b); float first = expf(a - "
        "m), second = expf(b - m); y = (first * y1 + second * y2) / (first + second), where a half with the weight 0 is "
        "left out; logsumexp = m + logf(first + second).",
    ),
    example='''// Two means over n1[row] and n2[row] samples become the mean over all of them: y (n, D).
__global__ void merge_means(const float* y1, const int* n1, const float* y2, const int* n2, float* y, int n, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * D) return;
    float first = n1[i / D], second = n2[i / D];
    y[i] = (first * y1[i] + second * y2[i]) / (first + second);
}
''',
    wrong=[
        Wrong(Changed(("(first * one + second * two) / (first + second)", "0.5f * (one + two)")),
              "Both halves have the same weight here. The one with the larger sum of exponentials must have the larger weight.",
              like=variant(weigh=lambda a, b: (np.full_like(a, 0.5), np.full_like(b, 0.5)))),
        Wrong(Changed(("first > 0.0f ? y1[i] : 0.0f", "y1[i]"), ("second > 0.0f ? y2[i] : 0.0f", "y2[i]")),
              "A half without any key has the weight 0, but its y is nan, and 0 times nan is nan. Leave such a y out.",
              like=nan_kept),
        Wrong(Changed(("(first * one + second * two) / (first + second)", "(a * one + b * two) / (a + b)")),
              "The weights are made from the logsumexps themselves. A logsumexp is a logarithm: the sum is exp(logsumexp).",
              like=variant(weigh=in_proportion)),
        Wrong(Changed(("first * one + second * two", "second * one + first * two")),
              "Each half has the weight of the other one.",
              like=variant(weigh=lambda a, b: (np.exp(b - np.logaddexp(a, b)), np.exp(a - np.logaddexp(a, b))))),
        Wrong(Changed(("int row = i / D;", "int row = i % n;"), ("if (i % D == 0)", "if (i < n)")),
              "The row of number i is i / D, because a row has D numbers.", like=wrong_row),
        Wrong(Changed(("(first * one + second * two) / (first + second)", "first * one + second * two")),
              "y is not divided: the two weights do not add up to 1. Divide by their sum.",
              like=variant(weigh=lambda a, b: (np.exp(a - np.maximum(a, b)), np.exp(b - np.maximum(a, b))))),
        Wrong(Changed(("m + logf(first + second)", "a + b")),
              "y is right. The sums of exponentials add up, not their logarithms: logsumexp is log(exp(logsumexp1) + "
              "exp(logsumexp2)).", like=variant(kept=np.add)),
        Wrong(Changed(("m + logf(first + second)", "m")),
              "y is right. The larger logsumexp is not yet that of all keys: add the exponentials of the smaller half.",
              like=variant(kept=np.maximum)),
        Wrong(Changed(("fmaxf(a, b)", "0.0f")),
              "exp(200) overflows to infinity, and exp(-200) underflows to 0. Subtract the larger logsumexp from both first.",
              like=by_exponentials),
        Wrong(Changed(("    if (i >= n * D) return;\n", "")),
              "The last block has threads without a number of y: those from n * D on must do nothing.",
              when=lambda seen: beyond(seen, seen.inputs[0].size, BLOCK)),
    ],
)  # fmt: skip
