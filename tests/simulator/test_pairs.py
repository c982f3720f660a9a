"""The rest of half's and bfloat16's intrinsics against ml_dtypes and NumPy; conversions against exact integers."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from course_lib.cuda import Kernel
from tests.simulator.launching import blocks, both, launch

FILE = "values_pairs.cu"
FORMATS = {"half": np.float16, "bf16": ml_dtypes.bfloat16}
formats = pytest.mark.parametrize("name", FORMATS)


@both
@formats
def test_pairs(name, mode, compiler):
    kind, random = FORMATS[name], np.random.default_rng(7)
    for n in (1, 97):
        a, b = random.standard_normal((n, 2)).astype(kind), (np.abs(random.standard_normal((n, 2))) + 0.1).astype(kind)
        a[::4], a[0, 0] = b[::4], np.nan
        y, flags = np.zeros((34, n, 2), kind), np.zeros((14, n), np.int32)
        launch(mode, FILE, f"{name}_pairs", blocks(n), (64,), (a, b, y, flags, n))
        p, q = a.astype(np.float64), b.astype(np.float64)
        nan = np.isnan(p)
        with np.errstate(invalid="ignore"):
            less, more, same = p < q, p > q, p == q
            unequal = less | more
            fused, ratio = (
                p * q + p,
                (((p - q).astype(kind).astype(np.float64) / q).astype(kind) + kind(0)).astype(np.float64),
            )
            product = np.stack(
                [p[:, 0] * q[:, 0] + p[:, 0] - p[:, 1] * q[:, 1], p[:, 0] * q[:, 1] + p[:, 1] + p[:, 1] * q[:, 0]], 1
            )
            changed = np.stack([ratio[:, 0] + 1, ratio[:, 1] - 1], 1)
            unit = [np.nan_to_num(np.clip(v, 0, 1), nan=0.0) for v in (p + q, p - q, p * q, fused)]
            expected = [same, unequal, less, less | same, more, more | same, more | nan, unequal | nan, -p, changed, q**-0.5,
                        np.log(q), np.log2(q), 2**p, np.sin(p), np.cos(p), np.floor(p), np.ceil(p), np.rint(p), np.trunc(p),
                        np.log10(q), 10**p, np.maximum(p, q), np.minimum(p, q), nan, product, *unit, np.maximum(fused, 0),
                        p + q, p - q, p * q]  # fmt: skip
        step = np.finfo(np.float16).eps if name == "half" else 2.0**-7
        for k, value in enumerate(expected):
            got = y[k].astype(np.float64)
            np.testing.assert_allclose(
                got, np.asarray(value, float), rtol=step, atol=8 * step if k == 25 else step / 64, err_msg=f"row {k}"
            )
        sure = [same, unequal, less, less | same, more, more | same, less | nan, unequal | nan]
        marks = [np.all(v, 1) for v in sure] + [(unequal | nan)[:, 0], unequal[:, 0], (more | same | nan)[:, 0]]
        np.testing.assert_array_equal(flags, [*marks, np.all(same, 1), np.all(unequal | nan, 1), np.all(less, 1)])


def four(x, kind):
    """x, an int or a float, in the 16-bit format: to nearest, to zero, up and down."""
    steps = np.arange(0x8000, dtype=np.uint16).view(kind).astype(np.float64)
    grid = steps[: int(np.argmax(np.isinf(steps))) + 1]
    at, size = int(np.searchsorted(grid, float(abs(x)), "right")) - 1, Fraction(abs(x))
    at -= not np.isinf(grid[at]) and Fraction(float(grid[at])) > size  # a float cannot tell the largest integers apart
    low, sign = float(grid[at]), -1 if x < 0 else 1
    if low == size:
        return [float(x)] * 4
    high = float(grid[at + 1])
    after = Fraction(2 * low - float(grid[at - 1])) if np.isinf(high) else Fraction(high)
    near = low if (2 * size, at % 2) < (Fraction(low) + after, 1) else high
    return [sign * near, sign * low, *((high, low) if sign > 0 else (-low, -high))]


@both
@formats
def test_conversions(name, mode, compiler):
    kind, random, n = FORMATS[name], np.random.default_rng(8), 97
    x = (random.standard_normal(n) * 2.0 ** random.integers(-24, 18, n)).astype(np.float32)
    w = random.integers(-(2**63), 2**63, n) >> random.integers(0, 60, n)
    w[:4] = [2**24 + 2**16 + 1, -(2**40) - 2**32 - 1, 65519, 65520]
    y = np.zeros((7, 4, n), kind)
    launch(mode, FILE, f"{name}_from", blocks(n), (64,), (x, w, y, n))
    for i in range(n):
        v = int(w[i])
        wraps = [(v + 2**31) % 2**32 - 2**31, v % 2**32, (v + 2**15) % 2**16 - 2**15, v % 2**16, v, v % 2**64]
        for k, exact in enumerate([float(x[i]), *wraps]):
            assert list(y[k, :, i].astype(float)) == four(exact, kind), (k, exact)
    h = np.concatenate([x, [0.5, 1.5, -2.5, np.inf, -np.inf, 60000, -40000]]).astype(kind)
    z = np.zeros((5, 4, len(h)), np.int64)
    launch(mode, FILE, f"{name}_to", blocks(len(h)), (64,), (h, z, len(h)))
    for k, (least, most) in enumerate(
        [(-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**15), 2**15 - 1), (0, 2**16 - 1), (-(2**63), 2**63 - 1)]
    ):
        for row, function in enumerate((np.rint, np.trunc, np.ceil, np.floor)):
            exact = [int(v) if np.isfinite(v) else (most if v > 0 else least) for v in function(h.astype(np.float64))]
            assert list(z[k, row]) == [min(max(v, least), most) for v in exact]


@both
def test_halves_of_pairs(mode, compiler):
    a = np.array([[1, 2], [3, 4]])
    y, z = np.zeros((4, 2), np.float16), np.zeros((4, 2), ml_dtypes.bfloat16)
    launch(mode, FILE, "exchanged", (1,), (1,), (a.astype(np.float16), a.astype(ml_dtypes.bfloat16), y, z))
    for got in (y, z):
        assert got.astype(int).tolist() == [[1, 1], [2, 2], [1, 3], [2, 4]]


CONVERSIONS = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(float* y) {
    NAME2 p = __floats2NAME2_rn(1.5f, -2.0f), q = __lowhigh2highlow(p);
    y[0] = __low2float(q);
    y[1] = __high2float(__lows2NAME2(p, q));
    y[2] = __high2float(__highs2NAME2(p, q));
    y[3] = __NAME22float2(__NAME2NAME2(__low2NAME(p))).y;
    y[4] = __NAME2float(__short_as_NAME(__NAME_as_short(__high2NAME(p))));
    y[5] = __NAME2float(__ushort_as_NAME(__NAME_as_ushort(__double2NAME(0.5))));
    y[6] = __low2float(make_NAME2(__float2NAME(3.0f), __high2NAME(p)));
    y[7] = __low2float(__float22NAME2_rn(make_float2(4.0f, 5.0f)));
}"""


@pytest.mark.parametrize(("name", "pair"), [("half", "__half2"), ("bfloat16", "__nv_bfloat162")])
def test_conversions_of_both_formats_bear_the_same_names(name, pair, compiler):
    y = np.zeros(8, np.float32)
    Kernel(CONVERSIONS.replace("    NAME2 p", f"    {pair} p").replace("NAME", name), "k")((1,), (1,), (y,))
    np.testing.assert_array_equal(y, [-2, -2, 1.5, 1.5, -2, 0.5, 3, 4])
