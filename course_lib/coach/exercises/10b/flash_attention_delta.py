"""delta: for each query and head the sum of dy times y, with eight lanes for each row."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import beyond

BLOCK = 64
MEASURED = (1, 48, 2, 32)  # B, T, H, d
LEAST = 2 * 4 * 48 * 2 * 32 + 4 * 48 * 2  # bytes: dy and y once, delta once
HEAD = """#include "numbers.cuh"
#include "reduce.cuh"

template <class X>
__global__ void flash_attention_delta(const X* dy, const X* y, float* delta, int B, int T, int H, int d) {
"""


def cases(random):
    yield Case("two heads of one number", np.array([1.0, 2.0], np.float32).reshape(1, 1, 2, 1),
               np.array([7.0, 6.0], np.float32).reshape(1, 1, 2, 1))  # fmt: skip
    shapes = {"one row of three": (1, 1, 1, 3), "one row of eight": (1, 1, 1, 8), "two tokens, two heads": (1, 2, 2, 4),
              "two texts": (2, 3, 1, 5), "a ragged last block": (2, 5, 3, 11), "2 heads, 48 tokens": MEASURED}  # fmt: skip
    for label, shape in shapes.items():
        yield Case(label, *(random.normal(size=shape).astype(np.float32) for _ in range(2)))


def launch(kernel, dy, y):
    (B, T, H, d), delta = dy.shape, cuda.empty((dy.shape[0], dy.shape[2], dy.shape[1]))  # (B, H, T)
    kernel(-(-B * T * H * 8 // BLOCK), BLOCK, (cuda.asarray(dy), cuda.asarray(y), delta, B, T, H, d))
    return delta


def variant(product=lambda dy, y: dy * y, numbers=slice(None), order=(0, 2, 1), factor=1.0):
    def deltas(dy, y):
        wide = product(dy.astype(np.float64), y)[..., numbers].sum(axis=-1) * factor  # (B, T, H)
        B, T, H = wide.shape
        return np.ascontiguousarray(wide.transpose(order)).reshape(B, H, T).astype(np.float32)

    return deltas


def by_warps(dy, y):
    """The sum over all four rows of a warp."""
    rows = variant()(dy, y)
    flat = np.concatenate([rows.reshape(-1), np.zeros(-rows.size % 4, np.float32)])
    return np.repeat(flat.reshape(-1, 4).sum(axis=1), 4)[: rows.size].reshape(rows.shape)


exercise = Exercise(
    title="What every row's average is",
    minutes=15,
    language="cuda",
    defines="flash_attention_delta",
    instances=("float",),
    target="kernel:flash_attention_backward.cu",
    cases=cases,
    reference=variant(),
    call=launch,
    measured="2 heads, 48 tokens",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.1 * LEAST)],
    hints=(
        "Which row does this thread work on, and which lane of it is it? Rows are numbered as in delta: b, then h, then t.",
        "row = i / 8; t = row % T, h = row / T % H, b = row / (H * T). In y the row begins at first = ((b * T + t) * H + h) "
        "* d. A lane sums every eighth number.",
        "float sum = 0.0f; if (row < B * H * T) for (int j = lane; j < d; j += 8) sum += to_float(dy[first + j]) * "
        "to_float(y[first + "
        "j]); sum = warp_sum<8>(sum); and lane 0 of a row that exists writes delta[row].",
    ),
    example='''#include "reduce.cuh"

// The mean of every row of x (n, d), with eight lanes for each row; lanes without a row contribute 0 to the shuffles.
__global__ void row_means(const float* x, float* y, int n, int d) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0.0f;
    if (row < n)
        for (int j = lane; j < d; j += 8) sum += x[row * d + j];
    sum = warp_sum<8>(sum);
    if (row < n && lane == 0) y[row] = sum / d;
}
''',
    wrong=[
        Wrong(Changed(("delta[row] = sum", "delta[(b * T + t) * H + h] = sum")),
              "The rows stand in the order (B, T, H). delta is (B, H, T): all tokens of one head side by side.",
              like=variant(order=(0, 1, 2))),
        Wrong(Changed(("    sum = warp_sum<8>(sum);\n", "")),
              "Each lane has a partial sum, and only that of lane 0 is written: add the partial sums of the eight lanes with "
              "warp_sum<8>.", like=variant(numbers=slice(None, None, 8))),
        Wrong(Changed(("for (int i = lane; i < d; i += 8)", "if (int i = lane; i < d)")),
              "Only the first eight numbers of a row are summed: lane l must also add number l + 8, l + 16 and so on.",
              like=variant(numbers=slice(8))),
        Wrong(Changed(("int i = lane; i < d; i += 8", "int i = 0; i < d; i++")),
              "Every sum is eight times too large: each lane has summed the whole row, and then all eight were added.",
              like=variant(factor=8.0)),
        Wrong(Changed(("warp_sum<8>", "warp_sum<32>")),
              "Four rows are added up: a warp has 32 lanes, and only eight of them share a row. That is warp_sum<8>.",
              like=by_warps),
        Wrong(Changed(("to_float(dy[first + i]) * ", "")),
              "These are the sums of y. Each number of y is multiplied by its dy first.", like=variant(lambda dy, y: y)),
        Wrong(Changed((" * to_float(y[first + i])", "")),
              "These are the sums of dy. Each number of dy is multiplied by its y first.", like=variant(lambda dy, y: dy)),
        Wrong(Changed(("    float sum = 0.0f;\n", "    float sum = 0.0f;\n    if (row >= B * H * T) return;\n")),
              "A lane returned, or took another branch, before a shuffle, which waits for the whole warp. Call warp_sum "
              "once, after the loop and outside of any if: a lane without a number or a row adds 0.",
              when=lambda seen: "missing-lanes" in seen.kinds),
        Wrong(Changed(("    if (row < B * H * T)\n", "")),
              "Lanes without a row accessed memory: there are B T H rows, and the last block has lanes for more.",
              when=lambda seen: beyond(seen, 8 * (seen.inputs[0].size // seen.inputs[0].shape[-1]), BLOCK)),
        Wrong(HEAD + """    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    const int b = row / (H * T), h = row / T % H, t = row % T;
    if (row >= B * H * T || threadIdx.x % 8) return;
    float sum = 0.0f;
    for (int i = 0; i < d; i++) sum += to_float(dy[((b * T + t) * H + h) * d + i]) * to_float(y[((b * T + t) * H + h) * d + i]);
    delta[row] = sum;
}
""", generic="the goal is not reached"),
    ],
)  # fmt: skip
