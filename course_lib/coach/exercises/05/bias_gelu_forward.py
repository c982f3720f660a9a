"""A thread that owns columns: the bias is read once and serves all rows."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import beyond
from course_lib.devices import ops

BLOCK, DOWN = 32, 2  # threads of a block, blocks along the rows


def cases(random):
    for label, rows, F, N in (("two rows of one", 2, 1, 1), ("one pack in each of three rows", 3, 4, 4), ("one row", 1, 12, 4),
                              ("an odd number of columns", 5, 37, 1), ("columns for three blocks", 7, 300, 4),
                              ("64 rows of 128", 64, 128, 4)):  # fmt: skip
        x = random.normal(0, 2, size=(rows, F)).astype(np.float32)
        yield Case(label, x, (1.5 + random.normal(size=F)).astype(np.float32), N)


def launch(kernel, x, bias, N):
    (rows, F), x, bias = x.shape, cuda.asarray(x), cuda.asarray(bias)
    y = cuda.empty((rows, F))
    kernel.instance(str(N))(((F // N + BLOCK - 1) // BLOCK, DOWN), BLOCK, (x, bias, y, rows, F))
    return y


def gelu(x):
    return ops("reference").gelu_forward(x.astype(np.float64))


def first_rows(x, bias, N):
    y = np.full(x.shape, np.nan)
    y[:DOWN] = gelu(x + bias)[:DOWN]
    return y


def first_columns(x, bias, N):
    y = gelu(x + bias)
    y[:, DOWN * BLOCK * N :] = np.nan
    return y


def reads(seen):
    """In the case that is counted: the lines that read global memory, and how many requests they make."""
    found = [line for report in seen.reports for line in report.lines if line.space == "global" and line.op == "read"]
    return found if seen.label == "64 rows of 128" else [], sum(line.requests for line in found)


exercise = Exercise(
    title="Bias and GELU in one pass",
    minutes=20,
    language="cuda",
    defines="bias_gelu_forward",
    instances=("4", "1"),
    target="kernel:bias_gelu.cu",
    cases=cases,
    reference=lambda x, bias, N: gelu(x + bias),
    call=launch,
    measured="64 rows of 128",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.1 * 8 * 64 * 128)],
    hints=(
        "Which columns are mine? Count along x only, times N. Read their bias before any loop.",
        "A loop over rows: begin at blockIdx.y, go on by gridDim.y. In row `row`, column f lies at row * F + f.",
        "int f = N * (blockIdx.x * blockDim.x + threadIdx.x); if (f >= F) return; Pack<float, N> b = ... bias + f; then for "
        "(int row = blockIdx.y; row < rows; row += gridDim.y) one pack of x in, one pack of y out.",
    ),
    example='''// Each column times a number of its own: y = x * factor, factor (F).
#include "vector.cuh"

template <int N> __global__ void scale_columns(const float* x, const float* factor, float* y, int rows, int F) {
    int f = N * (blockIdx.x * blockDim.x + threadIdx.x);
    if (f >= F) return;
    Pack<float, N> own = *(const Pack<float, N>*)(factor + f);
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        Pack<float, N> p = *(const Pack<float, N>*)(x + row * F + f);
        for (int j = 0; j < N; j++) p.item[j] *= own.item[j];
        *(Pack<float, N>*)(y + row * F + f) = p;
    }
}
''',
    wrong=[
        Wrong(Changed(("N * (blockIdx.x * blockDim.x + threadIdx.x)", "N * (blockIdx.y * blockDim.x + threadIdx.x)"),
                      ("int row = blockIdx.y", "int row = blockIdx.x"), ("row += gridDim.y", "row += gridDim.x")),
              "Columns from the third block on are never written. Columns are counted along x, and rows along y.",
              like=first_columns),
        Wrong(Changed(("if (f >= F) return;", "")),
              "Thread i along x owns the N columns from N * i on. Where these begin at F or beyond, it must do nothing.",
              when=lambda seen: beyond(seen, -(-seen.inputs[0].shape[1] // seen.inputs[2]), BLOCK)),
        Wrong(Changed(("row += gridDim.y", "row += rows")),
              "Only the first gridDim.y rows are written. There are more: go on with every gridDim.y-th.", like=first_rows),
        Wrong(Changed(("gelu(p.item[j] + b.item[j])", "gelu(p.item[j]) + b.item[j]")),
              "The bias is added after the activation. It comes before: gelu(x + bias).", like=lambda x, bias, N: gelu(x) + bias),
        Wrong(Changed(("p.item[j] + b.item[j]", "p.item[j]")), "The bias is missing.", like=lambda x, bias, N: gelu(x)),
        Wrong(Changed(("gelu(p.item[j] + b.item[j])", "p.item[j] + b.item[j]")), "This is x + bias, without GELU.",
              like=lambda x, bias, N: x + bias),
        Wrong(Changed(("int row = blockIdx.y;", "int row = 0;"), ("row += gridDim.y", "row++")),
              "Two blocks write the same element. Columns are divided along x: blockIdx.x is part of f. Rows are divided along "
              "y: the first is row blockIdx.y, and the next lies gridDim.y rows further down.",
              when=lambda seen: "race" in seen.kinds and seen.inputs[0].shape[0] > 1
                  and not all(word in seen.text for word in ("blockIdx.x", "blockIdx.y", "gridDim.y"))),
        Wrong("""#include "vector.cuh"

__device__ float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

template <int N> __global__ void bias_gelu_forward(const float* x, const float* bias, float* y, int rows, int F) {
    int f = N * (blockIdx.x * blockDim.x + threadIdx.x);
    if (f >= F) return;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        for (int j = 0; j < N; j++) y[row * F + f + j] = gelu(x[row * F + f + j] + bias[f + j]);
    }
}
""",
              "The lanes read one number at a time, N apart, and each such request touches the sectors of a whole pack. "
              "Read and write the N neighbours as one Pack<float, N>.",
              when=lambda seen: any(line.sectors_per_request > line.bytes_requested / line.requests / 32
                  for line in reads(seen)[0])),
        Wrong(Changed(("    const Pack<float, N> b = *(const Pack<float, N>*)(bias + f);\n", ""),
                      ("        Pack<float, N> p =", "        const Pack<float, N> b = *(const Pack<float, N>*)(bias + f);\n"
                                                     "        Pack<float, N> p =")),
              "The bias is read again for each row. Read the pack of your columns once, before the loop over the rows.",
              when=lambda seen: reads(seen)[0] and reads(seen)[1] >= 2 * 64),
    ],
)  # fmt: skip
