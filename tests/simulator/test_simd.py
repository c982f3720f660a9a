"""The SIMD intrinsics against NumPy's arithmetic on views of the same words, exactly."""

from itertools import product

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel
from tests.simulator.launching import blocks, both, launch

FILE = "values_simd.cu"
EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x8001, 0x807F, 0xFF80, 0xFFFF)


def words():
    """Three arrays (n,): every pair of the edges in both halfwords, then random words."""
    random = np.random.default_rng(7)
    pairs = np.array([high << 16 | low for high, low in product(EDGES, EDGES)], np.uint32)
    edges = (part.ravel() for part in np.meshgrid(pairs, pairs))
    a, b = (np.concatenate([part, random.integers(0, 2**32, 999, np.uint32)]) for part in edges)
    return a, b, random.permutation(a)


def lanes(word, kind):
    """(n,) words -> (n, lanes) numbers, of s or u and so many bits."""
    return word.view(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}").reshape(len(word), -1).astype(np.int64)


def joined(values, kind):
    """(n, lanes) numbers -> (n,) words; what does not fit wraps around."""
    return values.astype(f"u{int(kind[1:]) // 8}").view(np.uint32).ravel()


def away_from_zero(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


EQUAL, ORDERED = (np.equal, np.not_equal), (np.greater_equal, np.greater, np.less_equal, np.less)


def of_lanes(a, b, bits):
    """The result of every intrinsic with lanes of so many bits, in the order of the kernel's."""
    s, u = f"s{bits}", f"u{bits}"
    (x, y), (p, q) = (lanes(a, s), lanes(b, s)), (lanes(a, u), lanes(b, u))
    low, high, top = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 2**bits - 1
    yield from (np.abs(x), np.minimum(np.abs(x), high), -x, np.minimum(-x, high))
    yield from (p + q, np.clip(x + y, low, high), np.minimum(p + q, top))
    yield from (p - q, np.clip(x - y, low, high), np.maximum(p - q, 0))
    yield from (np.abs(x - y), np.abs(p - q), np.abs(x - y).sum(1), np.abs(p - q).sum(1))
    yield from (away_from_zero((x + y) / 2), away_from_zero((p + q) / 2), (p + q) // 2)
    yield from (np.maximum(x, y), np.maximum(p, q), np.minimum(x, y), np.minimum(p, q))
    for holds in (-1, 1):
        yield from (compare(p, q) * holds for compare in EQUAL)
        yield from (compare(*pair) * holds for compare, pair in product(ORDERED, ((x, y), (p, q))))


@both
def test_lanes(mode, compiler):
    a, b, _ = words()
    expected = [of for pair in zip(*(list(of_lanes(a, b, bits)) for bits in (16, 8)), strict=True) for of in pair]
    y = np.zeros((len(expected), len(a)), np.int64)
    launch(mode, FILE, "of_lanes", blocks(len(a)), (64,), (a, b, y, len(a)))
    for k, values in enumerate(expected):
        values = values if values.ndim == 1 else joined(values.astype(np.int64), f"u{8 if k % 2 else 16}")
        np.testing.assert_array_equal(y[k], values, err_msg=f"row {k}")


def extremes(a, b, c, extreme):
    def result(values, kind):
        return values.ravel() if kind.endswith("32") else joined(values, kind)

    def wrapped(values, kind):
        return lanes(joined(values, kind), kind)

    for kind in ("s32", "s16", "u32", "u16"):
        x, y, z = (lanes(word, kind) for word in (a, b, c))
        two, three, of_sum = extreme(x, y), extreme(extreme(x, y), z), extreme(wrapped(x + y, kind), z)
        found = [np.maximum(two, 0), three, np.maximum(three, 0), of_sum, np.maximum(of_sum, 0)]
        yield from (result(values, kind) for values in (found if kind[0] == "s" else (three, of_sum)))
    for kind in ("s32", "u32", "s16", "u16"):
        x, y = lanes(a, kind), lanes(b, kind)
        yield result(extreme(x, y), kind)
        is_a = (x >= y if extreme is np.maximum else x <= y).astype(np.int64)
        yield is_a @ [1, 2][: is_a.shape[1]]  # the low halfword is the first


@both
def test_extremes(mode, compiler):
    a, b, c = words()
    expected = [values for extreme in (np.maximum, np.minimum) for values in extremes(a, b, c, extreme)]
    y = np.zeros((len(expected), len(a)), np.int64)
    launch(mode, FILE, "extremes", blocks(len(a)), (64,), (a, b, c, y, len(a)))
    for k, values in enumerate(expected):
        np.testing.assert_array_equal(y[k], values, err_msg=f"row {k}")


@pytest.mark.parametrize("call", ["__vadd4(a)", "__vabs2(a, a)", "__vimax3_s32(a, a)", "__vibmax_u32(a, a)"])
def test_a_wrong_call_is_refused_in_its_line(call, compiler):
    text = f'extern "C" __global__ void f(unsigned* y) {{\n    unsigned a = y[0];\n    y[0] = {call};\n}}'
    with pytest.raises(CompileError, match=r"line 3(?s:.*)does not fit the function"):
        Kernel(text, "f").compiled(checked=False)
