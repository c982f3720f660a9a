"""A scan of a warp by shuffles: each lane adds what lanes below it hold, if there are any."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("all ones", np.ones(32, np.float32))
    yield Case("0 to 31", np.arange(32, dtype=np.float32))
    yield Case("two warps", (0.5 + random.integers(-9, 10, size=64)).astype(np.float32))


def launch(kernel, x):
    y = cuda.empty(x.shape)
    kernel(1, len(x), (cuda.asarray(x), y))
    return y


def scanned(x, own_too=False, last=32, first=1):
    """What a warp's scan gives. own_too: the lowest lanes add what they get, their own."""
    v = x.reshape(-1, 32).copy()
    step = first
    while step < last:
        below = np.concatenate([v[:, :step], v[:, :-step]], axis=1)
        v = v + np.where(np.arange(32) >= step, below, below if own_too else 0)
        step *= 2
    return v.ravel()


exercise = Exercise(
    title="Prefix sums of a warp",
    minutes=4,
    core=False,
    language="cuda",
    defines="warp_prefix_sums",
    cases=cases,
    reference=scanned,
    call=launch,
    hints=("In each step first the shuffle, which all lanes call; then `if (lane >= step) v += ...`.",),
    wrong=[
        Wrong(Changed(("if (lane >= step) v", "v")),
              "The lowest lanes get their own v back from the shuffle, and add it. Where no lane is so far below, add nothing.",
              like=lambda x: scanned(x, own_too=True)),
        Wrong(Changed(("        float below = __shfl_up_sync(0xffffffff, v, step);\n        if (lane >= step) v += below;",
                       "        if (lane >= step) v += __shfl_up_sync(0xffffffff, v, step);")),
              "A shuffle was called by some of the lanes only. All lanes of a warp call it together, outside of any `if`.",
              when=lambda seen: "missing-lanes" in seen.kinds),
        Wrong(Changed(("step < 32", "step < 16")), "The last step, of 16, is missing: only 16 numbers are added up.",
              like=lambda x: scanned(x, last=16)),
        Wrong(Changed(("int step = 1", "int step = 2")), "The first step, of 1, is missing: every other number is left out.",
              like=lambda x: scanned(x, first=2)),
        Wrong(Changed(("if (lane >= step)", "if (threadIdx.x >= step)")),
              "In the second warp all lanes add, the lowest ones what they already hold. Compare the lane, not the thread.",
              like=lambda x: np.concatenate([scanned(x[:32]), scanned(x[32:], own_too=True)]) if len(x) > 32 else scanned(x)),
    ],
)  # fmt: skip
