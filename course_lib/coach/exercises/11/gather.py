"""Find the fault: there are two ways to fix it, and in one of them neighbouring threads read different rows."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import beyond, whole_numbers


def cases(random):
    for label, R, C, n, kind in (("the example", 3, 2, 2, np.int32), ("one row of one", 1, 1, 1, np.int32),
                                 ("rows read more than once", 4, 3, 9, np.int64), ("more than a block", 9, 33, 7, np.int32),
                                 ("64 rows of 64", 100, 64, 64, np.int32)):  # fmt: skip
        x, indices = random.integers(1, 99, size=(R, C)).astype(np.uint32), random.integers(0, R, n).astype(kind)
        if label == "the example":
            x, indices[:] = np.array([[1, 2], [3, 4], [5, 6]], np.uint32), (2, 0)
        yield Case(label, x, indices)
    yield Case("numbers that no float holds", whole_numbers(random, (3, 2), np.uint32), np.array([2, 0], np.int32))


def launch(kernel, x, indices):
    (_, C), n = x.shape, len(indices)
    y = cuda.empty((n, C), np.uint32)
    run = kernel.instance("unsigned int, int" if indices.dtype == np.int32 else "unsigned int, long long")
    run((n * C + 63) // 64, 64, (cuda.asarray(x), cuda.asarray(indices), y, n, C))
    return y


exercise = Exercise(
    title="Find the fault: right numbers, too many sectors",
    minutes=10,
    core=False,
    language="cuda",
    defines="gather",
    instances=("unsigned int, int", "unsigned int, long long"),
    target="kernel:gather.cu",
    cases=cases,
    reference=lambda x, indices: x[indices],
    call=launch,
    measured="64 rows of 64",
    goals=rates(1.25 * 8 * 64 * 64, read=4.2),
    hints=(
        "Threads 0 and 1 are neighbours. Which numbers of x do they read, and how far apart are these in memory?",
        "Neighbouring threads should own neighbouring columns of the same row, in x and in y.",
        "int row = i / C, column = i % C; then y[i] is x[indices[row] * C + column].",
    ),
    example='''// Each row of x (R, C) reversed: neighbouring threads still read and write neighbouring numbers.
template <class T> __global__ void reverse_rows(const T* x, T* y, int R, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= R * C) return;
    int row = i / C, column = i % C;
    y[i] = x[row * C + (C - 1 - column)];
}
''',
    wrong=[
        Wrong(Changed(("    if (i >= (long long)n * C) return;\n", "")),
              "There are more threads than numbers in y: those with i >= n * C must do nothing.",
              when=lambda seen: beyond(seen, seen.expected.size, 64)),
        Wrong(Changed(("indices[row]", "indices[i]")),
              "`indices` holds one index for each row of y, not for each number: read indices[row].",
              when=lambda seen: any(issue.kind == "out-of-bounds" and "indices" in issue.message for issue in seen.issues)),
        Wrong("""template <class T, class I> __global__ void gather(const T* x, const I* indices, T* y, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) y[i] = x[i];
}
""", "The rows were copied in the order of x; the indices were not used.",
              when=lambda seen: "indices" not in seen.text.split("{", 1)[1]),
        Wrong(Changed(("int row = i / C, column = i % C;", "int row = i % n, column = i / n;")),
              "The right numbers are written to the wrong positions: thread i writes y[i], so its row is i / C, and its column "
              "i % C.",
              when=lambda seen: seen.failing.difference is not None and not seen.issues
                  and sorted(np.ravel(seen.got)) == sorted(np.ravel(seen.expected))),
        Wrong(Changed(("int row = i / C, column = i % C;", "int row = i % n, column = i / n;"), ("y[i] =", "y[row * C + column] "
                                                                                                           "=")),
              generic="the goal is not reached"),
        Wrong(Changed(("y[i] = x[", "y[i] = (T)(float)x[")), generic="rounded to floats"),
    ],
)  # fmt: skip
