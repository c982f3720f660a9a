"""The backward pass of a gather: every position adds its update to the row that it had read, in a fixed order."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import KINDS, beyond, whole_numbers


def cases(random):
    yield Case("the example", np.array([[1, 1], [2, 2], [4, 4]], np.float32), np.array([1, 0, 1]), 2)
    for label, n, C, R in (
        ("one number", 1, 1, 1),
        ("a row that was never read", 4, 3, 9),
        ("more than a block", 40, 33, 7),
    ):
        updates = random.normal(size=(n, C)).astype(np.float32)
        yield Case(label, updates, random.integers(0, R, n), R)
    # (1 + 1e8) - 1e8 is 0 in float32, and (-1e8 + 1e8) + 1 is 1
    yield Case("the order counts", np.array([[1], [1e8], [-1e8], [5]], np.float32), np.array([0, 0, 0, 1]), 2)
    for kind in (np.int32, np.int64):
        updates = whole_numbers(random, (5, 2), kind)
        yield Case(f"{KINDS[updates.dtype.name]} numbers that no float holds", updates, np.array([0, 1, 0, 1, 1]), 2)


def added(updates, indices, R, order=1, last=False):
    y = np.zeros((R, updates.shape[1]), updates.dtype)
    for i in range(len(indices))[::order]:
        y[indices[i]] = updates[i] if last else y[indices[i]] + updates[i]
    return y


def launch(kernel, updates, indices, R):
    C = updates.shape[1]
    positions = np.argsort(indices, kind="stable").astype(np.int32)
    starts = np.searchsorted(indices[positions], np.arange(R + 1)).astype(np.int32)
    y = cuda.empty((R, C), updates.dtype)
    arrays = (cuda.asarray(array) for array in (updates, positions, starts))
    kernel.instance(KINDS[y.dtype.name])((R * C + 63) // 64, 64, (*arrays, y, R, C))
    return y


def unsorted(updates, indices, R):
    """As if positions[j] were j."""
    return added(updates, np.sort(indices), R)


exercise = Exercise(
    title="Rows added up by index",
    minutes=10,
    core=False,
    language="cuda",
    defines="scatter_add_sorted",
    instances=("float", "int", "long long"),
    target="kernel:scatter_add.cu",
    cases=cases,
    reference=added,
    call=launch,
    tolerance=1e-6,
    hints=(
        "Thread i owns element i of y: row i / C, column i % C. Which positions belong to that row?",
        "positions[starts[row]] is the first, and positions[starts[row + 1] - 1] the last. If both starts are the same, there "
        "is none.",
        "if (i >= R * C) return; T sum = 0; for (int j = starts[row]; j < starts[row + 1]; j++) sum += updates[positions[j] "
        "* C + column]; y[i] = sum;",
    ),
    example='''// How many positions belong to each row.
__global__ void counts(const int* starts, int* y, int R) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < R) y[row] = starts[row + 1] - starts[row];
}
''',
    wrong=[
        Wrong(Changed(("    if (i >= R * C) return;\n", "")),
              "There are more threads than numbers in y: those with i >= R * C must do nothing.",
              when=lambda seen: beyond(seen, seen.expected.size, 64)),
        Wrong(Changed(("updates[(long long)positions[j] * C", "updates[(long long)j * C")),
              "Row j of updates is added, and not row positions[j]: `positions` is sorted by row.", like=unsorted),
        Wrong(Changed(("sum += updates", "sum = updates")), "Each row keeps only its last update. Add all of them up.",
              like=lambda u, i, R: added(u, i, R, last=True)),
        Wrong(Changed(("for (int j = starts[row]; j < end; j++)", "for (int j = end - 1; j >= starts[row]; j--)")),
              "The sums run from the last position to the first. A float is rounded after each addition, so the order is part "
              "of the result: add from starts[row] on.", like=lambda u, i, R: added(u, i, R, order=-1)),
        Wrong(Changed(("    T sum = 0;", "    if (starts[row] == end) return;\n    T sum = 0;")),
              "A row that was never read is 0, and must be written too.",
              when=lambda seen: np.isnan(seen.got).any() and not seen.issues
                  and np.isnan(seen.got).all(1).sum() == sum(r not in seen.inputs[1] for r in range(seen.inputs[2])),
              once="which rows were written, and which were not"),
    ],
)  # fmt: skip
