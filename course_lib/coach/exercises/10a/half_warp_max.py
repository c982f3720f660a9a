"""The butterfly among 16 lanes: two rows share a warp, and must not mix."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes


def cases(random):
    yield Case("two rows in order", np.arange(32, dtype=np.float32).reshape(2, 16))
    yield Case("two rows, the first one larger", (100 - np.arange(32, dtype=np.float32)).reshape(2, 16))
    yield Case("negative numbers", -1 - random.random((4, 16)).astype(np.float32))
    yield Case("eight rows", random.normal(size=(8, 16)).astype(np.float32))
    for label, x in extremes(random, (2, 16)):
        yield Case(label, x)


def launch(kernel, x):
    y = cuda.empty(x.shape)  # (rows, 16)
    kernel(len(x) // 2, 32, (cuda.asarray(x), y))
    return y


def butterfly(*steps, combine=np.maximum):
    """Each lane's number after it was combined with that of lane `lane ^ step`, for each of the steps."""

    def rows(x):
        own = x.reshape(-1, 32).copy()
        for step in steps:
            own = combine(own, own[:, np.arange(32) ^ step])
        return own.reshape(x.shape)

    return rows


exercise = Exercise(
    title="A butterfly among 16 lanes",
    minutes=4,
    core=False,
    language="cuda",
    defines="half_warp_max",
    cases=cases,
    reference=lambda x: np.repeat(x.max(axis=1, keepdims=True), 16, axis=1),
    call=launch,
    hints=("Step 8 gives each lane the number of lane ^ 8: of its own half of the warp. The loop is that of chapter 06, "
           "for (int half = 8; half > 0; half /= 2), with fmaxf.",),
    wrong=[
        Wrong(Changed(("half = 8", "half = 16")),
              "Step 16 exchanges numbers between the two rows of a warp. A row has 16 lanes, so the first step is 8.",
              like=butterfly(16, 8, 4, 2, 1)),
        Wrong(Changed(("half = 8", "half = 4")),
              "After the steps 4, 2 and 1 a lane knows the largest of 8 lanes. A row has 16.", like=butterfly(4, 2, 1)),
        Wrong(Changed(("    for (int half = 8; half > 0; half /= 2) m = fmaxf(m, ",
                       "    m = fmaxf(m, "), (", half));", ", 8));")),
              "One step compares two lanes. It takes the steps 8, 4, 2 and 1 to compare 16.", like=butterfly(8)),
        Wrong(Changed(("m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, half))", "m += __shfl_xor_sync(0xffffffff, m, half)")),
              "These are the sums of the rows. The largest is wanted: fmaxf in place of +.",
              like=butterfly(8, 4, 2, 1, combine=np.add)),
        Wrong(Changed(("m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, half))", "m = __shfl_xor_sync(0xffffffff, m, half)")),
              "Each step puts the partner's number in place of the lane's own. The larger of the two is to be kept: fmaxf.",
              like=lambda x: x[:, ::-1]),
    ],
)  # fmt: skip
