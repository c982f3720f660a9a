"""Threads that read what others wrote: shared memory with one barrier, outside of the `if`."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for n in (3, 64, 40, 1):
        yield Case(f"{n} number{'s' * (n > 1)}", random.permutation(n).astype(np.float32) + 0.5)


def launch(kernel, x):
    x = cuda.asarray(x)
    kernel(1, 64, (x, len(x)))
    return x


def races_in_part(seen):
    """Does a race concern a line that touches the array in shared memory?"""
    lines = seen.text.splitlines()
    return any("part[" in lines[issue.line - 1] for issue in seen.issues if issue.kind == "race")


exercise = Exercise(
    title="Roll in place",
    minutes=4,
    core=False,
    language="cuda",
    defines="roll_in_place",
    cases=cases,
    reference=lambda x: np.roll(x, -1),
    call=launch,
    hints=("Three lines: if (t < n) part[t] = x[t]; a barrier for all 64 threads; and one that writes x[t], if t < n.",),
    wrong=[
        Wrong(Changed(("    __syncthreads();\n", "")),
              "A thread reads an element of `part` that another thread writes, with no barrier between the two.",
              when=lambda seen: "__syncthreads" not in seen.text and races_in_part(seen)),
        Wrong(Changed(("if (t < n) part[t] = x[t];\n    __syncthreads();",
                       "if (t < n) {\n        part[t] = x[t];\n        __syncthreads();\n    }")),
              "Only the threads with t < n reach this barrier. All 64 must: it stands outside of the `if`.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
        Wrong(Changed(("(t + 1) % n", "(t + n - 1) % n")), "It moves the other way: each number goes to the right.",
              like=lambda x: np.roll(x, 1)),
        Wrong(Changed(("part[(t + 1) % n]", "part[t + 1]")),
              "The last number has no right neighbour. Element n - 1 gets the first one.",
              when=lambda seen: seen.kinds == {"uninitialised-read"} and np.array_equal(seen.got[:-1], seen.expected[:-1]),
              once="the report names what is read"),
        Wrong(Changed(("if (t < n) x[t]", "x[t]")), generic="accesses an array out of bounds: line 6"),
    ],
)  # fmt: skip
