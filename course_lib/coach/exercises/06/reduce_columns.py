"""Sums and maxima down the columns: neighbouring threads own neighbouring columns, and no thread waits for another."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import KINDS, extremes, whole_numbers

BLOCK, DOWN = 32, 2  # threads of a block, blocks along the parts
WAYS = {"Sum": np.add, "Max": np.maximum}


def cases(random):
    for label, way, shape, each in (("the example", "Sum", (1, 3, 2), 2), ("one number", "Max", (1, 1, 1), 1),
                                    ("two matrices", "Sum", (2, 3, 2), 3), ("negative numbers", "Max", (1, 9, 5), 4),
                                    ("more parts than blocks", "Sum", (1, 23, 3), 4),
                                    ("more columns than threads", "Max", (2, 7, 41), 3),
                                    ("8 matrices of 16 x 32", "Sum", (8, 16, 32), 4)):  # fmt: skip
        x = (0.5 + random.integers(-60, -1, size=shape)).astype(np.float32)
        if label == "the example":
            x = np.arange(1, 7, dtype=np.float32).reshape(shape)
        yield Case(label, way, x, each)
    for label, x in extremes(random, (1, 4, 9)):
        yield Case(label, "Max", x.swapaxes(1, 2).copy(), 4)
    for kind in (np.int32, np.int64):  # the sums of int are long long, as in the library
        x = whole_numbers(random, (1, 5, 2), kind) * (1 if kind is np.int64 else 60)
        yield Case(f"{KINDS[x.dtype.name]} numbers that no float holds", "Sum", x, 3)


def launch(kernel, way, x, each):
    outer, K, inner = x.shape
    parts = (K + each - 1) // each
    y = cuda.empty((outer, parts, inner), np.float32 if x.dtype == np.float32 else np.int64)
    grid = (outer * inner + BLOCK - 1) // BLOCK, min(parts, DOWN)
    nothing = y.dtype.type(0) if way == "Sum" else -np.inf
    run = kernel.instance(f"{way}, {KINDS[x.dtype.name]}, {KINDS[y.dtype.name]}")
    run(grid, BLOCK, (cuda.asarray(x), y, nothing, outer, K, inner, parts, each))
    return y


def reduced(way, x, each, begin=None):
    cut = [WAYS[way].reduce(x[:, k : k + each], axis=1) for k in range(0, x.shape[1], each)]
    y = np.stack(cut, axis=1)  # (outer, parts, inner)
    return y if begin is None else WAYS[way](y, begin)


def side_by_side(way, x, each):
    """The numbers that follow the first of each column in memory."""
    outer, K, inner = x.shape
    first = (np.arange(outer) * K * inner)[:, None] + np.arange(inner)  # (outer, inner)
    return reduced(way, x.reshape(-1)[first[:, None, :] + np.arange(K)[:, None]], each)


def first_parts(way, x, each):
    y = reduced(way, x, each).copy()
    y[:, DOWN:] = cuda.empty(1, y.dtype)  # never written
    return y


def outside(seen, columns):
    """Did a thread reach outside of an array whose column does (columns) or does not exist?"""
    outer, _, inner = seen.inputs[1].shape
    mine = [issue.block[0] * BLOCK + issue.thread[0] for issue in seen.issues if issue.kind == "out-of-bounds"]
    return any((column < outer * inner) == columns for column in mine)


exercise = Exercise(
    title="Down the columns",
    minutes=15,
    core=False,
    language="cuda",
    defines="reduce_columns",
    instances=("Sum, float, float", "Max, float, float", "Sum, int, long long", "Sum, long long, long long"),
    target="kernel:reduce_columns.cu",
    cases=cases,
    reference=reduced,
    call=launch,
    measured="8 matrices of 16 x 32",
    goals=rates(1.1 * 4 * (16 + 4) * 8 * 32, read=4.0),
    hints=(
        "Thread i, if i < outer * inner: matrix i / inner, column i % inner. Its first number lies at first = (i / inner) * "
        "K * inner + i % inner; the next ones lie inner apart.",
        "A loop over parts: from blockIdx.y, by gridDim.y. In it a loop over k from part * each to the smaller of (part + 1) "
        "* each and K.",
        "const int end = min((part + 1) * each, K); A result = nothing; for (int k = part * each; k < end; k++) result = "
        "Op::of(result, (A)x[first + k * inner]); then y[((i / inner) * parts + part) * inner + i % inner] = result;",
    ),
    example='''// The first number of each column that is not 0, or 0: x (K, inner).
__global__ void first_in_column(const float* x, float* y, int K, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= inner) return;
    float found = 0.0f;
    for (int k = 0; k < K && found == 0.0f; k++) found = x[k * inner + i];
    y[i] = found;
}
''',
    wrong=[
        Wrong(Changed(("if (i >= outer * inner) return;", "")),
              "There are more threads than columns: those from outer * inner on must do nothing.",
              when=lambda seen: outside(seen, columns=False)),
        Wrong(Changed(("min((part + 1) * each, K)", "(part + 1) * each")),
              "The last part of a column may be shorter: its numbers end at K.",
              when=lambda seen: seen.inputs[1].shape[1] % seen.inputs[2] and outside(seen, columns=True)
                  and all(issue.thread[0] == 0 == issue.block[0] and "'x'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("column[(long long)k * inner]", "column[k]")),
              "These numbers stand side by side in a row. The numbers of a column lie `inner` apart.", like=side_by_side),
        Wrong(Changed(("part += gridDim.y", "part += parts")),
              "Only the first gridDim.y parts are written. There are more: go on with every gridDim.y-th.", like=first_parts),
        Wrong(Changed(("A result = nothing;", "A result = 0;")),
              "The largest of negative numbers comes out as 0. A part begins with `nothing`, not with 0.",
              like=lambda way, x, each: reduced(way, x, each, 0 if way == "Max" else None)),
        Wrong(Changed(("result = Op::of(result, (A)column[(long long)k * inner])", "result += (A)column[(long long)k * inner]")),
              "It adds, whatever `Op` is: a maximum begins with -INFINITY, and remains "
              "there. Op::of(a, b) combines two numbers.",
              when=lambda seen: np.isneginf(seen.got).all() and not seen.issues),
        Wrong("""#include "ops.cuh"

template <class Op, class T, class A>
__global__ void reduce_columns(const T* x, A* y, A nothing, int outer, int K, int inner, int parts, int each) {
    int me = blockIdx.x * blockDim.x + threadIdx.x, i = me % blockDim.x * gridDim.x + me / blockDim.x;
    if (i >= outer * inner) return;
    for (int part = blockIdx.y; part < parts; part += gridDim.y) {
        A result = nothing;
        for (int k = part * each; k < min((part + 1) * each, K); k++)
            result = Op::of(result, (A)x[(i / inner * K + k) * inner + i % inner]);
        y[(i / inner * parts + part) * inner + i % inner] = result;
    }
}
""", generic="the goal is not reached"),
        Wrong("""#include "ops.cuh"

template <class Op, class T, class A>
__global__ void reduce_columns(const T* x, A* y, A nothing, int outer, int K, int inner, int parts, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, matrix = i % outer, c = i / outer;
    if (i >= outer * inner) return;
    for (int part = blockIdx.y; part < parts; part += gridDim.y) {
        A result = nothing;
        for (int k = part * each; k < min((part + 1) * each, K); k++)
            result = Op::of(result, (A)x[(matrix * K + k) * inner + c]);
        y[(matrix * parts + part) * inner + c] = result;
    }
}
""", generic="reading global memory: 8"),
    ],
)  # fmt: skip
