"""Which columns a thread owns: four sums in registers, and neighbouring lanes that read neighbours."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved


def cases(random):
    for label, K, N in (("one term", 1, 128), ("two terms", 2, 128), ("two blocks", 3, 256), ("16 terms", 16, 128)):
        yield Case(label, *((0.5 + random.integers(-9, 10, size=shape)).astype(np.float32) for shape in ((K,), (K, N))))


def launch(kernel, x, A):
    K, N = A.shape
    y = cuda.empty((N,))
    kernel(N // 128, 32, (cuda.asarray(x), cuda.asarray(A), y, N, K))
    return y


exercise = Exercise(
    title="Four columns for each thread",
    minutes=4,
    core=False,
    language="cuda",
    defines="row_times_matrix",
    cases=cases,
    reference=lambda x, A: x @ A,
    call=launch,
    measured="16 terms",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=(16 * (16 + 1) + 16) * 32)],
    hints=("For each k: float left = x[k]; sum[c] += left * A[k * N + first + 32 * c] for c = 0 to 3. After the loop "
           "y[first + 32 * c] = sum[c].",),
    wrong=[
        Wrong(Changed(("        float left = x[k];\n", ""), ("left * A", "x[k] * A")),
              "x[k] is read again for each of the four columns. Let the loop over k be the outer one, and read x[k] there "
              "once, into a variable, for all four. (The compiler of a GPU may do that by itself; the simulator counts what "
              "is written.)",
              when=lambda seen: seen.label == "16 terms"
                  and bytes_moved(seen.reports) == (16 * (16 + 4) + 16) * 32),
        Wrong(Changed(("A[k * N + first + 32 * c]", "A[k * N + first + 3 * threadIdx.x + c]"),
                      ("y[first + 32 * c]", "y[first + 3 * threadIdx.x + c]")), generic="the goal is not reached"),
        Wrong(Changed(("sum[c] += ", "sum[c] = ")), "Each term replaces the last one. The sum must keep all: +=.",
              like=lambda x, A: x[-1] * A[-1]),
        Wrong(Changed(("A[k * N + first + 32 * c]", "A[k * 128 + first + 32 * c]")),
              "Row k of A begins at A[k * N]. A block has 128 columns, a row of A has N.",
              like=lambda x, A: np.concatenate([x @ A.ravel()[b:][: 128 * len(x)].reshape(-1, 128)
                                                for b in range(0, A.shape[1], 128)])),
        Wrong(Changed(("A[k * N + first + 32 * c]", "A[k * N + first + c]"), ("y[first + 32 * c]", "y[first + c]")),
              "Thread t takes the columns t to t + 3, which its neighbours take too, and most columns are left to no thread. "
              "Give each thread four that no other has: t, t + 32, t + 64 and t + 96.",
              like=lambda x, A: np.where(np.arange(A.shape[1]) % 128 < 35, x @ A, np.nan)),
        Wrong(Changed(("y[first + 32 * c]", "y[first + 3 * threadIdx.x + c]")),
              "The sums are right, and are written to other columns than they belong to.",
              like=lambda x, A: (x @ A).reshape(-1, 4, 32).swapaxes(1, 2).ravel()),
    ],
)  # fmt: skip
