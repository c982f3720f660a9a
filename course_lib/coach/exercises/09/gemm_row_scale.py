"""A norm in the epilogue: the row factor of RMSNorm after the product."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

INSTANCE = "64, 64, 16, 8, 8"


def cases(random):
    shapes = (
        ("two rows of three", (2, 3, 2)),
        ("one number", (1, 1, 1)),
        ("ragged", (67, 70, 9)),
        ("one row", (1, 130, 5)),
        ("one column", (65, 1, 4)),
    )
    for label, (m, n, k) in shapes:
        x, weight = random.normal(size=(m, k)).astype(np.float32), random.normal(size=(n, k)).astype(np.float32)
        yield Case(label, x, weight, random.uniform(0.5, 3, size=m).astype(np.float32))


def scaled(x, weight, scale, factor=None):
    product = x.astype(np.float64) @ weight.T  # (M, N)
    return (product * (scale[:, None] if factor is None else factor(product, scale))).astype(np.float32)


def launch(kernel, x, weight, scale):
    (m, k), n = x.shape, len(weight)
    y = cuda.empty((m, n))  # (M, N)
    kernel((-(-n // 64), -(-m // 64)), 64, (cuda.asarray(x), cuda.asarray(weight), cuda.asarray(scale), y, m, n, k))
    return y


exercise = Exercise(
    title="RMSNorm after the product",
    minutes=15,
    language="cuda",
    defines="gemm_row_scale",
    instances=(INSTANCE,),
    target="kernel:gemm.cu",
    cases=cases,
    reference=scaled,
    call=launch,
    tolerance=1e-4,
    hints=(
        "One number for the whole row, and four sums: read it once.",
        "A float4 cannot be multiplied by a float as it is: multiply its four parts.",
        "const float s = scale[row]; c.store(row, column, make_float4(s * sums.x, ...));",
    ),
    example='''// c = sums / divisor[column]: each column has a number of its own, so four neighbours have four.
template <class T> struct StoreDivided {
    Rows<T> c;
    const float* divisor;  // (N)
    __device__ void operator()(int row, int column, float4 sums) const {
        const float4 d = load_four(divisor, column, c.N, row_is_aligned(divisor, c.N));
        c.store(row, column, make_float4(sums.x / d.x, sums.y / d.y, sums.z / d.z, sums.w / d.w));
    }
    __device__ void end_of_row(int, int, int, int) const {}
};
''',
    wrong=[
        Wrong(Changed(("scale[row]", "scale[column]")), "scale holds one number for each row; you index it by the column.",
              when=lambda seen: "scale[column" in seen.text.replace(" ", "")),
        Wrong(Changed(("make_float4(s * sums.x, s * sums.y, s * sums.z, s * sums.w)", "make_float4(sums.x / s, sums.y / s, "
                                                                                      "sums.z / s, sums.w / s)")),
              "The product is divided by the scale. RMSNorm divides by the root mean square; scale is one over it already.",
              like=lambda x, w, s: scaled(x, w, s, lambda p, s: 1 / s[:, None])),
        Wrong(Changed(("make_float4(s * sums.x, s * sums.y, s * sums.z, s * sums.w)", "sums")),
              "The sums are stored as they are, without the scale.", like=lambda x, w, s: scaled(x, w, s, lambda p, s: 1.0)),
        Wrong(Changed(("make_float4(s * sums.x, s * sums.y, s * sums.z, s * sums.w)", "s * sums")),
              generic="There is no such operator for these types: do it with each member"),
        Wrong(Changed(("make_float4(s * sums.x, s * sums.y, s * sums.z, s * sums.w)", "make_float4(s * sums.x, sums.y, sums.z, "
                                                                                      "sums.w)")),
              "Only the first of four neighbours was multiplied.",
              like=lambda x, w, s: scaled(x, w, s, lambda p, s: np.where(np.arange(p.shape[1]) % 4 == 0, s[:, None], 1.0))),
    ],
)  # fmt: skip
