"""Find the fault: an epilogue that counts rows as columns."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

INSTANCE = "64, 64, 16, 8, 8"


def cases(random):
    shapes = (
        ("three rows of two", (3, 2, 2), True),
        ("a square", (8, 8, 3), True),
        ("no bias", (2, 9, 3), False),
        ("ragged", (67, 70, 9), True),
    )
    for label, (m, n, k), has_bias in shapes:
        x, weight = random.normal(size=(m, k)).astype(np.float32), random.normal(size=(n, k)).astype(np.float32)
        bias = random.normal(size=n).astype(np.float32) if has_bias else None
        yield Case(label, x, weight, bias, random.normal(size=(m, n)).astype(np.float32))


def added(x, weight, bias, residual, with_bias=True, with_residual=True):
    product = x.astype(np.float64) @ weight.T  # (M, N)
    if with_bias and bias is not None:
        product = product + bias
    return (product + residual if with_residual else product).astype(np.float32)


def launch(kernel, x, weight, bias, residual):
    (m, k), n = x.shape, len(weight)
    y = cuda.empty((m, n))  # (M, N)
    arrays = cuda.asarray(x), cuda.asarray(weight), None if bias is None else cuda.asarray(bias), cuda.asarray(residual)
    kernel((-(-n // 64), -(-m // 64)), 64, (*arrays, y, m, n, k))
    return y


exercise = Exercise(
    title="Find the fault: the wrong way round",
    minutes=10,
    language="cuda",
    defines="gemm_residual",
    instances=(INSTANCE,),
    target="kernel:gemm.cu",
    cases=cases,
    reference=added,
    call=launch,
    tolerance=1e-4,
    hints=(
        "Run the cell, and read which access the report names. With M and N both 64 the tile is full: then nothing would lie "
        "outside, and only the numbers would be wrong.",
        "operator() gets row and column in this order. In which order does load take them?",
        "c.store(row, column, bias.added_to(sums, column) + residual.load(row, column));",
    ),
    example='''// c = sums * gate, element by element.
template <class T> struct StoreGated {
    Rows<T> c, gate;
    __device__ void operator()(int row, int column, float4 sums) const {
        const float4 g = gate.load(row, column);
        c.store(row, column, make_float4(sums.x * g.x, sums.y * g.y, sums.z * g.z, sums.w * g.w));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};
''',
    wrong=[
        Wrong(Changed(("residual.load(row, column)", "residual.load(column, row)")),
              "The residual is read at (column, row). Its index is that of the result: (row, column).",
              when=lambda seen: "load(column,row)" in seen.text.replace(" ", "")),
        Wrong(Changed(("c.store(row, column, bias", "c.store(column, row, bias")),
              "The result is written at (column, row). It belongs at (row, column).",
              when=lambda seen: "store(column,row" in seen.text.replace(" ", "")),
        Wrong(Changed((" + residual.load(row, column)", "")), "The residual is not added.",
              like=lambda *inputs: added(*inputs, with_residual=False)),
        Wrong(Changed(("bias.added_to(sums, column) + residual", "sums + residual")), "The bias is not added.",
              like=lambda *inputs: added(*inputs, with_bias=False)),
        Mistake("`Bias` has no load. bias.added_to(sums, column) gives the sums with the bias of their columns.",
                when=lambda seen: "bias.load" in seen.text),
    ],
)  # fmt: skip
