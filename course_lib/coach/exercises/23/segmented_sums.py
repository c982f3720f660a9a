"""A segmented scan is a scan with another operator: sums that begin anew at each head."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    heads = np.zeros(32, np.int32)
    heads[[0, 2]] = 1
    yield Case("heads at 0 and 2", np.arange(1, 33, dtype=np.float32), heads)
    yield Case("no head", np.ones(32, np.float32), np.zeros(32, np.int32))
    yield Case("every number a head", np.arange(32, dtype=np.float32), np.ones(32, np.int32))
    yield Case(
        "two warps", random.integers(-9, 10, 64).astype(np.float32) / 4, (random.random(64) < 0.2).astype(np.int32)
    )


def launch(kernel, x, heads):
    y = cuda.empty(x.shape)
    kernel(1, len(x), (cuda.asarray(x), cuda.asarray(heads), y))
    return y


def sums(x, heads):
    y, total = np.empty_like(x), 0.0
    for i in range(len(x)):
        total = x[i] + (0.0 if heads[i] or i % 32 == 0 else total)
        y[i] = total
    return y


def scanned(combine):
    """The steps of a warp's scan, with an operator of (sum, head) and (sum, head)."""

    def scan(x, heads):
        out = []
        for first in range(0, len(x), 32):
            parts = [(float(a), int(b)) for a, b in zip(x[first : first + 32], heads[first : first + 32], strict=True)]
            step = 1
            while step < 32:
                parts = [combine(parts[i - step], parts[i]) if i >= step else parts[i] for i in range(32)]
                step *= 2
            out += [part[0] for part in parts]
        return np.array(out, np.float32)

    return scan


exercise = Exercise(
    title="Sums that begin anew",
    minutes=8,
    core=False,
    language="cuda",
    defines="segmented_sums",
    cases=cases,
    reference=sums,
    call=launch,
    hints=(
        "If the right part has a head, nothing of the left one counts for its last number. If it has none, the sums join.",
        "And the head: the parts in a row have one if either has. That is left.head | right.head.",
        "return {right.head ? right.sum : left.sum + right.sum, left.head | right.head};",
    ),
    example='''// The operator of another scan: the last number that is not 0. Left parts count where the right one has none.
__device__ float last_nonzero(float left, float right) {
    return right != 0.0f ? right : left;
}
''',
    wrong=[
        Wrong(Changed(("right.head ? right.sum : left.sum + right.sum", "left.sum + right.sum")),
              "These are the prefix sums of all: heads are passed over. Where the right part has a head, its own sum stands.",
              like=scanned(lambda left, right: (left[0] + right[0], left[1] | right[1]))),
        Wrong(Changed(("left.head | right.head", "right.head")),
              "A head in the left part is forgotten, and later steps add beyond it. Both in a row have one if either has.",
              like=scanned(lambda left, right: (right[0] if right[1] else left[0] + right[0], right[1]))),
        Wrong(Changed(("left.head | right.head", "left.head")),
              "A head in the right part is forgotten: then later steps add what lies before it. Both in a row have one if either "
              "has.",
              like=scanned(lambda left, right: (right[0] if right[1] else left[0] + right[0], left[1]))),
        Wrong(Changed(("left.head | right.head", "left.head & right.head")),
              "Both in a row have a head if either has, not only if both have.",
              like=scanned(lambda left, right: (right[0] if right[1] else left[0] + right[0], left[1] & right[1]))),
        Wrong(Changed(("right.head ?", "left.head ?")),
              "You ask whether the left part has a head. What cuts the last number off from the left part is a head in the right "
              "one.",
              like=scanned(lambda left, right: (right[0] if left[1] else left[0] + right[0], left[1] | right[1]))),
    ],
)  # fmt: skip
