"""Intrinsics that say how they round, against exact fractions: _rn, _rz, _ru and _rd of everything, bit by bit."""

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from tests.simulator.launching import blocks, both, launch

FILE, MODE_NAMES = "values_rounding.cu", ("rn", "rz", "ru", "rd")


def nearest_four(sign, guess):
    """The four roundings of a number: sign(f) says on which side of the fraction f it lies, guess is near to it."""
    while sign(Fraction(float(guess))) < 0:
        guess = np.nextafter(guess, -np.inf, dtype=guess.dtype)
    while sign(Fraction(float(above := np.nextafter(guess, np.inf, dtype=guess.dtype)))) >= 0:
        guess = above
    low, exact = guess, sign(Fraction(float(guess))) == 0
    high = low if exact else np.nextafter(low, np.inf, dtype=guess.dtype)
    side = sign((Fraction(float(low)) + Fraction(float(high))) / 2)
    even = low if not low.tobytes()[0] & 1 else high
    middle = low if side < 0 else high if side > 0 else even
    return middle, low if sign(Fraction(0)) > 0 else high, high, low


def four(exact, dtype):
    return nearest_four(lambda f: (exact > f) - (exact < f), dtype(float(exact)))


def four_of_root(square, dtype):
    def sign(f):
        return 1 if f < 0 else (square > f * f) - (square < f * f)

    return nearest_four(sign, dtype(float(square) ** 0.5))


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arithmetic(dtype, mode, compiler):
    random, n, wide = np.random.default_rng(2), 97, 60 if dtype == np.float32 else 400
    scale = [2.0 ** random.integers(-wide, wide, n) for _ in "abc"]
    a, b, c = (dtype(random.standard_normal(n) * s) for s in scale)
    b = np.abs(b)
    b[:40] = np.abs(a[:40] * dtype(1.5)) * random.random(40).astype(dtype)  # sums in which both count
    c[:40] = -a[:40] * b[:40] * dtype(1 + 3 * np.finfo(dtype).eps)
    a[90:], b[90:], c[90:] = 3, 1 / dtype(3), -1
    tiny = np.finfo(dtype).tiny
    a[95], b[95], c[95] = tiny * dtype(1.5), dtype(1 / 3), tiny  # subnormal products
    y = np.zeros((7, 4, n), dtype)
    launch(mode, FILE, f"{'float' if dtype == np.float32 else 'double'}_arithmetic", blocks(n), (64,), (a, b, c, y, n))
    for i in range(n):
        p, q, r = (Fraction(float(v[i])) for v in (a, b, c))
        exact = [p + q, p - q, p * q, p / q, 1 / p, None, p * q + r]
        for k, value in enumerate(exact):
            expected = four_of_root(q, dtype) if value is None else four(value, dtype)
            assert [float(v) for v in y[k, :, i]] == [float(v) for v in expected], (k, a[i], b[i], c[i])


@both
def test_to_floats(mode, compiler):
    random, n = np.random.default_rng(3), 97
    d = random.standard_normal(n) * 2.0 ** random.integers(-150, 120, n)
    w = random.integers(-(2**63), 2**63, n) >> random.integers(0, 50, n)
    y, z = np.zeros((5, 4, n), np.float32), np.zeros((2, 4, n))
    launch(mode, FILE, "to_float", blocks(n), (64,), (d, w, y, n))
    launch(mode, FILE, "to_double", blocks(n), (64,), (w, z, n))
    for i in range(n):
        v = int(w[i])
        short = (v + 2**31) % 2**32 - 2**31
        for k, exact in enumerate((Fraction(float(d[i])), short, v % 2**32, v, v % 2**64)):
            assert list(y[k, :, i]) == list(four(Fraction(exact), np.float32)), (k, exact)
        for k, exact in enumerate((v, v % 2**64)):
            assert list(z[k, :, i]) == list(four(Fraction(exact), np.float64)), (k, exact)


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_to_integers(dtype, mode, compiler):
    random = np.random.default_rng(4)
    x = dtype(random.standard_normal(60) * 2.0 ** random.integers(-2, 70, 60))
    x = np.concatenate(
        [x, dtype([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0, 3e9, -3e9, 1e30, -1e30, np.inf, -np.inf, np.nan])]
    )
    y = np.zeros((4, 4, len(x)), np.int64)
    name = f"{'float' if dtype == np.float32 else 'double'}_to_integer"
    launch(mode, FILE, name, blocks(len(x)), (64,), (x, y, len(x)))
    ranges = (-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**63), 2**63 - 1), (0, 2**64 - 1)
    for i, v in enumerate(x):
        for k, (least, most) in enumerate(ranges):
            if np.isnan(v):
                expected = [0, 0, -(2**63), 2**63][k : k + 1] * 4
            elif np.isinf(v):
                expected = [most if v > 0 else least] * 4
            else:
                e = Fraction(float(v))
                expected = [min(max(r, least), most) for r in (round(e), int(e), ceil(e), floor(e))]
            assert [int(g) % 2**64 for g in y[k, :, i]] == [g % 2**64 for g in expected], (k, v)
