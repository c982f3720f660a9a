"""Every number of the table's gradient has one owner, a thread that adds up its positions in order."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates

BLOCK = 64


def cases(random):
    yield Case(
        "the text of the lecture",
        np.outer(np.arange(1, 6), np.ones(3)).astype(np.float32),
        np.array([2, 0, 2, 2, 3]),
        4,
    )
    for label, V, C, n in (("one token again and again", 1, 2, 3), ("tokens that never occur", 9, 5, 4),
                           ("more columns than threads", 5, 150, 12), ("192 columns", 8, 192, 60)):  # fmt: skip
        yield Case(label, (0.5 + random.integers(-4, 5, size=(n, C))).astype(np.float32), random.integers(0, V, n), V)
    yield Case("the order counts", np.array([[1], [1e8], [-1e8], [5]], np.float32), np.array([0, 0, 0, 1]), 2)


def collected(dy, ids, V):
    dtable = np.zeros((V, dy.shape[1]), np.float32)
    np.add.at(dtable, ids, dy)
    return dtable


def segments(ids, V):
    positions = np.argsort(ids, kind="stable")
    return positions, np.searchsorted(ids[positions], np.arange(V + 1))


def launch(kernel, dy, ids, V):
    dtable = cuda.empty((V, dy.shape[1]))  # (V, C)
    positions, starts = (cuda.asarray(a.astype(np.int32)) for a in segments(ids, V))
    kernel(V, BLOCK, (cuda.asarray(dy), positions, starts, dtable, dy.shape[1]))
    return dtable


def unsorted(dy, ids, V):
    """As if positions[j] were j."""
    starts = segments(ids, V)[1]
    return np.stack([dy[starts[r] : starts[r + 1]].sum(0) for r in range(V)])


def nothing_for_none(dy, ids, V):
    dtable = collected(dy, ids, V)
    dtable[np.bincount(ids, minlength=V) == 0] = np.nan
    return dtable


def first_columns(dy, ids, V):
    dtable = collected(dy, ids, V)
    dtable[:, BLOCK:] = np.nan
    return dtable


exercise = Exercise(
    title="Gradients with an owner",
    minutes=15,
    language="cuda",
    defines="embedding_backward",
    target="kernel:embedding.cu",
    cases=cases,
    reference=collected,
    call=launch,
    measured="192 columns",
    goals=rates(4 * 4 * (60 + 8) * 192, read=4.2),  # some add to the table in memory, row after row
    hints=(
        "A block owns row r = blockIdx.x, a thread some of its columns. The positions of the row are positions[starts[r]] up to, "
        "not including, positions[starts[r + 1]].",
        "Two loops: over the columns c = threadIdx.x, threadIdx.x + blockDim.x, ...; and inside over the segment: j from "
        "starts[r] to starts[r + 1] - 1.",
        "float sum = 0.0f; for (int j = starts[r]; j < starts[r + 1]; j++) sum += dy[(long long)positions[j] * C + c]; "
        "dtable[(long long)r * C + c] = sum;",
    ),
    example='''// The largest gradient among each token's positions, by column.
extern "C" __global__ void largest(const float* dy, const int* positions, const int* starts, float* y, int C) {
    int r = blockIdx.x;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float most = -INFINITY;
        for (int j = starts[r]; j < starts[r + 1]; j++) {
            most = fmaxf(most, dy[positions[j] * C + c]);
        }
        y[r * C + c] = most;
    }
}
''',
    wrong=[
        Wrong(Changed(("dy[(long long)positions[j] * C + c]", "dy[(long long)j * C + c]")),
              "The rows of dy are not sorted; only `positions` is. Entry j of a segment stands for row positions[j] of dy.",
              like=unsorted),
        Wrong(Changed(("    for (int c = threadIdx.x;", "    if (begin == end) return;\n    for (int c = threadIdx.x;")),
              "A token that never occurs has a gradient too: 0. Write it.", like=nothing_for_none),
        Wrong(Changed(("    for (int c = threadIdx.x; c < C; c += blockDim.x) {", "    if (int c = threadIdx.x; c < C) "
                                                                                  "{")),
              f"Only the first {BLOCK} columns are written: as many as there are threads. Let each thread loop over columns "
              f"blockDim.x apart.", when=lambda seen: all(not outcome.issues
                  and np.array_equal(outcome.got, first_columns(*outcome.inputs), equal_nan=True) for outcome in seen.outcomes)),
        Wrong(Changed(("c = threadIdx.x; c < C; c +=", "c = threadIdx.x; c < 64; c +=")),
              generic="accesses an array out of bounds"),
        Wrong(Changed(("j = begin; j < end;", "j = begin; j <= end;")),
              "The segment of row r ends before starts[r + 1]: that entry belongs to the next row already.",
              when=lambda seen: "j<=" in seen.text.replace(" ", "")
                  and any(i.kind == "out-of-bounds" and "'positions'" in i.message for i in seen.issues)),
        Wrong(Changed(("int j = begin; j < end; j++", "int j = end - 1; j >= begin; j--")),
              "The rows are added from the last to the first. In float32 the order is part of the result: begin with the first.",
              when=lambda seen: seen.label == "the order counts" and not seen.issues),
        Wrong(Changed(("    for (int c = threadIdx.x; c < C; c += blockDim.x) {",
                       "    int each = (C + blockDim.x - 1) / blockDim.x * 4;\n"
                       "    for (int c = threadIdx.x * each; c < min(C, (int)(threadIdx.x + 1) * each); c++) {")),
              generic="the goal is not reached"),
    ],
)  # fmt: skip
