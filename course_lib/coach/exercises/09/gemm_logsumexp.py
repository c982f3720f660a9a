"""Parts of a row's logsumexp, written by the product that makes the logits."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes

INSTANCE = "64, 64, 16, 8, 8"
TWO_LANES = "lanes two apart"
# The product in bfloat16 calls it with the one step 2: lanes 0 and 2, 1 and 3, 4 and 6, ... hold the two parts of a row.
LANES_APART = """
template <int STEP> __global__ void lanes_apart(const float* m, const float* l, float* part_m, float* part_l) {
    const int lane = threadIdx.x, row = lane / (2 * STEP) * STEP + lane % STEP;
    StoreLogsumexp<float> epilogue = {Rows<float>(part_m, 1), Bias(nullptr, 1), part_m, part_l, 15, 1, {m[lane], l[lane]}};
    epilogue.end_of_row(row, 0, STEP, STEP);
}
"""


def cases(random):
    shapes = (
        ("one row of three", (1, 3, 2), 1),
        ("two rows of nine", (2, 9, 3), 1),
        ("three parts", (5, 130, 4), 1),
        ("ragged", (67, 70, 9), 1),
        ("large numbers", (3, 20, 4), 100),
    )
    for label, (m, n, k), size in shapes:
        x, weight = size * random.normal(size=(m, k)).astype(np.float32), random.normal(size=(n, k)).astype(np.float32)
        yield Case(label, x.astype(np.float32), weight, random.normal(size=n).astype(np.float32))
    for label, bias in extremes(random, (70,)):  # the logits are the bias
        yield Case(label, np.zeros((2, 4), np.float32), random.normal(size=(70, 4)).astype(np.float32), bias)
    yield Case(TWO_LANES, *(random.uniform(1, 9, size=32).astype(np.float32) for _ in range(2)), None)  # m and l


def parts_of(x, weight, bias):
    """The largest element of each part, and its sum of exp: (M, parts) each. Without a bias, of the m and l of 32 lanes."""
    if bias is None:
        m, l = (one.astype(np.float64).reshape(8, 2, 2) for one in (x, weight))
        total = (l * np.exp(m - m.max(axis=1, keepdims=True))).sum(axis=1)
        return tuple(one.reshape(-1, 1)[:15].astype(np.float32) for one in (m.max(axis=1), total))
    logits = x.astype(np.float64) @ weight.T + bias  # (M, N)
    pieces = [logits[:, first : first + 64] for first in range(0, logits.shape[1], 64)]
    part_m = np.stack([piece.max(1) for piece in pieces], 1)
    part_l = np.stack([np.exp(piece - piece.max(1, keepdims=True)).sum(1) for piece in pieces], 1)
    return part_m.astype(np.float32), part_l.astype(np.float32)


def launch(kernel, x, weight, bias):
    if bias is None:
        part_m, part_l = cuda.empty((15, 1)), cuda.empty((15, 1))
        kernel.instance("lanes_apart<2>")(1, 32, (cuda.asarray(x), cuda.asarray(weight), part_m, part_l))
        return part_m, part_l
    (m, k), n = x.shape, len(weight)
    parts = -(-n // 64)
    logits, part_m, part_l = cuda.empty((m, n)), cuda.empty((m, parts)), cuda.empty((m, parts))
    arrays = cuda.asarray(x), cuda.asarray(weight), cuda.asarray(bias)
    kernel((parts, -(-m // 64)), 64, (*arrays, logits, part_m, part_l, m, n, k))
    return part_m, part_l


def one_lane(seen):
    """Whether only one of the eight lanes of a row was counted: its columns are 0..3, 32..35 of each part."""
    x, weight, bias = (a.astype(np.float64) for a in seen.inputs)
    logits = x @ weight.T + bias
    own = np.isin(np.arange(logits.shape[1]) % 32, range(4))
    return isinstance(seen.got, tuple) and np.allclose(seen.got[0][:, 0], logits[:, :64][:, own[:64]].max(1), atol=1e-3)


exercise = Exercise(
    title="Parts of a logsumexp",
    minutes=20,
    core=False,
    language="cuda",
    defines="gemm_logsumexp",
    instances=(INSTANCE, "lanes_apart<2>"),
    given=LANES_APART,
    target="kernel:gemm.cu",
    cases=cases,
    reference=parts_of,
    call=launch,
    results=("part_m", "part_l"),
    tolerance=1e-4,
    hints=(
        "As in the lecture's end_of_row, with merge in place of +. Three steps: merge over the lanes, one lane writes, "
        "begin anew.",
        "A shuffle exchanges one number: you need two, for part.m and for part.l. merge takes two OnlineSoftmax: {m, "
        "l}.",
        "for (int step = widest; step >= narrowest; step /= 2) part = merge(part, {__shfl_xor_sync(0xffffffffu, part.m, step), "
        "__shfl_xor_sync(0xffffffffu, part.l, step)}); if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) { both "
        "writes } and at last, for all lanes, part = nothing_seen();",
    ),
    example='''// The smallest and the largest of each row's part, in an epilogue.
__device__ void end_of_row(int row, int number, int widest, int narrowest) {
    for (int step = widest; step >= narrowest; step /= 2) {
        low = fminf(low, __shfl_xor_sync(0xffffffffu, low, step));
        high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, step));
    }
    if ((threadIdx.x & (2 * widest - narrowest)) == 0 && row < M) {
        lows[row * parts + number] = low;
        highs[row * parts + number] = high;
    }
    low = INFINITY, high = -INFINITY;
}
''',
    wrong=[
        Wrong(Changed(("step >= narrowest", "step > 0")),
              "That is right for the steps 4, 2, 1 only. Take the steps, and the lane that writes, from `widest` and "
              "`narrowest`: another product calls end_of_row with other numbers.",
              when=lambda seen: seen.label == TWO_LANES and not seen.issues),
        Wrong(Changed((" == 0 && row < M)", " == 0)")),
              "Rows from M on do not exist: all lanes call the shuffles, but only a row below M may be written.",
              when=lambda seen: "out-of-bounds" in seen.kinds
                  and not re.search(r"row *(<|>=) *M|M *(>|<=) *row", seen.text)),
        Wrong(Changed(("        for (int step = widest; step >= narrowest; step /= 2)\n", "        if (row >= M) return;\n"
                       "        for (int step = widest; step >= narrowest; step /= 2)\n")),
              "Some lanes do not reach the shuffles. All 32 of a warp must call each __shfl_xor_sync, also for missing rows.",
              when=lambda seen: bool(seen.kinds & {"missing-lanes"})),
        Wrong(Changed(("        part = nothing_seen();\n", "")),
              "part still holds the result of one row when the next row begins. Set it to nothing_seen() at the end.",
              when=lambda seen: not seen.issues
                  and not re.search("nothing_seen|-INFINITY", seen.text.split("end_of_row")[1].split("template <int BM")[0])),
        Wrong(Changed(("step = widest; step >= narrowest; step /= 2", "step = widest; step > widest; step /= 2")),
              "Each part holds the result of a single lane. Eight lanes share a row: merge their parts by shuffles first.",
              when=one_lane),
    ],
)  # fmt: skip
