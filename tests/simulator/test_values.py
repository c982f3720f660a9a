"""What kernels compute: every language feature against NumPy, fast and checked, ragged sizes, three seeds, two compilers."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.simulator.launching import MODES, blocks, launch

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
F, I, BF16 = np.float32, np.int32, ml_dtypes.bfloat16
SIZES = (1, 32, 97, 300)


def warps(x, fill=0.0, width=32, block=64):
    """x cut into rows of a warp (padded to whole blocks with `fill`)."""
    padded = np.full(blocks(len(x), block)[0] * block, fill, x.dtype)
    padded[: len(x)] = x
    return padded.reshape(-1, width)


def per_warp(function, fill=0.0, width=32, block=64):
    """A reference that maps rows of lanes to rows of lanes."""
    return lambda x: function(warps(x, fill, width, block)).reshape(-1)[: len(x)]


def spread(function):
    return lambda rows: np.repeat(function(rows)[:, None], rows.shape[1], 1)


def thread_index(n, block):
    """(x, y, z of threadIdx, block number) for consecutive threads."""
    i = np.arange(n)
    size = block[0] * block[1] * block[2]
    t = i % size
    return t % block[0], t // block[0] % block[1], t // (block[0] * block[1]), i // size


def three_dimensions(x):
    tx, ty, tz, b = thread_index(len(x), (4, 3, 2))
    return x + 100 * tz + 10 * ty + tx + 1000 * (b // 2 % 2)


def shuffle_width(rows):
    lane = np.arange(32)
    down = np.where((lane % 8) + 2 < 8, lane + 2, lane)
    up = np.where(lane % 4 >= 1, lane - 1, lane)
    return rows[:, lane // 8 * 8 + 3] + 2 * rows[:, down] + 4 * rows[:, up]


def half_warp_mask(rows):
    lane = np.arange(32)
    return np.where(lane < 16, rows + rows[:, lane ^ 8], rows - rows[:, lane ^ 4])


def diverged(x):
    lane = np.arange(32)
    v = np.zeros(32, F)
    v[: len(x)] = x[:32]
    v = np.where(lane % 3 == 0, 2 * v, np.where(lane % 3 == 1, v + 1, v))
    return v[(lane + 1) % 32][: len(x)]


def active(x):
    i = np.arange(len(x))
    odd = i % 2 == 1
    count = np.repeat(warps(odd.astype(F)).sum(1), 32)[: len(x)]
    return np.where(odd, count, -x)


def math(x):
    from math import erf

    v = np.abs(x).astype(np.float64) + 0.1
    return (
        np.exp(-v) + np.log(v) + np.sqrt(v) + 1 / np.sqrt(v) + np.tanh(v) + v**1.5 + np.sin(v) * np.cos(v)
        + np.array([erf(t) for t in v]) + 2**-v + np.log1p(v) + np.floor(v) + np.fmod(v.astype(F), F(0.3)) + np.copysign(1, x)
        + np.cbrt(v) + np.arctan2(v, 2) + v * v + 1
    )  # fmt: skip


def fast_math(x):
    v = np.abs(x).astype(np.float64) + 0.1
    return (
        np.exp(-v) + np.log(v) + 1 / v + np.sqrt(v) + np.sin(v) + np.cos(v) + np.clip(x, 0, 1) + 1 / v + np.sqrt(v)
        + 10**-v + np.log2(v) + 2 * v + 1 + np.tan(0.1)
    )  # fmt: skip


def minima(x):
    i = np.arange(len(x))
    return np.minimum(x, 0.25) + np.maximum(i, 3) + np.minimum(i, 5) + np.maximum(2, i) + i + np.abs(x)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max())
    return e / e.sum()


def structs(x):
    i = np.arange(len(x))
    return 2 * x + ((i >= 2) & (i < len(x) - 2))


def math_double(x):
    return np.exp(x.astype(np.float64)) + 2**-0.5 + np.maximum(1, x) + 10 + 3


# name: (reference, grid, block, dynamic shared memory); grid None: enough blocks of 64
FLOATS = {
    "scale": (lambda x: 2.5 * x, None, (64,), 0),
    "grid_stride": (lambda x: x + 1, (2,), (32,), 0),
    "three_dimensions": (three_dimensions, (2, 2, 5), (4, 3, 2), 0),
    "reverse_block": (per_warp(lambda r: r[:, ::-1], width=128, block=128), "128", (128,), 0),
    "dynamic_reverse": (per_warp(lambda r: r[:, ::-1], width=64), None, (64,), 256),
    "second_dynamic_name": (lambda x: x + ((np.arange(len(x)) % 64) ^ 1), None, (64,), 256),
    "block_sum": (per_warp(spread(lambda r: r.sum(1)), width=128, block=128), "128", (128,), 0),
    "counted_barrier": (None, None, (64,), 0),
    "warp_sum_down": (per_warp(spread(lambda r: r.sum(1))), None, (64,), 0),
    "warp_max_xor": (per_warp(spread(lambda r: r.max(1)), fill=-np.inf), None, (64,), 0),
    "warp_scan_up": (per_warp(lambda r: r.cumsum(1)), None, (64,), 0),
    "shuffle_width": (per_warp(shuffle_width), None, (64,), 0),
    "shuffle_double": (per_warp(lambda r: 1.0000001 * (r - r[:, np.arange(32) ^ 1].astype(np.float64))), None, (64,), 0),
    "half_warp_mask": (per_warp(half_warp_mask), None, (64,), 0),
    "diverged_then_met": (diverged, (1,), (32,), 0),
    "active_lanes": (active, None, (64,), 0),
    "constants": (lambda x: (np.arange(len(x)) % 8 + 1) * x, None, (64,), 0),
    "copy_as<float, true>": (lambda x: -x, None, (64,), 0),
    "copy_as<float, false>": (lambda x: x, None, (64,), 0),
    "read_only_load": (lambda x: x + x[0], None, (64,), 0),
    "vector4": (None, None, (64,), 0),
    "math_functions": (math, None, (64,), 0),
    "fast_math": (fast_math, None, (64,), 0),
    "double_math": (math_double, None, (64,), 0),
    "minima": (minima, None, (64,), 0),
    "several_early_returns": (lambda x: np.where(x < 0, -1, 1), None, (64,), 0),
    "softmax_row": (softmax, (1,), (128,), 0),
    "structs_and_lambdas": (structs, None, (64,), 0),
    "tile_reduce": (None, None, (64,), 0),
    "tile_shuffles": (None, None, (64,), 0),
    "tile_scan": (per_warp(lambda r: r.cumsum(1) + 100 * (r.cumsum(1) - r)), None, (64,), 0),
    "coalesced": (None, None, (64,), 0),
}  # fmt: skip


def vector4(x):
    y = x.copy()
    whole = len(x) // 4 * 4
    y[:whole] = x[:whole].reshape(-1, 4)[:, ::-1].ravel()
    return y


def tile_reduce(x):
    r = warps(x, width=8)
    i = np.arange(len(x))
    return (np.repeat(r.sum(1) + 10 * r.max(1), 8)[: len(x)] + 100 * (i % 64 // 8) + 1000 * (i % 8)).astype(F)


def tile_shuffles(x):
    r16, r32 = warps(x, width=16), warps(x)
    w = r16[:, 2:3] + r16[:, np.arange(16) ^ 5] + (r16 > 0).sum(1)[:, None]
    return (w.reshape(-1, 32) + r32[:, 17:18]).reshape(-1)[: len(x)]


def coalesced(x):
    rows = warps(x)
    on = rows > 0
    mean = np.where(on, rows, 0).sum(1) / np.maximum(on.sum(1), 1)
    return np.where(on, mean[:, None], 0).reshape(-1)[: len(x)]


def counted_reference(x):
    rows = warps(x, width=64)
    inside = warps(np.ones_like(x), width=64) > 0
    return np.repeat((rows > 0).sum(1) + 1000 * (inside & (rows > 1.5)).any(1) + 10000, 64)[: len(x)]


OTHERS = {"vector4": vector4, "tile_reduce": tile_reduce, "tile_shuffles": tile_shuffles, "coalesced": coalesced,
          "counted_barrier": counted_reference}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_floats(name, mode, compiler):
    reference, grid, block, shared = FLOATS[name]
    reference = reference or OTHERS[name]
    file = "values_half.cu" if name.startswith(("tile", "coalesced")) else "values_float.cu"
    sizes = [n for n in SIZES if name not in ("diverged_then_met",) or n <= 32]
    sizes = [n for n in sizes if name != "three_dimensions" or n <= 480]
    for seed, n in enumerate(sizes, 1):
        x = np.random.default_rng(seed).standard_normal(n, dtype=F)
        for order in (0, seed):  # natural, and shuffled
            y = np.zeros(n, F)
            where = blocks(n) if grid is None else blocks(n, 128) if grid == "128" else grid
            launch(mode, file, name, where, block, (x, y, n), shared, seed=order)
            np.testing.assert_allclose(y, reference(x), rtol=2e-5, atol=2e-5, err_msg=f"n={n}, order {order}")


@pytest.mark.parametrize("mode", MODES)
def test_more_floats(mode, compiler):
    rng = np.random.default_rng(1)
    for n in (6, 96, 300):
        x, y = rng.standard_normal(n, dtype=F), np.zeros(n, F)
        launch(mode, "values_float.cu", "vector2_and_3", blocks(n), (64,), (x, y, n))
        six = x.reshape(-1, 6)
        np.testing.assert_allclose(y[::6], six[:, 0] * six[:, 3] + six[:, 4], rtol=1e-5)
    for m, n, k in ((1, 1, 1), (17, 33, 40), (32, 16, 5)):
        a, b, c = rng.standard_normal((m, k), F), rng.standard_normal((k, n), F), np.zeros((m, n), F)
        for tile in (8, 16):
            grid = ((n + tile - 1) // tile, (m + tile - 1) // tile)
            launch(mode, "values_float.cu", f"matmul<{tile}>", grid, (tile, tile), (a, b, c, m, n, k))
            np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)
    for n in (64, 200):
        x, y = rng.standard_normal(n, dtype=F), np.zeros(10, F)
        launch(mode, "values_float.cu", "last_block_sums", blocks(n), (64,), (x, y, n))
        np.testing.assert_allclose(y[0], x.sum(), rtol=1e-4, atol=1e-4)
    y = np.zeros(5, F)
    args = ((1.0, 0.0, 0.0, 3.0), 0.5, True, 7, 5 << 32, y, 4)
    launch(mode, "values_float.cu", "by_value", (1,), (32,), args)
    np.testing.assert_allclose(y, [119.5 - 0.0] * 4 + [0])


def ints(rng, n):
    return rng.integers(1, 99, n).astype(I)


def votes(x):
    r = warps(x)
    bits = ((r > 10) << np.arange(32, dtype=np.int64)).sum(1) & 0xFFFFFF
    value = bits + ((r > 90).any(1).astype(np.int64) << 28) + ((r < 98).all(1).astype(np.int64) << 29)
    return np.repeat(value, 32)[: len(x)].astype(I)


def matches(x):
    v = warps(x) % 5
    peers = (v[:, :, None] == v[:, None, :]).sum(2)
    return (peers + 1100).reshape(-1)[: len(x)].astype(I)


def reduces(x):
    r = warps(x)
    bits = np.bitwise_or.reduce(r, 1) ^ np.bitwise_and.reduce(r, 1) ^ np.bitwise_xor.reduce(r, 1)
    return np.repeat(r.sum(1) + 3 * r.min(1) + 7 * r.max(1) + bits, 32)[: len(x)].astype(I)


def fibonacci(x):
    values = [0, 1]
    while len(values) < 12:
        values.append(values[-1] + values[-2])
    return np.array(values, I)[x % 12]


def bits(x):
    def one(v):
        length = v.bit_length()
        reverse = int(f"{v:032b}"[::-1], 2)
        low = (v & -v).bit_length()
        byte = [(v >> 8 * k) & 255 for k in range(4)] + [4, 3, 2, 1]
        perm = byte[0] | byte[4] << 8 | byte[1] << 16 | byte[5] << 24
        perm = perm - 2**32 if perm >= 2**31 else perm
        perm = int(np.fmod(perm, 1000))
        funnel = ((1 << 32 | v) << 4 >> 32) & 0xFFFFFFFF
        return (
            v.bit_count() + 32 - length + low + (reverse >> 20) + 3 * v + (v * 2**31 >> 32) + perm + funnel + abs(v - 50) + 1
            + v.bit_count() + 64 - length + (v * 2**30 >> 32) + v + int(np.rint(F(v + 0.5))) - 1 + 5 * v
        )  # fmt: skip

    return np.array([one(int(v)) for v in x], I)


def vector_ints(x):
    y = np.zeros_like(x)
    v = x[: len(x) // 4 * 4].reshape(-1, 4)
    out = np.stack([v[:, 0] + 1 + v[:, 2], v[:, 1] + 2 + v[:, 3], v[:, 3], v[:, 1] + 2], 1)
    y[: out.size] = out.ravel()
    return y


def compact(x):
    kept = x[:32][x[:32] % 2 == 1]
    return np.concatenate([kept, np.zeros(len(x) - len(kept), I)])


INTS = {
    "votes": (votes, None), "matches": (matches, None), "reduces": (reduces, None), "bits": (bits, None),
    "vector_ints": (vector_ints, None), "recursive_fibonacci": (fibonacci, None),
    "bitonic_sort": (np.sort, 128), "compact_by_ballot": (compact, 32),
    "signal_between_warps": (lambda x: x + len(x), 64),
    "switch_and_goto": (lambda x: np.array([10, 20, 30], I)[x % 3], None),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INTS)
def test_ints(name, mode, compiler):
    reference, most = INTS[name]
    for seed in (1, 2, 3):
        for n in (min(SIZES[seed], most or 10**9), 5):
            x, y = ints(np.random.default_rng(seed), n), np.zeros(n, I)
            grid, block = (blocks(n), (64,)) if most is None else ((1,), (most,))
            launch(mode, "values_int.cu", name, grid, block, (x, y, n), seed=seed)
            np.testing.assert_array_equal(y, reference(x), err_msg=f"n={n}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", (1, 2, 3))
def test_atomics(seed, mode, compiler):
    n = SIZES[seed]
    x = ints(np.random.default_rng(seed), n)

    def run(name, *args):
        launch(mode, "values_int.cu", name, blocks(n), (64,), (x, *args, n), seed=seed - 1)

    h = np.zeros(100, I)
    run("histogram", h)
    np.testing.assert_array_equal(h, np.bincount(x, minlength=100))
    y = np.zeros(12, I)
    y[4] = -1
    run("atomic_all", y)
    ones = np.bitwise_or.reduce(1 << (x % 31))
    total = x.sum()
    assert list(y[:7]) == [total, -total, -x.max(), x.max(), ~ones, ones, np.bitwise_xor.reduce(x)]
    assert list(y[7:11]) == [n % 7, -n % 7, 77, total]
    w = np.array([0, 0, 2**62, 0, 0, 0, 5, 0], np.int64)
    run("atomic_wide", w)
    v = x.astype(np.int64) * 10**9
    assert list(w[:5]) == [v.sum(), v.max(), v.min(), -v.max(), v.max() - 1]
    assert int(w[5]) % 2**64 == int(np.bitwise_or.reduce(np.uint64(1) << (x % 64).astype(np.uint64)))
    assert list(w[6:]) == [9, 12345678901]
    f, d = np.zeros(2, F), np.zeros(1)
    run("atomic_float", f, d)
    assert f[0] == total == d[0] and f[1] == 3
    t = np.zeros(n + 1, I)
    run("atomic_ticket", t)
    assert t[0] == n and sorted(t[1:]) == sorted(x)


@pytest.mark.parametrize("mode", MODES)
def test_small_types(mode, compiler):
    x = np.arange(-40, 40, dtype=np.int8)
    y, z = np.zeros(80, np.uint8), np.zeros(80, np.int16)
    launch(mode, "values_int.cu", "small_types", (2,), (64,), (x, y, z, 80))
    np.testing.assert_array_equal(y, (x.astype(int) * 3 % 256).astype(np.uint8))
    np.testing.assert_array_equal(z, x.astype(int) - y)
    b, c = x % 3 == 0, np.zeros(80, bool)
    launch(mode, "values_int.cu", "flags", (2,), (64,), (b, c, 80))
    np.testing.assert_array_equal(c, ~b)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", (1, 2, 3))
def test_half_and_bfloat16(seed, mode, compiler):
    n = (2, 97, 300)[seed - 1]
    rng = np.random.default_rng(seed)

    def run(name, *args):
        launch(mode, "values_half.cu", name, blocks(n), (64,), (*args, n))

    x = rng.standard_normal(n).astype(np.float16)
    y = np.zeros_like(x)
    run("half_arithmetic", x, y)
    two = np.float16(2)
    fma = (x.astype(F) * x + 2).astype(np.float16)
    expected = (x * two + fma) - x / two + np.exp(-np.abs(x).astype(F)).astype(np.float16)
    np.testing.assert_allclose(y, expected, rtol=1e-3)
    run("half_pairs", x, y := np.zeros_like(x))
    even = n // 2 * 2
    swapped = x[:even].reshape(-1, 2)[:, ::-1].ravel()
    w = (x[:even].astype(F) * 3 + swapped).astype(np.float16)
    np.testing.assert_array_equal(y[:even], w + x[:even])
    run("half_to_float", x, y := np.zeros(n, F))
    np.testing.assert_array_equal(y, x.astype(F) + (x > 0))
    wide = (rng.standard_normal(n) * 10.0 ** rng.integers(-8, 6, n)).astype(F)
    run("float_to_half", wide, y := np.zeros(n, np.float16))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, wide.astype(np.float16))
    b = rng.standard_normal(n).astype(BF16)
    run("bf16_arithmetic", b, y := np.zeros(n, BF16))
    expected = (b.astype(F) * F(1.5)).astype(BF16) + (b * BF16(0.25))
    np.testing.assert_array_equal(y.astype(F), expected.astype(F))
    run("bf16_pairs", b, y := np.zeros(n, F))
    np.testing.assert_array_equal(y[:even], (b * b).astype(F)[:even])
    run("half_atomics", x, y := np.zeros(2, np.float16))
    assert list(y) == [n, 2 * n]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ("half", "__nv_bfloat16"))
def test_tensor_cores(dtype, mode, compiler):
    rng = np.random.default_rng(3)
    kind = np.float16 if dtype == "half" else BF16
    for n in (16, 48):
        a, b = rng.standard_normal((16, n)).astype(kind), rng.standard_normal((n, 16)).astype(kind)
        c = np.zeros((16, 16), F)
        columns = np.ascontiguousarray(b.T)
        launch(mode, "values_half.cu", f"wmma_16<{dtype}>", (1,), (32,), (a, columns, c, n))
        np.testing.assert_allclose(c, 0.5 * (a.astype(F) @ b.astype(F)), rtol=1e-4, atol=1e-4)
    a, b, c = (
        rng.standard_normal((16, 16)).astype(kind),
        rng.standard_normal((16, 8)).astype(kind),
        np.zeros((16, 8), F),
    )
    name = f"ptx_product<{'true' if dtype != 'half' else 'false'}>"
    launch(mode, "values_half.cu", name, (1,), (32,), (a.view(np.uint16), b.view(np.uint16), c))
    np.testing.assert_allclose(c, a.astype(F) @ b.astype(F), rtol=1e-4, atol=1e-4)
    x, y = rng.standard_normal(160, dtype=F), np.zeros(160, F)
    launch(mode, "values_half.cu", "pipelined_copy", (1,), (32,), (x, y, 160))
    np.testing.assert_array_equal(y, x.reshape(-1, 32)[:, ::-1].ravel())


def test_there_are_sixty_kernels():
    from course_lib.cuda import source

    files = ("values_float.cu", "values_int.cu", "values_half.cu")
    assert sum(len(source.kernels(source.find(HERE / file))) for file in files) >= 60


@pytest.mark.parametrize("mode", MODES)
def test_an_index_that_divides_in_one_of_two_arrays(mode, compiler):
    """g++ 12 computes such an index in the first of the two only, where it looks for divisions by zero itself."""
    a, b = np.random.default_rng(0).uniform(size=(2, 30)).astype(np.float32)
    for n, which in ((5, 0), (100, 1), (100, 2), (33, 4), (70, 3)):
        y = np.zeros(32, np.float32)
        launch(mode, "values_float.cu", "one_of_two", (1,), (32,), (a, b, y, n, which))
        right = [
            sum(
                (b if which == 1 else a)[w // 4] + 8 * (b if which % 2 else a[1:] if which // 2 else a)[w % 5]
                for w in range(i, n, 32)
            )
            for i in range(32)
        ]
        np.testing.assert_allclose(y, right, rtol=1e-5)
