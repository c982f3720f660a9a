"""Sums and maxima along rows, by groups of lanes: a lane without a row must still call the shuffle."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import rates, requests
from course_lib.coach.shared_cases import KINDS, extremes, whole_numbers

BLOCK = 64
WAYS = {"Sum": np.add, "Max": np.maximum}


def cases(random):
    for label, way, rows, K, each, N, LANES in (
        ("the example", "Sum", 2, 3, 2, 1, 8), ("one number", "Max", 1, 1, 1, 1, 8), ("negative numbers", "Max", 3, 11, 11, 1, 8),
        ("more lanes than numbers", "Sum", 9, 3, 3, 1, 8), ("packs, and a short last part", "Sum", 3, 28, 12, 4, 8),
        ("more rows than a block has groups", "Max", 21, 13, 5, 1, 8), ("a warp for each row", "Max", 3, 100, 100, 1, 32),
        ("16 rows of 256", "Sum", 16, 256, 256, 4, 8),
    ):  # fmt: skip
        x = (0.5 + random.integers(-60, -1, size=(rows, K))).astype(np.float32)
        if label == "the example":
            x = np.arange(1, 7, dtype=np.float32).reshape(rows, K)
        yield Case(label, way, x, each, N, LANES)
    for label, x in extremes(random, (3, 11)):
        yield Case(label, "Max", x, 11, 1, 8)
    for kind in (np.int32, np.int64):
        x = whole_numbers(random, (2, 5), kind) * (1 if kind is np.int64 else 60)
        yield Case(f"{KINDS[x.dtype.name]} numbers that no float holds", "Sum", x, 3, 1, 8)


def launch(kernel, way, x, each, N, LANES):
    rows, K = x.shape
    parts = (K + each - 1) // each
    y = cuda.empty((rows, parts), np.float32 if x.dtype == np.float32 else np.int64)
    nothing = y.dtype.type(0) if way == "Sum" else -np.inf
    run = kernel.instance(f"{way}, {KINDS[x.dtype.name]}, {KINDS[y.dtype.name]}, {N}, {LANES}")
    run((rows * parts * LANES + BLOCK - 1) // BLOCK, BLOCK, (cuda.asarray(x), y, nothing, rows, K, parts, each))
    return y


def reduced(way, x, each, N=1, LANES=1, begin=None, longer=0):
    cut = [WAYS[way].reduce(x[:, k : k + each + longer], axis=1) for k in range(0, x.shape[1], each)]
    y = np.stack(cut, axis=1)  # (rows, parts)
    return y if begin is None else WAYS[way](y, begin)


def first_lane_only(way, x, each, N, LANES):
    """Without the shuffles: what lane 0 has seen."""
    y = np.full((len(x), -(-x.shape[1] // each)), 0 if way == "Sum" else -np.inf, reduced(way, x, each).dtype)
    for part in range(y.shape[1]):
        own = x[:, part * each : (part + 1) * each]
        for k in range(0, own.shape[1], N * LANES):
            y[:, part] = WAYS[way](y[:, part], WAYS[way].reduce(own[:, k : k + N], axis=1))
    return y


def parts_of(seen):
    (rows, K), each = seen.inputs[1].shape, seen.inputs[2]
    return rows * ((K + each - 1) // each)


def outside(seen):
    """The groups of lanes that reached outside of an array."""
    return [
        (issue.block[0] * BLOCK + issue.thread[0]) // seen.inputs[4]
        for issue in seen.issues
        if issue.kind == "out-of-bounds"
    ]


exercise = Exercise(
    title="Along the rows",
    minutes=15,
    core=False,
    language="cuda",
    defines="reduce_rows",
    instances=("Sum, float, float, 1, 8", "Max, float, float, 1, 8", "Sum, float, float, 4, 8",
               "Max, float, float, 1, 32", "Sum, int, long long, 1, 8", "Sum, long long, long long, 1, 8"),
    target="kernel:reduce_rows.cu",
    cases=cases,
    reference=reduced,
    call=launch,
    measured="16 rows of 256",
    goals=[*rates(1.1 * 4 * 16 * 256, read=16.0),
           Goal("instructions that read global memory", requests("read"), at_most=32)],
    hints=(
        "The group's number is thread / LANES: its part is own % parts of row own / parts, and begins in column begin = "
        "own % parts * each of that row. Its lanes read side by side.",
        "result = nothing. Only a group that has a part loops: from begin + N * lane, by N * LANES, to the smaller of begin + "
        "each and K. The shuffle stands outside of that condition.",
        "if (own < rows * parts) { ... for (int k = begin + N * lane; k < end; k += N * LANES) { a Pack<T, N>; Op::of for each "
        "item } } result = warp_reduce<LANES, Op>(result); if (lane == 0 && own < rows * parts) y[own] = result;",
    ),
    example='''// How many numbers of each row are positive: a group of LANES lanes for each row of x (rows, K).
#include "reduce.cuh"

template <int LANES> __global__ void positive(const float* x, float* y, int rows, int K) {
    int own = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float count = 0.0f;
    if (own < rows) {
        for (int k = lane; k < K; k += LANES) count += x[own * K + k] > 0.0f;
    }
    count = warp_sum<LANES>(count);  // all lanes call it
    if (own < rows && lane == 0) y[own] = count;
}
''',
    wrong=[
        Wrong(Changed(("    A result = nothing;", "    if (own >= (long long)rows * parts) return;\n    A result = nothing;")),
              "Some lanes do not reach the shuffle. warp_reduce needs all 32 lanes of a warp, also those without a "
              "part: they pass `nothing`.", when=lambda seen: "missing-lanes" in seen.kinds),
        Wrong(Changed(("result = warp_reduce<LANES, Op>(result);", "")),
              "y holds only the result of lane 0. Combine the results of all lanes: warp_reduce<LANES, Op>(result).",
              like=first_lane_only),
        Wrong(Changed(("result = Op::of(result, (A)p.item[j])", "result += (A)p.item[j]")),
              "It adds, whatever `Op` is: a maximum begins with -INFINITY, and remains "
              "there. Op::of(a, b) combines two numbers.",
              when=lambda seen: not seen.issues and np.isneginf(seen.got).all()),
        Wrong(Changed(("A result = nothing;", "A result = 0;")),
              "The largest of negative numbers comes out as 0. A part begins with `nothing`, not with 0.",
              like=lambda way, x, each, N, LANES: reduced(way, x, each, begin=0 if way == "Max" else None)),
        Wrong(Changed(("if (lane == 0 && own < (long long)rows * parts)", "if (lane == 0)")),
              "There are more groups of lanes than parts. Those from rows * parts on have nothing to read or write.",
              when=lambda seen: any(group >= parts_of(seen) for group in outside(seen))),
        Wrong(Changed(("k = begin + N * lane", "k = begin + lane")),
              "A pack begins at a wrong index. Lane `lane` begins at N * lane, and all lanes go on by N * LANES.",
              when=lambda seen: "misaligned-access" in seen.kinds),
        Wrong(Changed(("const int end = min(begin + each, K);", "const int end = begin + each;")),
              "A lane that has a part reads outside of x. A part ends at begin + each, and the last one of a row at K.",
              when=lambda seen: set(outside(seen)) == {parts_of(seen) - 1}
                  and all("'x'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("k = begin + N * lane; k < end; k += N * LANES",
                       "k = begin + lane * (end - begin) / LANES / N * N; k < begin + (lane + 1) * (end - begin) / LANES / N * N"
                       " + (lane == LANES - 1) * ((end - begin) % N); k += N")), generic="the goal is not reached"),
    ],
)  # fmt: skip
