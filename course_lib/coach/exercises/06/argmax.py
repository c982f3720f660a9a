"""Where the largest number stands: a reduction that keeps an index, with ties and nan."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import KINDS, beyond, extremes, whole_numbers

BLOCK = 32


def cases(random):
    yield Case("the example", np.array([[3, 7, 7]], np.float32)[:, :, None])
    for label, shape in (("one number", (1, 1, 1)), ("two rows", (2, 5, 1)), ("three columns", (1, 4, 3)),
                         ("more columns than a block", (3, 6, 17))):  # fmt: skip
        yield Case(label, (random.integers(-9, -1, size=shape) / 2).astype(np.float32))
    x = (random.integers(0, 9, size=(1, 6, 4)) / 2).astype(np.float32)
    x[0, 2, 1] = x[0, 4, 1] = x[0, 0, 2] = np.nan
    yield Case("nan among the numbers", x)
    for label, x in extremes(random, (1, 4, 6)):
        yield Case(label, x.swapaxes(1, 2).copy())
    for kind in (np.int32, np.int64):
        x = (whole_numbers(random, 1, kind) + np.array([1, 0, 2, 2]).astype(kind)).reshape(1, 4, 1)
        yield Case(f"{KINDS[x.dtype.name]} numbers that no float holds", x)


def launch(kernel, x):
    outer, n, inner = x.shape
    y = cuda.empty((outer, inner), np.int64)
    results = outer * inner
    kernel.instance(KINDS[x.dtype.name])((results + BLOCK - 1) // BLOCK, BLOCK, (cuda.asarray(x), y, results, n, inner))
    return y


def side_by_side(x):
    """The index of the largest among the n numbers that follow the first of each column in memory."""
    outer, n, inner = x.shape
    first = (np.arange(outer) * n * inner)[:, None] + np.arange(inner)  # (outer, inner)
    return x.reshape(-1)[first[:, :, None] + np.arange(n)].argmax(axis=2)


def no_nan(x):
    """A nan is only seen where it stands first, and then nothing is larger."""
    y = np.where(np.isnan(x), -np.inf, x).argmax(axis=1)
    return np.where(np.isnan(x[:, 0]), 0, y)


def last_nan(x):
    """A nan replaces another nan."""
    nan = np.isnan(x)
    return np.where(nan.any(axis=1), x.shape[1] - 1 - nan[:, ::-1].argmax(axis=1), x.argmax(axis=1))


def largest_itself(seen):
    """Whether each result is the number whose index was asked for; a nan has no whole number that would tell."""
    largest = seen.inputs[0].max(axis=1)
    return None if np.isnan(largest).any() else np.array_equal(seen.got, np.trunc(largest).astype(np.int64))


def from_zero(x):
    """As if a 0 stood at index 0."""
    return np.concatenate([np.zeros_like(x[:, :1]), x[:, 1:]], axis=1).argmax(axis=1)


exercise = Exercise(
    title="The index of the largest",
    minutes=10,
    core=False,
    language="cuda",
    defines="argmax",
    instances=("float", "int", "long long"),
    target="kernel:argmax.cu",
    cases=cases,
    reference=lambda x: x.argmax(axis=1),
    call=launch,
    hints=(
        "Column i, if i < results, begins at own = x + i / inner * n * inner + i % inner. Keep two things in the loop: "
        "`largest`, and its index, `where`.",
        "Begin with the number at index 0. A later one wins if it is larger, or if it is nan and the largest so far is not.",
        "T value = own[k * inner]; if (value > largest || (value != value && largest == largest)) { largest = value; where = "
        "k; }",
    ),
    example='''// The index of the first number of a column that is above a limit, or -1.
template <class T> __global__ void first_above(const T* x, long long* y, T limit, int results, int n, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= results) return;
    const T* own = x + i / inner * n * inner + i % inner;
    long long where = -1;
    for (int k = 0; k < n && where < 0; k++) {
        if (own[k * inner] > limit) where = k;
    }
    y[i] = where;
}
''',
    wrong=[
        Wrong(Changed(("value > largest ||", "value >= largest ||")),
              "Of several equal ones this is the last. The task asks for the first: only a *larger* number replaces it.",
              like=lambda x: np.where(np.isnan(x).any(axis=1), x.argmax(axis=1), x.shape[1] - 1 - x[:, ::-1].argmax(axis=1))),
        Wrong(Changed(("y[i] = where", "y[i] = largest")), "This is the largest number itself. The task asks for its index.",
              when=largest_itself),
        Wrong(Changed(("T largest = own[0]", "T largest = 0")),
              "All numbers below 0: the search begins with 0, and nothing is larger. "
              "Begin with the first number of the column.",
              like=from_zero),
        Wrong(Changed(("own[(long long)k * inner]", "own[k]")),
              "These are indices among numbers that stand side by side. The numbers of a column lie `inner` apart.",
              like=side_by_side),
        Wrong(Changed((" || (value != value && largest == largest)", "")),
              "A nan is skipped. It counts as larger than all: value != value is true for a nan only.", like=no_nan),
        Wrong(Changed((" || (value != value && largest == largest)", " || value != value")),
              "Of several nan this is the last. The task asks for the first: a nan replaces a number, and no other nan.",
              like=last_nan),
        Wrong(Changed(("if (i >= results) return;", "")),
              "There are more threads than columns: those from `results` on must do nothing.",
              when=lambda seen: beyond(seen, seen.inputs[0][:, 0].size, BLOCK)),
    ],
)  # fmt: skip
