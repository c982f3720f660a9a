"""The butterfly, in groups of eight lanes: which partners a step of a shuffle pairs."""

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


def groups(size):
    """Sums over groups of `size` neighbouring lanes, which every lane of the group gets."""
    return lambda x: np.repeat(x.reshape(-1, size).sum(axis=1), size)


exercise = Exercise(
    title="Sums of eight lanes",
    minutes=3,
    core=False,
    language="cuda",
    defines="sum_of_8_lanes",
    cases=cases,
    reference=groups(8),
    call=launch,
    hints=("The partners of a group of eight are 4, 2 and 1 lanes away. Farther ones belong to another group.",),
    wrong=[
        Wrong(Changed(("step = 4", "step = 16")),
              "These are the sums of all 32 lanes. Partners 16 and 8 lanes away are in other groups.",
              like=groups(32)),
        Wrong(Changed(("step = 4", "step = 8")),
              "These are the sums of 16 lanes. With a step of 8 a lane gets a number of another group.", like=groups(16)),
        Wrong(Changed(("step > 0", "step > 1")), "The last step, with the neighbour 1 lane away, is missing.",
              like=lambda x: np.tile(x.reshape(-1, 4, 2).sum(axis=1), (1, 4)).ravel()),
        Wrong(Changed(("v += __shfl", "v = __shfl")),
              "Each lane only gets the number of a partner. It must add that to its own.",
              like=lambda x: x.reshape(-1, 8)[:, ::-1].ravel()),
    ],
)  # fmt: skip
