"""Many threads count in one address: the smallest use of an atomic."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCK = 32


def cases(random):
    yield Case("one of three", np.array([2.5, -1.0, 0.5], np.float32), 1.0)
    yield Case("numbers equal to the limit", np.array([0.25, 0.75, 0.25, 3.0], np.float32), 0.25)
    yield Case("no number above", np.array([-2.0, -3.0], np.float32), -1.0)
    yield Case("a last block that is too long", random.integers(-4, 5, size=75).astype(np.float32), 0.0)


def launch(kernel, x, limit):
    count = cuda.asarray(np.zeros(1, np.int32))
    kernel(-(-len(x) // BLOCK), BLOCK, (cuda.asarray(x), count, limit, len(x)))
    return count


exercise = Exercise(
    title="Count in one address",
    minutes=3,
    core=False,
    language="cuda",
    defines="count_above",
    cases=cases,
    reference=lambda x, limit: np.array([(x > limit).sum()], np.int32),
    call=launch,
    hints=("A thread whose i is below n and whose x[i] is above the limit adds 1: atomicAdd(count, 1);",),
    wrong=[
        Wrong(Changed(("atomicAdd(count, 1)", "count[0] += 1")),
              "count[0] += 1 is three steps: read, add, write. Between them another thread may read the same number.",
              when=lambda seen: "race" in seen.kinds and "atomicAdd" not in seen.text),
        Wrong(Changed(("atomicAdd(count, 1)", "atomicAdd(count, (int)x[i])")),
              "The numbers themselves are added up. Each that is above the limit counts as 1.",
              like=lambda x, limit: np.array([x[x > limit].astype(int).sum()], np.int32)),
        Wrong(Changed(("x[i] > limit", "x[i] >= limit")), "Numbers equal to the limit are counted too.",
              like=lambda x, limit: np.array([(x >= limit).sum()], np.int32)),
        Wrong(Changed(("i < n && ", "")), generic="out of bounds: line 3: a read of 4 bytes at element 3"),
    ],
)  # fmt: skip
