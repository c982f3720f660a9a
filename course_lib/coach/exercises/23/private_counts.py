"""A histogram in shared memory: each block counts for itself first."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests

AGAIN = "one number again and again"


def cases(random):
    yield Case("four numbers", np.array([2, 0, 2, 5], np.int32), 6)
    yield Case("one number", np.array([19], np.int32), 20)
    yield Case("numbers below 0 and beyond the bins", np.array([-1, 6, 3, 100, 3, -7], np.int32), 6)
    yield Case("more than all threads", random.integers(0, 20, 1000).astype(np.int32), 20)
    yield Case(AGAIN, np.full(300, 4, np.int32), 20)


def launch(kernel, x, BINS):
    counts = cuda.zeros(BINS, np.int32)
    kernel.instance(f"{BINS}")(2, 64, (cuda.asarray(x), counts, len(x)))
    return counts


def counted(x, BINS, first=None):
    """first: only so many numbers."""
    x = x[:first]
    return np.bincount(x[(x >= 0) & (x < BINS)], minlength=BINS).astype(np.int32)


exercise = Exercise(
    title="Each block counts for itself",
    minutes=4,
    core=False,
    language="cuda",
    defines="histogram_2_shared",
    instances=("6", "20"),
    cases=cases,
    reference=counted,
    call=launch,
    measured=AGAIN,
    goals=[Goal("requests that write global memory", requests("write"), at_most=2)],
    hints=("A barrier, a loop over i in steps of gridDim.x * blockDim.x, and a barrier. In the loop: "
           "if (x[i] >= 0 && x[i] < BINS) atomicAdd(&own[x[i]], 1);",),
    wrong=[
        Wrong(Changed((" i += gridDim.x * blockDim.x)", " i += n)")),
              "Each thread counts one number. There may be more numbers than threads: go on in steps of all threads of the grid.",
              like=lambda x, BINS: counted(x, BINS, first=128)),
        Wrong(Changed(("atomicAdd(&own[x[i]], 1)", "own[x[i]]++")),
              "Two threads may find the same number and update one count: each reads, adds and writes, and another may "
              "write in between. atomicAdd does all three in one step.",
              when=lambda seen: any("own[x[i]]" in i.source and "atomic" not in i.source and i.source == i.other_source
                                    for i in seen.issues if i.kind == "race")),
        Wrong(Changed(("&own[x[i]]", "&counts[x[i]]")), generic="the goal is not reached"),
        Wrong(Changed(("if (x[i] >= 0 && x[i] < BINS) ", "")), generic="out of bounds"),
    ],
)  # fmt: skip
