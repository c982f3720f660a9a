"""The first epilogue: a bias and an activation on four neighbours, and what the backward pass needs is stored."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

INSTANCE = "64, 64, 16, 8, 8"
M, N, K = 64, 128, 32  # of the case that is counted
LEAST = 4 * (M * K * (N // 64) + N * K + 2 * M * N)  # the product's own bytes, and pre and y written once


def cases(random):
    shapes = (
        ("one number", (1, 1, 1), True),
        ("two rows of five", (2, 5, 3), True),
        ("no bias", (2, 5, 3), False),
        ("ragged", (67, 70, 9), True),
        (f"{M} rows of {N}", (M, N, K), True),
    )
    for label, shape, has_bias in shapes:
        m, n, k = shape
        x, weight = random.normal(size=(m, k)).astype(np.float32), random.normal(size=(n, k)).astype(np.float32)
        yield Case(label, x, weight, random.normal(size=n).astype(np.float32) if has_bias else None)


def gelu(v):
    return v / (1 + np.exp(-np.sqrt(8 / np.pi) * (v + 0.044715 * v**3)))


def both(x, weight, bias, of=None, kept=None):
    """y and pre. of, kept: other definitions of them, given the product and the bias."""
    product, bias = x.astype(np.float64) @ weight.T, 0.0 if bias is None else bias.astype(np.float64)
    y, pre = (
        gelu(product + bias) if of is None else of(product, bias),
        product + bias if kept is None else kept(product, bias),
    )
    return y.astype(np.float32), pre.astype(np.float32)


def launch(kernel, x, weight, bias):
    (m, k), n = x.shape, len(weight)
    y, pre = cuda.empty((m, n)), cuda.empty((m, n))  # (M, N)
    arrays = cuda.asarray(x), cuda.asarray(weight), None if bias is None else cuda.asarray(bias)
    kernel((-(-n // 64), -(-m // 64)), 64, (*arrays, pre, y, m, n, k))
    return y, pre


def another(**ideas):
    return lambda x, weight, bias: both(x, weight, bias, **ideas)


exercise = Exercise(
    title="Bias and GELU as an epilogue",
    minutes=15,
    language="cuda",
    defines="gemm_gelu",
    instances=(INSTANCE,),
    target="kernel:gemm.cu",
    cases=cases,
    reference=both,
    call=launch,
    results=("y", "pre"),
    tolerance=1e-4,
    measured=f"{M} rows of {N}",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=1.1 * LEAST)],
    hints=(
        "Three steps: the sums with the bias; store them to pre; store their GELU to c. Each on four neighbours.",
        "const float4 x = bias.added_to(sums, column); its parts are x.x, x.y, x.z and x.w.",
        "const float4 x = bias.added_to(sums, column); pre.store(row, column, x); "
        "c.store(row, column, make_float4(gelu(x.x), ...));",
    ),
    example='''__device__ float sign(float v) { return v < 0.0f ? -1.0f : 1.0f; }

// c = |sums + bias|, and signs keeps what the backward pass needs: 1 or -1.
template <class T> struct StoreSize {
    Rows<T> c, signs;
    Bias bias;
    __device__ void operator()(int row, int column, float4 sums) const {
        const float4 x = bias.added_to(sums, column);
        c.store(row, column, make_float4(fabsf(x.x), fabsf(x.y), fabsf(x.z), fabsf(x.w)));
        signs.store(row, column, make_float4(sign(x.x), sign(x.y), sign(x.z), sign(x.w)));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};
''',
    wrong=[
        Wrong(Changed(("const float4 x = bias.added_to(sums, column);\n        pre.store(row, column, x);",
                       "float4 x = sums;\n        pre.store(row, column, bias.added_to(x, column));"),
                      ("c.store(row, column, make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)));",
                       "c.store(row, column, bias.added_to(make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)), column));")),
              "The bias was added after GELU. It belongs to the product: the activation GELU takes the sum of both.",
              like=another(of=lambda p, b: gelu(p) + b)),
        Wrong(Changed(("        pre.store(row, column, x);\n", ""),
                      ("        c.store(row, column, make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)));",
                       "        const float4 y = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));\n        c.store(row, "
                       "column, y);\n"
                       "        pre.store(row, column, y);")),
              "pre holds the numbers after GELU. The backward pass needs those before the activation.",
              like=another(kept=lambda p, b: gelu(p + b))),
        Wrong(Changed(("pre.store(row, column, x);", "pre.store(row, column, sums);")),
              "pre holds the product without the bias. GELU takes the sum of both: keep that.",
              like=another(kept=lambda p, b: p)),
        Wrong(Changed(("const float4 x = bias.added_to(sums, column);", "const float4 x = sums;")), "The bias is missing.",
              like=another(of=lambda p, b: gelu(p), kept=lambda p, b: p)),
        Wrong(Changed(("c.store(row, column, make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)));", "c.store(row, column, "
                                                                                                         "x);")),
              "GELU is missing: c holds the sum itself.", like=another(of=lambda p, b: p + b)),
        Wrong(Changed(("        c.store(row, column, make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w)));",
                       "        c.store(row, column, x);\n        const float4 again = c.load(row, column);\n"
                       "        c.store(row, column, make_float4(gelu(again.x), gelu(again.y), gelu(again.z), gelu(again.w)));")),
              generic="the goal is not reached"),
    ],
)  # fmt: skip
