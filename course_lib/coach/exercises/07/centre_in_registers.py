"""A row that is read once: three numbers of each thread stay in registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

C, THREADS, ROWS = 96, 32, 16


def cases(random):
    yield Case("one row", (np.arange(C, dtype=np.float32) - 10).reshape(1, C))
    yield Case("equal numbers", np.full((2, C), 1.5, np.float32))
    yield Case(f"{ROWS} rows", random.normal(2, 3, size=(ROWS, C)).astype(np.float32))


def launch(kernel, x):
    y = cuda.empty(x.shape)
    kernel(len(x), THREADS, (cuda.asarray(x), y))
    return y


def minus(mean):
    """Rows (rows, C) minus what `mean` gives for them in float64."""
    return lambda x: (x - mean(x.astype(np.float64))).astype(np.float32)


exercise = Exercise(
    title="A row read once",
    minutes=4,
    core=False,
    language="cuda",
    defines="centre_in_registers",
    cases=cases,
    reference=minus(lambda x: x.mean(axis=1, keepdims=True)),
    call=launch,
    measured=f"{ROWS} rows",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=8.0 * ROWS * C)],
    hints=("As in rms_2: own[k] = x[first + 32 * k] and sum += own[k] in one loop, then block_sum<32>, then a loop "
           "that writes.",),
    wrong=[
        Wrong(Changed(("= own[k] - mean", "= x[first + 32 * k] - mean")),
              generic="the goal is not reached"),
        Wrong(Changed(("float mean = block_sum<32>(sum) / 96;", "float mean = sum / 3;")),
              "Each thread subtracts the mean of its own three numbers. The row has 96: block_sum<32> adds up all of them.",
              like=minus(lambda x: np.tile(x.reshape(-1, 3, THREADS).mean(axis=1), (1, 3)))),
        Wrong(Changed(("/ 96", "/ 3")), "The sum over the whole row is divided by 3. The row has 96 numbers.",
              like=minus(lambda x: x.sum(axis=1, keepdims=True) / 3)),
        Wrong(Changed(("x[first + 32 * k]", "x[first + k]"), ("y[first + 32 * k]", "y[first + k]")),
              "Thread t takes numbers t, t + 1 and t + 2, which its neighbours take too. Its next number lies 32 further.",
              when=lambda seen: (np.isfinite(seen.got) == (np.arange(C) < THREADS + 2)).all()),
    ],
)  # fmt: skip
