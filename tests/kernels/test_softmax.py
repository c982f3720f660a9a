"""Softmax: every version, forward and backward, masked and not, against float64; and what each version gained."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray
from course_lib.devices import ops
from course_lib.devices.gpu import configuration, launching
from tests.kernels.checking import (
    assert_bytes,
    assert_clean,
    assert_close,
    assert_coalesced,
    assert_same_bits,
    new,
    normal,
)

F, D = np.float32, np.float64
reference = ops("reference")

# Threads, vector width, packs of each: a few lanes, a warp, a block; rows that fill them, and rows that end early.
LAYOUTS = [
    (4, 4, 3, (4, 44, 48)),
    (32, 1, 2, (1, 33, 64)),
    (32, 4, 1, (4, 128)),
    (128, 4, 1, (132, 512)),
    (64, 1, 4, (130, 255)),
]


def forward(version: str, x: np.ndarray, T: int = 0, layout: tuple = (32, 1, 2), seed: int = 0, clean: bool = True):
    """y of one version; T rows to a causal matrix, 0 without a mask."""
    rows, S = x.size // x.shape[-1], x.shape[-1]
    y = new(*x.shape)
    if version == "softmax_forward":
        kernel = Kernel("softmax.cu", f"softmax_forward<{', '.join(map(str, layout))}>")
        launch = (max(1, rows // 2),), (layout[0],), (x, y, rows, S, T)  # a block takes more than one row
    else:
        launch = (rows,), (64,), (x, y, S, T)
        kernel = Kernel("softmax.cu", f"{version}<64>")
    if clean:
        assert_clean(kernel, *launch)
    else:
        kernel(*launch, seed=seed)
    return y


def backward(version: str, dy: np.ndarray, y: np.ndarray, layout: tuple = (32, 1, 2)):
    rows, S = y.size // y.shape[-1], y.shape[-1]
    dx = new(*y.shape)
    if version == "softmax_backward":
        kernel = Kernel("softmax.cu", f"softmax_backward<{', '.join(map(str, layout))}>")
        assert_clean(kernel, (max(1, rows // 2),), (layout[0],), (dy, y, dx, rows, S))
    else:
        assert_clean(Kernel("softmax.cu", f"{version}<64>"), (rows,), (64,), (dy, y, dx, S))
    return dx


@pytest.mark.parametrize("version", ["softmax_1_three_pass", "softmax_2_online"])
@pytest.mark.parametrize("T, S", [(1, 1), (3, 37), (5, 64), (5, 65), (2, 257)])
def test_versions_that_take_any_length(version, T, S):
    x = normal(2, T, S, deviation=4)
    assert_close(forward(version, x), reference.softmax_forward(x.astype(D)))
    assert_close(forward(version, x, T), reference.softmax_forward(x.astype(D), causal=True))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: "x".join(map(str, layout[:3])))
def test_rows_in_registers(layout):
    for S in layout[3]:
        for T in (1, 3):
            T = min(T, S)
            x, dy = normal(2, T, S, deviation=4), normal(2, T, S, seed=1)
            for causal in (False, True):
                y = forward("softmax_forward", x, T if causal else 0, layout[:3])
                want = reference.softmax_forward(x.astype(D), causal=causal)
                assert_close(y, want, what=f"S = {S}, T = {T}, causal = {causal}")
                dx = backward("softmax_backward", dy, y, layout[:3])
                assert_close(dx, reference.softmax_backward(dy.astype(D), want))


@pytest.mark.parametrize("S", [1, 37, 130])
def test_the_first_version_backward(S):
    y, dy = asarray(reference.softmax_forward(normal(3, S)).astype(F)), normal(3, S, seed=1)
    dx = backward("softmax_backward_1_two_pass", dy, y)
    assert_close(dx, reference.softmax_backward(dy.astype(D), y.astype(D)))


@pytest.mark.parametrize("version", ["softmax_1_three_pass", "softmax_2_online", "softmax_forward"])
def test_far_scores_and_hidden_ones(version):
    """exp(x) alone would overflow; -inf stands for what a mask of the caller hides; a nan must show."""
    x = normal(4, 60, mean=1e4, deviation=30)
    x[0, :50] = -np.inf
    x[1, 7] = np.nan
    y = forward(version, x)
    assert np.isnan(y[1]).all()
    rest = [0, 2, 3]
    assert_close(y[rest], reference.softmax_forward(x[rest].astype(D)), 1e-6)


@pytest.mark.parametrize("version", ["softmax_1_three_pass", "softmax_2_online", "softmax_forward"])
def test_what_a_causal_mask_hides_is_never_looked_at(version):
    x = normal(9, 12)
    want = forward(version, x, T=9)
    hidden = ~np.tri(9, 12, 3, dtype=bool)
    x[hidden] = np.nan
    np.testing.assert_array_equal(forward(version, x, T=9), want)
    assert (want[hidden] == 0).all()


@pytest.mark.parametrize("version", ["softmax_1_three_pass", "softmax_2_online", "softmax_forward"])
def test_the_same_bits_in_any_order(version):
    x = normal(5, 255, deviation=4)
    assert_same_bits(lambda seed: [forward(version, x, 0, (64, 1, 4), seed, clean=False)])


def test_what_each_version_gained():
    """Bytes of global memory: 16 n, 12 n, 8 n forward; 20 n, 12 n backward."""
    rows, S = 16, 512
    x, y, n = normal(rows, S), new(rows, S), rows * S
    d, dx = normal(rows, S, seed=1), new(rows, S)
    for name, block, args, each in (
        ("softmax_1_three_pass<128>", 128, (x, y, S, 0), 16),
        ("softmax_2_online<128>", 128, (x, y, S, 0), 12),
        ("softmax_forward<32, 4, 4>", 32, (x, y, rows, S, 0), 8),
        ("softmax_forward<128, 4, 1>", 128, (x, y, rows, S, 0), 8),
        ("softmax_backward_1_two_pass<128>", 128, (d, y, dx, S), 20),
        ("softmax_backward<32, 4, 4>", 32, (d, y, dx, rows, S), 12),
    ):
        report = assert_clean(Kernel("softmax.cu", name), (rows,), (block,), args)
        assert_bytes(report, each * n, 1.0)
        assert_coalesced(report)
        if block == 32:
            assert not [line for line in report.lines if line.space == "shared"]


def test_a_causal_mask_saves_reading():
    S = 256
    x, y = normal(S, S), new(S, S)
    report = assert_clean(Kernel("softmax.cu", "softmax_forward<32, 4, 2>"), (32,), (32,), (x, y, S, S, S))
    read = sum(line.bytes_moved for line in report.lines if line.op == "read")
    assert read < 0.6 * 4 * S * S  # half, and what whole sectors add


def test_who_keeps_a_row():
    """The row layout of each length holds it, in one warp where possible; beyond 16,384 there is none."""
    for host in (True, False):
        for C in range(1, 20000, 7):
            for N in (1, 4) if C % 4 == 0 else (1,):
                layout = configuration.row_layout(host, C, N)
                if C > 1024 * configuration.MOST_PER_THREAD:
                    assert layout is None
                    continue
                assert layout.THREADS * layout.N * layout.ITEMS >= C and (layout.THREADS & (layout.THREADS - 1)) == 0
                assert host or layout.THREADS == 32 or layout.THREADS * configuration.MOST_PER_THREAD // 2 < C
                assert host or layout.N * layout.ITEMS <= configuration.MOST_PER_THREAD


def test_rows_too_long_for_registers_take_the_version_that_takes_any():
    x, dy = normal(2, 20001), normal(2, 20001, seed=1)
    table = ops("simulator")
    with launching.counting() as launches:
        y = table.softmax_forward(x)
        dx = table.softmax_backward(dy, y)
    assert dict(launches) == {"softmax.cu softmax_2_online": 1, "softmax.cu softmax_backward_1_two_pass": 1}
    want = reference.softmax_forward(x.astype(D))
    assert_close(y, want)
    assert_close(dx, reference.softmax_backward(dy.astype(D), want))


def test_no_rows():
    assert ops("simulator").softmax_forward(new(0, 5)).shape == (0, 5)
    assert ops("simulator").softmax_backward(new(3, 0), new(3, 0)).shape == (3, 0)
