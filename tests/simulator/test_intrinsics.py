"""The rarer intrinsics: special functions against Python's mathematics in double, integers against Python's, exactly."""

from math import cos, erf, erfc, exp, factorial, fmod, fsum, inf, pi, sin, sqrt

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel
from tests.simulator.launching import blocks, both, launch

FILE = "values_intrinsics.cu"


def sinpi(x):
    r = fmod(x, 2.0)
    return 0.0 if r % 1 == 0 else sin(pi * (r - 2 if r > 1.5 else r + 2 if r < -1.5 else r))


def cospi(x):
    r = abs(fmod(x, 2.0))
    return 0.0 if r % 1 == 0.5 else cos(pi * r)


def erfcx(x):
    if x < 5:
        return exp(x * x) * erfc(x)
    below = x
    for k in range(80, 0, -1):  # Laplace's continued fraction
        below = x + 0.5 * k / below
    return 1 / (below * sqrt(pi))


def bessel(x, order):
    return fsum((x / 2) ** (2 * k + order) / (factorial(k) * factorial(k + order)) for k in range(80))


def inverse(function, y, low, high):
    """Where an increasing function is y, by bisection."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < y else (low, middle)
    return low


def special(a, p, above):
    erfcinv_p = inverse(lambda x: -erfc(x), -p, -7, 30)
    far = -inverse(lambda x: -erfc(x), -(2 * p), -7, 30) * sqrt(2)
    erfinv_p = inverse(erf, p, -7, 7)
    lengths = [sqrt(a * a + p * p), sqrt(a * a + p * p + 4), sqrt(a * a + p * p + 13), sqrt(a * a + p * p + 5)]
    return [sinpi(a), cospi(a), sinpi(a), cospi(a), np.sign(a) / abs(a) ** (1 / 3) if a else inf, 1 / lengths[0], *lengths[1:3],
            1 / lengths[1], 1 / lengths[2], lengths[3], 1 / lengths[3], erfinv_p, -erfinv_p, erfcinv_p,
            -inverse(lambda x: -erfc(x), above - 2, -7, 30), 0.5 * erfc(-a / sqrt(2)), far, erfcx(a),
            bessel(a, 0), bessel(a, 1), a]  # fmt: skip


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_functions(dtype, mode, compiler):
    n, random = 97, np.random.default_rng(6)
    x = dtype(random.standard_normal(n) * 4)
    x[:12] = [0.5, 1, 1.5, 2, -0.5, -1, 3.25, 7.75, 26, -3, 4.75, 1e-3]
    p = dtype(random.random(n) * 0.98 + 0.01)
    p[:4] = [0.5, 2.0**-20, 1e-6, 0.75]
    rows = 22 if dtype == np.float64 else 21
    y = np.zeros((rows, n), dtype)
    launch(mode, FILE, f"special_{'doubles' if dtype == np.float64 else 'floats'}", blocks(n), (64,), (x, p, y, n))
    expected = np.array([special(float(a), float(u), float(dtype(2) - u)) for a, u in zip(x, p, strict=True)]).T[:rows]
    for k in range(rows):
        rtol, atol = 3e-12 if dtype == np.float64 else 4e-7, 1e-15 if k < 4 or k == 17 else 0  # those that cross zero
        np.testing.assert_allclose(y[k], expected[k], rtol=rtol, atol=atol, err_msg=f"row {k}")
    whole = (x % 0.5 == 0) & (x % 1 == 0)
    assert (y[0][whole] == 0).all() and (y[1][(x % 0.5 == 0) & ~whole] == 0).all()


def signed(v, bits=32):
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def find_nth_set(mask, base, n):
    if n == 0:
        return base if mask >> base & 1 else -1
    order = range(base, 32) if n > 0 else range(base, -1, -1)
    found = [bit for bit in order if mask >> bit & 1]
    return found[abs(n) - 1] if len(found) >= abs(n) else -1


def integers(a, b, c):
    p, q, r, top = a % 2**32, b % 2**32, c % 2**32, 2**64
    la, lb = a << 20, b << 20
    shift, wide = min(r & 63, 32), (q << 32) | p
    unsigned = [[v >> s & 255 for s in (0, 8, 16, 24)] for v in (p, q)]
    bytes_ = [[signed(v, 8) for v in row] for row in unsigned]
    halves, plain = [signed(p & 65535, 16), signed(p >> 16, 16)], [p & 65535, p >> 16]
    two = [signed(c + sum(h * v for h, v in zip(halves, bytes_[1][at : at + 2], strict=True))) for at in (0, 2)]
    two_plain = [
        (r + sum(h * v for h, v in zip(plain, unsigned[1][at : at + 2], strict=True))) % 2**32 for at in (0, 2)
    ]
    four = signed(c + sum(s * t for s, t in zip(*bytes_, strict=True)))
    four_plain = (r + sum(s * t for s, t in zip(*unsigned, strict=True))) % 2**32
    wide_ones = [min(la, lb), max(la, lb), signed(min(la % top, lb % top), 64), signed(max(la % top, lb % top), 64)]
    shifted = [(wide << shift >> 32) % 2**32, (wide >> shift) % 2**32]
    return [min(p, q), max(p, q), *wide_ones, (a + b) >> 1, (a + b + 1) >> 1, (p + q) >> 1, (p + q + 1) >> 1, *shifted,
            find_nth_set(p, r & 31, q % 9 - 4), *(two + two_plain) * 2, *[four, four_plain] * 2]  # fmt: skip


@both
def test_integers(mode, compiler):
    for n in (1, 97):
        x, z, w = np.random.default_rng(n).integers(-(2**31), 2**31, (3, n)).astype(np.int32)
        y = np.zeros((25, n), np.int64)
        launch(mode, FILE, "integers", blocks(n), (64,), (x, z, w, y, n))
        expected = [integers(*map(int, row)) for row in zip(x, z, w, strict=True)]
        np.testing.assert_array_equal(y.T, expected)


@both
def test_atomics_of_a_scope(mode, compiler):
    n = 100
    y, u, w = np.zeros(5, np.int32), np.zeros(6, np.uint32), np.zeros(1, np.uint64)
    u[1], u[4] = 500, 2**32 - 1
    launch(mode, FILE, "scopes", (1,), (128,), (y, u, w, n))  # of more blocks, those of a block's scope would be a race
    assert list(y) == [2 * n, -3 * n, n - 1, 1 - n, 7] and list(w) == [5]
    assert list(u) == [2 * n, 500 - 2 * n, 2**32 - 1, 2**32 - 1 - 15, 0, 9]


@both
def test_addresses_and_clock(mode, compiler):
    y = np.arange(32, dtype=np.float32)
    launch(mode, FILE, "addresses", (1,), (32,), (y,))
    assert list(y) == list(range(31, -1, -1))


@pytest.mark.parametrize("call", ["__brkpt()", "__prof_trigger(1)"])
def test_what_serves_debuggers_is_refused_by_name(call, compiler):
    with pytest.raises(CompileError, match="line 2") as caught:
        Kernel(f'extern "C" __global__ void f(float* y) {{\n    {call};\n}}', "f").compiled(checked=False)
    assert f"line 2: {call.partition('(')[0]} is not simulated: " in str(caught.value)
