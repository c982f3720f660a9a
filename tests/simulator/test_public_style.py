"""Kernels in the manner of public code: values against NumPy, in natural and shuffled order, and nothing to report."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.cuda import Kernel, sanitize

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "values_public.cu"
F, I = np.float32, np.int32
RANDOM = np.random.default_rng(11)


def normal(*shape):
    return RANDOM.standard_normal(shape, dtype=F)


def reduce6():
    x, y = normal(5000), np.zeros(3, F)
    own = [np.arange(5000) // 512 % 3 == block for block in range(3)]
    return "reduce6<float, 256, false>", 3, 256, (x, y, 5000), 1024, y, np.array([x[o].sum() for o in own])


def prescan():
    x, y = np.arange(256, dtype=F) % 7, np.zeros(256, F)
    return "prescan", 1, 128, (y, x, 256), 4 * 264, y, x.cumsum() - x


def group_sums():
    x, y = normal(512), np.zeros(20, F)
    return "group_sums", 4, 128, (x, y, 512), 0, y, np.concatenate([x.reshape(4, 128).sum(1), x.reshape(16, 32).sum(1)])


def single_pass():
    x, y = normal(3000), np.zeros(1, F)
    return "reduceSinglePass", 6, 128, (x, np.zeros(6, F), y, 3000), 0, y, x.sum()[None]


def transpose():
    x, y = normal(45, 70), np.zeros((70, 45), F)
    return "transposeNoBankConflicts", (3, 2), (32, 8), (y, x, 70, 45), 0, y, x.T


def gemv():
    a, v, y = normal(13, 72), normal(72), np.zeros(13, F)
    return "gemv_warp_per_row", 4, (32, 4), (a, v, y, 13, 18), 0, y, a @ v


def spmv():
    dense = normal(50, 60) * (RANDOM.random((50, 60)) < 0.1)
    rows, columns = dense.nonzero()
    starts = np.searchsorted(rows, np.arange(51)).astype(I)
    x, y = normal(60), np.zeros(50, F)
    return "spmv_csr", 2, 32, (starts, columns.astype(I), dense[rows, columns], x, y, 50), 0, y, dense @ x


def specialised():
    x, y = normal(5, 96), np.zeros(96, F)
    return "warp_specialised<2>", 1, 128, (x, y, 5), 0, y, x.sum(0)[::-1]


WEIGHTS = np.array([1, 2, 4, 2, 1], F) / 10


def convolution():
    x, y = normal(6, 50), np.zeros((6, 50), F)
    return (
        "convolutionRows",
        (2, 2),
        (32, 4),
        (y, x, 50, 6),
        0,
        y,
        np.array([np.convolve(r, WEIGHTS, "same") for r in x]),
    )


def stencil():
    x, y = normal(6, 7, 9), np.zeros((6, 7, 9), F)
    p = np.pad(x, 1, mode="edge")
    around = p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1]
    around = around + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2]
    size = np.array([9, 7, 6], np.uint32).tobytes()
    return "stencil_7point", (2, 2, 2), (8, 4, 4), (x, y, size), 0, y, around - 6 * x


def julia():
    y = np.zeros((20, 20), I)
    steps = np.arange(20)
    r, i = np.meshgrid(1.5 * (10 - steps) / 10, 1.5 * (10 - steps) / 10)
    z, count = r + 1j * i, np.full((20, 20), 50)
    for step in range(50):
        with np.errstate(all="ignore"):
            z = np.where(count == 50, z * z - 0.75 + 0.125j, z)
        count[(count == 50) & (abs(z) ** 2 > 1000)] = step
    return "julia_set", (20, 20), 1, (y, 20), 0, y, count


def life():
    x, y = RANDOM.integers(0, 2, (12, 17), dtype=np.uint8), np.zeros((12, 17), np.uint8)
    around = sum(np.roll(x, (a, b), (0, 1)).astype(int) for a in (-1, 0, 1) for b in (-1, 0, 1)) - x
    return "life", 2, 64, (x, y, 17, 12), 0, y, (around == 3) | ((around == 2) & (x == 1))


def nbody():
    x, y = np.abs(normal(128, 4)), np.zeros((128, 4), F)
    apart = x[None, :, :3].astype(float) - x[:, None, :3]
    s = x[None, :, 3] / ((apart**2).sum(2) + 0.01) ** 1.5
    return "calculate_forces", 2, 64, (x, y, 128), 1024, y[:, :3], (apart * s[..., None]).sum(1)


def rsqrt():
    x, y = np.abs(normal(200)) + 0.1, np.zeros(200, F)
    guess = (np.uint32(0x5F3759DF) - (x.view(np.uint32) >> 1)).view(F)
    return "rsqrt_by_bits", 2, 128, (x, y, 200), 0, y, guess * (1.5 - x * 0.5 * guess * guess)


def enum_class():
    a, b, y = normal(300), normal(300), np.zeros(300, F)
    return "binary<Op::Max>", 1, 128, (a, b, y, 300), 0, y, np.maximum(a, b)


def functor():
    x, y = normal(100), np.zeros(100, F)
    f = np.array([(2.0, 3.0)], dtype=[("a", F), ("b", F)])[0]
    return "map_kernel<Twice<Affine>>", 1, 128, (f, x, y, 100), 0, y, 2 * (2 * x + 3) + 3 + 101


def lehmer():
    x, y = np.arange(1, 65, dtype=I), np.zeros(64, I)
    s = x.astype(np.int64)
    for _ in range(5):
        s = (s * 1103515245 + 12345 + 2**31) % 2**32 - 2**31
        s = np.where(s < 0, -s, s)
    return "lehmer", 1, 64, (x, y, 5), 0, y, s


def aggregated():
    x, used = normal(64), np.zeros(128, I)
    expected = np.arange(128) < 2 * (x > 0.3).sum()
    return "count_places", 2, 64, (x, used, np.zeros(1, I), 0.3), 0, used, expected


def radix():
    x, y = RANDOM.integers(0, 99, 256).astype(np.uint32), np.zeros(256, np.uint32)
    one = x >> 2 & 1
    return "radix_split", 1, 256, (x, y, 2), 0, y, np.concatenate([x[one == 0], x[one == 1]])


def merge():
    a, b = np.sort(RANDOM.integers(0, 50, 70)).astype(I), np.sort(RANDOM.integers(0, 50, 90)).astype(I)
    y = np.zeros(160, I)
    return "merge_by_rank", 3, 32, (a, b, y, 70, 90), 0, y, np.sort(np.concatenate([a, b]))


def monte_carlo():
    y, total = np.zeros(1, np.uint64), 0
    for thread in range(64):
        state = 0x9E3779B97F4A7C15 * (thread + 1) % 2**64
        for _ in range(10):
            point = []
            for _ in "xy":
                state ^= state >> 12
                state = (state ^ state << 25) % 2**64
                state ^= state >> 27
                point.append((state * 0x2545F4914F6CDD1D % 2**64) >> 44)
            total += point[0] ** 2 + point[1] ** 2 < 2**40
    return "monte_carlo", 2, 32, (y, 10), 0, y, [total]


def warshall():
    x = RANDOM.integers(1, 99, (20, 20)).astype(I)
    y = x.copy()
    return "floyd_warshall", (2, 2), (16, 16), (y, 20, 7), 0, y, np.minimum(x, x[:, 7:8] + x[7:8])


def half_dot():
    a, b, y = np.ones(200, np.float16), (np.arange(200) % 3).astype(np.float16), np.zeros(1, F)
    return "half2_dot", 1, 32, (a, b, y, 100), 0, y, [(np.arange(200) % 3).sum()]


def softmax():
    x, y = normal(3, 77), np.zeros((3, 77), F)
    e = np.exp(x.astype(float))
    return "online_softmax", 3, 32, (x, y, 77), 0, y, e / e.sum(1, keepdims=True)


def upper():
    text = bytearray(b"The quick brown fox jumps over the lazy dog!")
    y = np.frombuffer(text, np.uint8)
    return "to_upper", 1, 32, (y, 11), 0, y, np.frombuffer(bytes(text).upper(), np.uint8)


CASES = (reduce6, prescan, group_sums, single_pass, transpose, gemv, spmv, specialised, convolution, stencil, julia, life,
         nbody, rsqrt, enum_class, functor, lehmer, aggregated, radix, merge, monte_carlo, warshall, half_dot, softmax,
         upper)  # fmt: skip
NAMES = [case()[0] for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_public_style(case, compiler):
    for name in NAMES:  # one compilation for all instances
        Kernel(FILE, name)
    Kernel(FILE, "convolutionRows").upload("c_Kernel", WEIGHTS)
    for seed in (0, 1, 2, "checked"):
        name, grid, block, args, shared, got, expected = case()
        kernel = Kernel(FILE, name)
        if seed == "checked":
            report = sanitize(kernel, grid, block, args, shared_mem=shared)
            assert report.ok, str(report)
        else:
            kernel(grid, block, args, shared_mem=shared, seed=seed)
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-5, err_msg=f"seed {seed}")
