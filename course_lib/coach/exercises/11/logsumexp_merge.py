"""The logsumexp of a row from the m and l of its parts, each l rescaled to the largest m."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes

EMPTY_FIRST = "a first part without elements"


def cases(random):
    yield Case("two parts of one row", np.array([[0, 1]], np.float32), np.array([[1, 1]], np.float32))
    for label, M, parts, size in (("one part", 3, 1, 1), ("more than a block", 300, 5, 1), ("large logits", 4, 3, 300)):
        tops = (size * random.normal(size=(M, parts))).astype(np.float32)
        yield Case(label, tops, random.uniform(1, 9, size=(M, parts)).astype(np.float32))
    yield Case("a part without elements", np.array([[2, -np.inf, 1]], np.float32), np.array([[1, 0, 3]], np.float32))
    yield Case(EMPTY_FIRST, np.array([[-np.inf, 2]], np.float32), np.array([[0, 1]], np.float32))
    for label, x in extremes(random, (3, 4)):
        yield Case(label, x, random.uniform(1, 9, size=x.shape).astype(np.float32))


def merged(tops, totals):
    wide, weights = tops.astype(np.float64), totals.astype(np.float64)  # (M, parts)
    top = wide.max(1)
    return (top + np.log((weights * np.exp(wide - top[:, None])).sum(1))).astype(np.float32)


def launch(kernel, tops, totals):
    M, parts = tops.shape
    logsumexp = cuda.empty(M)  # (M,)
    kernel((M + 255) // 256, 256, (cuda.asarray(tops), cuda.asarray(totals), logsumexp, M, parts))
    return logsumexp


def not_rescaled(tops, totals):
    return (tops.max(1) + np.log(totals.sum(1))).astype(np.float32)


exercise = Exercise(
    title="Merge the parts of a logsumexp",
    minutes=10,
    core=False,
    language="cuda",
    defines="logsumexp_merge",
    target="kernel:logsumexp_merge.cu",
    cases=cases,
    reference=merged,
    call=launch,
    hints=(
        "Two passes over the parts of the row: first the largest m; then the sum of the l, each rescaled to it.",
        "l * exp(m of the part - largest m): the exponent is never positive.",
        "if (row >= M) return; m from -INFINITY on; with at = row * parts + part: l += part_l[at] * expf(part_m[at] - m); "
        "at the end logsumexp[row] = m + logf(l);",
    ),
    example='''// Parts of a mean: sums and counts of each part become the mean of the row.
extern "C" __global__ void mean_merge(const float* sums, const float* counts, float* mean, int M, int parts) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float sum = 0.0f, count = 0.0f;
    for (int part = 0; part < parts; part++) {
        sum += sums[(size_t)row * parts + part];
        count += counts[(size_t)row * parts + part];
    }
    mean[row] = sum / count;
}
''',
    wrong=[
        Wrong(Changed(("l += part_l[part] * expf(part_m[part] - m);", "l += part_l[part];")),
              "The l of the parts were added without rescaling. Each was computed with its own m: multiply it by exp(its m - "
              "largest m).", like=not_rescaled),
        Wrong(Changed(("m + logf(l)", "logf(l)")),
              "The largest m is missing at the end: logsumexp = m + log(l).",
              like=lambda tops, totals: np.log((totals * np.exp(tops - tops.max(1, keepdims=True))).sum(1))),
        Wrong(Changed(("part_l[part] * expf(part_m[part] - m);", "part_l[part] * expf(part_m[part]);"),
                      ("m + logf(l)", "logf(l)")),
              "exp of a large m is infinite. Subtract the largest m first.",
              when=lambda seen: None if seen.inputs[0].max() < 88 else np.isposinf(seen.got).any()),
        Wrong(Changed(("float m = -INFINITY", "float m = 0.0f")),
              "The m of all parts are far below 0, and so is the largest of them: begin with -INFINITY, not with 0.",
              when=lambda seen: np.isneginf(seen.got).any() and (seen.inputs[0][np.isneginf(seen.got)] < -88).all()),
        Wrong("""extern "C" __global__ void logsumexp_merge(const float* part_m, const float* part_l, float* logsumexp,
                                            int M, int parts) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float m = -INFINITY, l = 0.0f;
    for (size_t at = (size_t)row * parts; at < (size_t)(row + 1) * parts; at++) {
        float top = fmaxf(m, part_m[at]);
        l = l * expf(m - top) + part_l[at] * expf(part_m[at] - top);
        m = top;
    }
    logsumexp[row] = m + logf(l);
}
""",
              "The first part is empty: its m is -INFINITY, and -INFINITY minus -INFINITY is not a number. A part whose m is "
              "-INFINITY contributes nothing.",
              when=lambda seen: seen.label == EMPTY_FIRST and np.isnan(seen.got).all() and not seen.issues,
              once="the only row whose first part is empty, and no number"),
        Wrong(Changed(("    if (row >= M) return;\n", "")),
              "There are more threads than rows: those with row >= M must do nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and seen.label == "two parts of one row"
                  and any(issue.thread[0] >= 1 for issue in seen.issues)),
    ],
)  # fmt: skip
