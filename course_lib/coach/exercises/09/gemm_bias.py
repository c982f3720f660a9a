"""The simplest epilogue, and the one that a model uses most: the bias is added while the sums are still in registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

INSTANCE = "64, 64, 16, 8, 8"


def cases(random):
    shapes = (("one number", (1, 1, 1), True), ("two rows of five", (2, 5, 3), True), ("no bias", (2, 5, 3), False),
              ("ragged", (67, 70, 9), True), ("one row, many columns", (1, 131, 4), True),
              ("six tiles", (70, 130, 32), True))  # fmt: skip
    for label, (m, n, k), has_bias in shapes:
        x, weight = ((0.5 + random.integers(-4, 5, size=shape)).astype(np.float32) for shape in ((m, k), (n, k)))
        yield Case(label, x, weight, (0.5 + random.integers(1, 40, size=n)).astype(np.float32) if has_bias else None)


def linear(x, weight, bias):
    return x @ weight.T + (0 if bias is None else bias)


def launch(kernel, x, weight, bias):
    (m, k), n = x.shape, len(weight)
    y = cuda.empty((m, n))  # (M, N)
    arrays = cuda.asarray(x), cuda.asarray(weight), None if bias is None else cuda.asarray(bias)
    kernel((-(-n // 64), -(-m // 64)), 64, (*arrays, y, m, n, k))
    return y


def by_row(x, weight, bias):
    """The bias of the row's number in place of the column's, where there is one."""
    if bias is None:
        return linear(x, weight, bias)
    return x @ weight.T + np.append(bias, np.zeros(len(x), np.float32))[: len(x), None]


def from_the_row_on(x, weight, bias):
    """added_to with the row in place of the column: four numbers of the bias, from the row's on."""
    if bias is None:
        return linear(x, weight, bias)
    places = np.arange(len(x))[:, None] + np.arange(len(weight)) % 4
    return x @ weight.T + np.append(bias, np.zeros(len(x) + 4, np.float32))[places]


def one_for_four(x, weight, bias):
    """Each four neighbours with the bias of the first of them."""
    return linear(x, weight, None if bias is None else bias[np.arange(len(bias)) // 4 * 4])


exercise = Exercise(
    title="The bias of a linear layer",
    minutes=10,
    core=False,
    language="cuda",
    defines="gemm_bias",
    instances=(INSTANCE,),
    target="kernel:gemm.cu",
    cases=cases,
    reference=linear,
    call=launch,
    tolerance=1e-4,
    hints=(
        "Two steps: the sums with their bias, and the store. Both work on four neighbours.",
        "bias.added_to(sums, column) gives the four with the bias of their columns; c.store(row, column, four) writes them.",
        "c.store(row, column, bias.added_to(sums, column));",
    ),
    example='''// c = bias - sums: a product is subtracted from a row of numbers.
template <class T> struct StoreRest {
    Rows<T> c;
    Bias bias;
    __device__ void operator()(int row, int column, float4 s) const {
        const float4 negative = make_float4(-s.x, -s.y, -s.z, -s.w);
        c.store(row, column, bias.added_to(negative, column));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};
''',
    wrong=[
        Wrong(Changed(("bias.added_to(sums, column)", "sums")), "The bias is missing.",
              like=lambda x, weight, bias: linear(x, weight, None)),
        Wrong(Changed(("bias.added_to(sums, column)", "bias.added_to(bias.added_to(sums, column), column)")),
              "The bias was added twice: `added_to` gives sums and bias together.",
              like=lambda x, weight, bias: linear(x, weight, None if bias is None else 2 * bias)),
        Wrong(Changed(("c.store(row, column, bias.added_to(sums, column));",
                       "const float b = bias.bias && row < c.N ? bias.bias[row] : 0.0f;\n        c.store(row, column, sums + "
                       "make_float4(b, b, b, b));")), "The bias of the row was added. A bias has one number for each *column*.",
              like=by_row),
        Wrong(Changed(("bias.added_to(sums, column)", "bias.added_to(sums, row)")),
              "The bias was read at the row in place of the column. A bias has one number for each *column*.",
              like=from_the_row_on),
        Wrong(Changed(("c.store(row, column, bias.added_to(sums, column));",
                       "const float b = bias.bias && column < c.N ? bias.bias[column] : 0.0f;\n        c.store(row, column, sums "
                       "+ make_float4(b, b, b, b));")),
              "All four neighbours got the bias of the first. `load_four`, or `added_to`, takes the bias of each.",
              like=one_for_four),
        Wrong(Changed(("c.store(row, column, bias.added_to(sums, column));",
                       "const float b = column < c.N ? bias.bias[column] : 0.0f;\n        c.store(row, column, sums + "
                       "make_float4(b, column + 1 < c.N ? bias.bias[column + 1] : 0.0f, column + 2 < c.N ? bias.bias[column + "
                       "2] : 0.0f, column + 3 < c.N ? bias.bias[column + 3] : 0.0f));")),
              "There is not always a bias: bias.bias may be null, and then nothing is added.",
              when=lambda seen: "null-pointer" in seen.kinds),
        Mistake("bias.bias was read beyond its end: the last four of a row may be fewer, and `added_to` knows it.",
                when=lambda seen: any(issue.kind == "out-of-bounds" and "'bias'" in issue.message for issue in seen.issues)),
        Wrong(Changed(("c.store(row, column, bias.added_to(sums, column));", "bias.added_to(sums, column);")),
              "Nothing was stored: c.store(row, column, four).",
              when=lambda seen: np.isnan(seen.got).all() and not seen.issues),
    ],
)  # fmt: skip
