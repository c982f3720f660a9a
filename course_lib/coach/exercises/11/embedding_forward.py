"""Rows of an embedding table, read by id; an id that does not exist gives zeros."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import beyond


def cases(random):
    yield Case("the table and text of the lecture", np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 1, 0]], np.float32),
               np.array([2, 0, 2, 2, 3], np.int32))  # fmt: skip
    for label, V, C, n, kind in (("one token, one column", 1, 1, 1, np.int32), ("ids of 64 bits", 5, 4, 7, np.int64),
                                 ("more than a block", 40, 9, 50, np.int32)):  # fmt: skip
        yield Case(label, random.normal(size=(V, C)).astype(np.float32), random.integers(0, V, n).astype(kind))
    table = random.normal(size=(4, 3)).astype(np.float32)
    yield Case("ids outside of the table", table, np.array([3, -1, 4, 0, 10_000], np.int32))
    far = 2**32 + np.arange(4)  # the lower 32 bits of each are an id of the table
    yield Case("ids of 64 bits outside of the table", table, np.append(far, [2**24 + 1, -(2**32) + 1]).astype(np.int64))


def picked(table, ids):
    inside = (ids >= 0) & (ids < len(table))
    return np.where(inside[:, None], table[np.where(inside, ids, 0)], 0).astype(np.float32)  # (n, C)


def launch(kernel, table, ids):
    (V, C), n = table.shape, len(ids)
    y = cuda.empty((n, C))  # (n, C)
    run = kernel.instance("int" if ids.dtype == np.int32 else "long long")
    run((n * C + 63) // 64, 64, (cuda.asarray(table), cuda.asarray(ids), y, n, V, C))
    return y


def by_position(table, ids):
    return table[np.arange(len(ids)) % len(table)]


exercise = Exercise(
    title="A row for each id",
    minutes=10,
    language="cuda",
    defines="embedding_forward",
    instances=("int", "long long"),
    target="kernel:embedding.cu",
    cases=cases,
    reference=picked,
    call=launch,
    hints=(
        "Thread i owns element i of y. Which row of y is that, and which column?",
        "Row i / C, column i % C. The id of the row is indices[i / C], and a row of the table begins at id * C.",
        "if (i >= n * C) return; I row = indices[i / C]; y[i] = row >= 0 && row < V ? table[(long long)row * C + i % C] : 0.0f;",
    ),
    example='''// Columns read by index: y (M, n) from x (M, N).
template <class I> __global__ void columns(const float* x, const I* indices, float* y, int M, int N, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * n) {
        I column = indices[i % n];
        y[i] = x[i / n * N + column];
    }
}
''',
    wrong=[
        Wrong(Changed(("indices[i / C]", "indices[i]")),
              "`indices` holds one id for each row of y, not for each number: read indices[i / C].",
              when=lambda seen: "out-of-bounds" in seen.kinds and any("indices" in issue.message for issue in seen.issues)
                  and all(piece in seen.text.replace(" ", "") for piece in ("indices[i]", "y[i]="))),
        Wrong(Changed(("row >= 0 && row < V ? table[(long long)row * C + i % C] : 0.0f", "table[(long long)row * C + i % C]")),
              "An id outside of the table, negative or V and more, must give zeros: check it before you read.",
              when=lambda seen: seen.label == "ids outside of the table"
                  and any("table" in issue.message for issue in seen.issues)),
        Wrong(Changed(("    if (i >= n * C) return;\n", "")),
              "There are more threads than numbers: those with i >= n * C must do nothing.",
              when=lambda seen: beyond(seen, seen.expected.size, 64)),
        Wrong(Changed(("I row = indices[i / C];", "I row = i / C % V;")),
              "The rows were copied in the order of the table; the ids were not used.", like=by_position),
    ],
)  # fmt: skip
