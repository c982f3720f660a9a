"""Three elementwise steps in one kernel, each number read once: fusion, with the difference in a register."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

BLOCK, LONG = 64, 1024


def cases(random):
    for label, n in (("two numbers", 2), ("a last block that is too long", 100), ("1024 numbers", LONG)):
        x, target, weight = random.normal(size=(3, n)).astype(np.float32)
        yield Case(label, x, target, weight)


def launch(kernel, x, target, weight):
    n, y = len(x), cuda.empty(x.shape)  # (n,)
    kernel((n + BLOCK - 1) // BLOCK, BLOCK, (*map(cuda.asarray, (x, target, weight)), y, n))
    return y


def writes(seen):
    """Bytes that all launches of the failing case write."""
    return sum(line.bytes_moved for report in seen.reports for line in report.lines if line.op == "write")


exercise = Exercise(
    title="Three steps in one",
    minutes=4,
    core=False,
    language="cuda",
    defines="weighted_square",
    cases=cases,
    reference=lambda x, target, weight: weight * (x - target) ** 2,
    call=launch,
    measured="1024 numbers",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=16 * LONG)],
    hints=("float d = x[i] - target[i]; is the difference, in a register. Then one line writes y[i].",),
    wrong=[
        Wrong(Changed(("float d = x[i] - target[i];", "y[i] = x[i] - target[i];"),
                      ("weight[i] * d * d", "weight[i] * y[i] * y[i]")),
              "y is written more than once for each number. Keep what lies between in a variable of the thread.",
              when=lambda seen: not seen.failing.difference and not seen.issues and writes(seen) > 4 * LONG),
        Wrong(Changed(("weight[i] * d * d", "weight[i] * d")), "The difference is not squared.",
              like=lambda x, target, weight: weight * (x - target)),
        Wrong(Changed(("weight[i] * d * d", "(weight[i] * d) * (weight[i] * d)")),
              "The weight is squared too: only the difference is.",
              like=lambda x, target, weight: (weight * (x - target)) ** 2),
        Wrong(Changed(("weight[i] * d * d", "d * d")), "The weight is missing.",
              like=lambda x, target, weight: (x - target) ** 2),
        Wrong(Changed(("target[i]", "target[0]")), generic="all elements of `target` are as element 0"),
    ],
)  # fmt: skip
