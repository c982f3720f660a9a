"""gemm.cu and gemm_bf16.cu: every layout, ragged sizes, split sums, batches and epilogues, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cuda import Kernel, asarray, empty, nvrtc, source
from course_lib.devices import ops
from course_lib.devices.gpu import launching, product_tiles, products
from tests.kernels.checking import (
    assert_clean,
    assert_close,
    assert_coalesced,
    assert_conflict_free,
    assert_same_bits,
    normal,
)
from tests.nvrtc_here import needs_nvrtc

BF16 = ml_dtypes.bfloat16
SIZES = [(1, 1, 1), (7, 31, 33), (65, 127, 130), (130, 33, 7), (127, 1, 65), (1, 130, 31), (64, 64, 64), (3, 5, 0)]
FLOAT_TILES = {
    "large": product_tiles.LARGE,
    "small": product_tiles.SMALL,
    "simulated": product_tiles.SIMULATED,
    "narrow": product_tiles.SIMULATED_NARROW,
}
BF16_TILES = {
    "large": product_tiles.LARGE_BF16,
    "middle": product_tiles.MIDDLE_BF16,
    "small": product_tiles.SMALL_BF16,
    "simulated": product_tiles.SIMULATED_BF16,
}
LAYOUTS = [(False, False), (False, True), (True, False), (True, True)]
NAMES = {False: "float32", True: "bfloat16", **dict(zip(LAYOUTS, ("NN", "NT", "TN", "TT"), strict=True))}
every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES.get)
every_type = pytest.mark.parametrize("bf16", [False, True], ids=NAMES.get)


def tolerance(y) -> float:
    """Sums are float32 in both; a result in bfloat16 has 8 bits."""
    return 2e-6 if y.dtype == np.float32 else 2.0**-8


def numbers(*shape, bf16=False, seed=0):
    x = normal(*shape, seed=seed)
    return asarray(x.astype(BF16)) if bf16 else x


def inputs(M, N, K, layout, bf16=False, seed=0):
    a = numbers(*((K, M) if layout[0] else (M, K)), bf16=bf16, seed=2 * seed)
    b = numbers(*((N, K) if layout[1] else (K, N)), bf16=bf16, seed=2 * seed + 1)
    return a, b


def product64(a, b, layout=(False, False)):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a.swapaxes(-1, -2) if layout[0] else a) @ (b.swapaxes(-1, -2) if layout[1] else b)


def launch(tile, layout, a, b, c, M, N, K, bf16=False):
    """Kernel, grid, block, arguments and shared memory of one product."""
    words = [*(["float"] if bf16 else []), *(str(transposed).lower() for transposed in layout), *map(str, tile)]
    file, name = ("gemm_bf16.cu", "gemm_bf16") if bf16 else ("gemm.cu", "gemm")
    grid = (launching.blocks(N, tile.BN), launching.blocks(M, tile.BM), 1)
    kernel = Kernel(file, f"{name}<{', '.join(words)}>")
    return kernel, grid, (tile.threads,), (a, b, c, M, N, K, 0, 0, 0), tile.shared_mem


# The main loop


# A GPU's tile for tensor cores compiles for seconds: NT and TN read A and B in every way.
TRIED = [(False, size, layout) for size in FLOAT_TILES for layout in LAYOUTS]
TRIED += [(True, size, layout) for size in BF16_TILES for layout in (LAYOUTS if size == "simulated" else LAYOUTS[1:3])]


@pytest.mark.parametrize("bf16, size, layout", TRIED, ids=lambda value: NAMES.get(value, value))
def test_values_on_ragged_sizes(bf16, size, layout):
    tile = (BF16_TILES if bf16 else FLOAT_TILES)[size]
    for seed, (M, N, K) in enumerate(SIZES):
        a, b = inputs(M, N, K, layout, bf16, seed)
        c = empty((M, N))
        kernel, grid, block, args, shared_mem = launch(tile, layout, a, b, c, M, N, K, bf16)
        kernel(grid, block, args, shared_mem)
        assert_close(c, product64(a, b, layout), tolerance(c), f"{M} x {N} x {K}")


@every_layout
@every_type
def test_clean_coalesced_and_without_bank_conflicts(bf16, layout):
    tile = product_tiles.SIMULATED_BF16 if bf16 else product_tiles.SIMULATED_NARROW
    M, N, K = 128, 128, 128
    a, b = inputs(M, N, K, layout, bf16)
    c = empty((M, N))
    report = assert_clean(*launch(tile, layout, a, b, c, M, N, K, bf16))
    assert_close(c, product64(a, b, layout), 2e-6)
    assert_coalesced(report)
    assert_conflict_free(report)
    assert {x.sectors_per_request for x in report.lines if x.space == "global"} == {16}
    assert report.bytes_moved == a.itemsize * (M * K * N // 64 + K * N * M // 64) + 4 * M * N


@every_layout
@every_type
def test_clean_on_ragged_sizes_at_any_offset(bf16, layout):
    """Rows that begin between two multiples of 16 bytes: nothing misaligned, nothing outside, nothing left out."""
    tile = product_tiles.SIMULATED_BF16 if bf16 else product_tiles.SIMULATED_NARROW
    for M, N, K, offset in ((33, 70, 37, 0), (64, 64, 64, 1), (20, 68, 24, 2), (65, 66, 35, 3)):
        a, b = (
            flat[offset:].reshape(-1)
            for flat in (numbers(M * K + offset, bf16=bf16), numbers(K * N + offset, bf16=bf16))
        )
        a, b = a.reshape((K, M) if layout[0] else (M, K)), b.reshape((N, K) if layout[1] else (K, N))
        c = empty(M * N + offset)[offset:].reshape(M, N)
        assert_clean(*launch(tile, layout, a, b, c, M, N, K, bf16))
        assert_close(c, product64(a, b, layout), 2e-6)


@every_type
def test_bits_depend_neither_on_the_tile_nor_on_the_order(bf16):
    M, N, K = 97, 83, 150
    a, b = inputs(M, N, K, (False, True), bf16)
    bits = set()
    for tile in (BF16_TILES if bf16 else FLOAT_TILES).values():

        def run(order, tile=tile):
            c = empty((M, N))
            kernel, grid, block, args, shared_mem = launch(tile, (False, True), a, b, c, M, N, K, bf16)
            kernel(grid, block, args, shared_mem, seed=order)
            return [c]

        assert_same_bits(run)
        bits.add(run(0)[0].tobytes())
    assert len(bits) == 1


# What products.py makes of it


@every_layout
@every_type
def test_leading_axes_broadcast(bf16, layout):
    for before_a, before_b in (
        ((), (3,)),
        ((2, 3), ()),
        ((2, 1), (3,)),
        ((4, 1, 2), (1, 3, 1)),
        ((2, 1, 2), (2, 2, 1)),
        ((0,), ()),
    ):
        a = numbers(*before_a, *((9, 5) if layout[0] else (5, 9)), bf16=bf16)
        b = numbers(*before_b, *((7, 9) if layout[1] else (9, 7)), bf16=bf16, seed=1)
        c = products.matmul(a, b, *layout)
        assert c.dtype == a.dtype
        assert_close(c.astype(np.float32), product64(a, b, layout), tolerance(c))


@every_type
def test_a_long_sum_is_split_and_added_in_order(bf16):
    """The gradient of a small weight: few tiles, many rows."""
    dy, x = numbers(1000, 40, bf16=bf16), numbers(1000, 24, bf16=bf16, seed=1)

    def run(order=0):
        with launching.counting() as counted:
            c = products.matmul(dy, x, transpose_a=True, out=empty((40, 24)))
        assert counted == {f"gemm{'_bf16' * bf16}.cu gemm{'_bf16' * bf16}": 1, "gemm_split_sum.cu gemm_split_sum": 1}
        return [c]

    assert_close(run()[0], product64(dy.T, x), 2e-6)
    assert_same_bits(run)


def test_more_products_than_blocks_along_z(monkeypatch):
    monkeypatch.setattr(products, "MOST_IN_Z", 4)
    a, b = normal(11, 3, 5), normal(11, 5, 2, seed=1)
    with launching.counting() as counted:
        c = products.matmul(a, b)
    assert counted["gemm.cu gemm"] == 3
    assert_close(c, product64(a, b), 2e-6)
    assert_close(products.matmul(a, b[0], transpose_a=False), product64(a, b[0]), 2e-6)


@given(
    K=st.integers(1, 100_000), M=st.integers(1, 5000), N=st.integers(1, 5000), host=st.booleans(), bf16=st.booleans()
)
def test_a_split_leaves_no_term_out_and_no_block_idle(K, M, N, host, bf16):
    tile, split = product_tiles.gemm_tile(host, bf16, M, N, K, split=True)
    splits = launching.blocks(K, split)
    assert split % tile.BK == 0 and (splits - 1) * split < K <= splits * split
    assert splits == 1 or split >= product_tiles.LEAST_SPLIT // 2
    assert product_tiles.gemm_tile(host, bf16, M, N, K)[1] >= K, "what may not be split is not"


@pytest.mark.parametrize(
    ("shape", "split", "tile", "splits"),
    [
        ((12288, 1152, 384), False, product_tiles.LARGE_BF16, 1),
        ((12288, 384, 1536), False, product_tiles.MIDDLE_BF16, 1),  # LARGE would fill one wave and a tenth of the next
        ((1024, 384, 384), False, product_tiles.SMALL_BF16, 1),
        ((1152, 384, 12288), True, product_tiles.LARGE_BF16, 9),  # the gradient of a weight: one whole wave
        ((1536, 384, 2048), True, product_tiles.SMALL_BF16, 1),  # too short to be worth a launch more
    ],
)
def test_a_card_is_filled(shape, split, tile, splits):
    found, terms = product_tiles.gemm_tile(False, True, *shape, split=split)
    assert (found, launching.blocks(shape[2], terms)) == (tile, splits)


def test_one_matrix_serves_many_in_one_launch():
    a, b = normal(3, 4, 5), normal(6, 4, seed=1)
    with launching.counting() as counted:
        c = products.matmul(a, b, True, True)
    assert counted == {"gemm.cu gemm": 1}
    assert_close(c, product64(a, b, (True, True)), 2e-6)


def test_types_that_do_not_fit_are_named():
    table, x, weight, bias = ops("simulator"), normal(2, 3), normal(4, 3), normal(4)
    half, half_weight, half_bias = (asarray(array.astype(BF16)) for array in (x, weight, bias))
    dy, bits = normal(2, 4), asarray(half.view(np.uint16))
    for call in (
        lambda: table.matmul(x.astype(np.float64), x.astype(np.float64), transpose_b=True),
        lambda: table.linear_forward(x, weight.astype(np.float64), None),
        lambda: products.linear_row_scale(x, weight.astype(np.float64), normal(2)),
        lambda: products.linear_residual(x, weight, bias.astype(np.float64), dy),
    ):
        with pytest.raises(ValueError, match=r"computes in float32 .* float64"):
            call()
    for call in (
        lambda: table.linear_forward(half, weight, None),
        lambda: table.linear_forward(x, half_weight, None),
        lambda: table.linear_forward(half, half_weight, half_bias),  # a bias is added to the sum, which is float32
        lambda: table.linear_gelu_forward(half, half_weight, half_bias),
        lambda: table.linear_backward(dy, half, half_weight, True),
        lambda: table.linear_backward_input(asarray(dy.astype(BF16)), half, weight),
        lambda: products.linear_residual(half, half_weight, bias, dy),
        lambda: products.linear_row_scale(half, half_weight, asarray(normal(2).astype(BF16))),
    ):
        with pytest.raises(ValueError, match="bfloat16"):
            call()
    with pytest.raises(ValueError, match="bfloat16, uint16"):
        table.matmul(half, bits, transpose_b=True)
    with pytest.raises(ValueError, match=r"float16"):
        table.matmul(half.astype(np.float16), half.astype(np.float16), transpose_b=True)
    with pytest.raises(ValueError, match=r"float32.*out= is int32"):
        table.matmul(x, weight, transpose_b=True, out=empty((2, 4), np.int32))
    close(table.linear_forward(half, half_weight, bias), product64(half, half_weight, (False, True)) + bias)


# Linear layers and their epilogues, against the ops that they fuse

LINEAR = [
    ((), 5, 3), ((1,), 1, 1), ((7,), 37, 1), ((3, 5), 37, 29), ((2, 33), 130, 65), ((131,), 3, 257), ((70,), 64, 72),
    ((0,), 5, 7),
]  # fmt: skip
every_linear = pytest.mark.parametrize("n, K, N", LINEAR)


def linear_inputs(n, K, N, bf16):
    return numbers(*n, K, bf16=bf16), numbers(N, K, bf16=bf16, seed=1), normal(N, seed=2)


def close(got, want):
    assert_close(got.astype(np.float32), want, tolerance(got))


@every_linear
@every_type
def test_linear_and_its_gradients(bf16, n, K, N):
    x, weight, bias = linear_inputs(n, K, N, bf16)
    reference = ops("reference")
    exact = [array.astype(np.float64) for array in (x, weight, bias)]
    close(products.linear_forward(x, weight, bias), reference.linear_forward(*exact))
    close(products.linear_forward(x, weight, None), reference.linear_forward(*exact[:2], None))
    dy = numbers(*n, N, bf16=bf16, seed=3)
    got = products.linear_backward(dy, x, weight, True)
    assert got[0].dtype == x.dtype and got[1].dtype == got[2].dtype == np.float32
    for gradient, want in zip(got, reference.linear_backward(dy.astype(np.float64), *exact[:2], True), strict=True):
        close(gradient, want)


@every_linear
@every_type
def test_gelu_epilogue(bf16, n, K, N):
    x, weight, bias = linear_inputs(n, K, N, bf16)
    for given_bias in (bias, None):
        y, pre = products.linear_gelu(x, weight, given_bias)
        want = product64(x, weight, (False, True)) + (bias if given_bias is not None else 0.0)
        close(pre, want)
        close(y, ops("reference").gelu_forward(want))
        if not bf16:  # the unfused ops compute the very same
            apart = products.linear_forward(x, weight, given_bias)
            np.testing.assert_array_equal(pre, apart)
            assert_close(y, ops("simulator").gelu_forward(apart).astype(np.float64), 1e-6)


@every_linear
@every_type
def test_residual_epilogue(bf16, n, K, N):
    x, weight, bias = linear_inputs(n, K, N, bf16)
    residual = numbers(*n, N, bf16=bf16, seed=4)
    for given_bias in (bias, None):
        want = (
            product64(x, weight, (False, True))
            + (bias if given_bias is not None else 0.0)
            + residual.astype(np.float64)
        )
        close(products.linear_residual(x, weight, given_bias, residual), want)


@every_linear
@every_type
def test_the_row_factor_of_rmsnorm_waits_until_after_the_product(bf16, n, K, N):
    x, weight, _ = linear_inputs(n, K, N, bf16)
    gain = normal(K, seed=5)
    normalised, rstd = ops("reference").rmsnorm_forward(x.astype(np.float64), gain.astype(np.float64), 1e-5)
    folded = asarray((weight.astype(np.float32) * gain).astype(x.dtype))
    got = products.linear_row_scale(x, folded, asarray(rstd.astype(np.float32)))
    want = normalised @ weight.astype(np.float64).T
    assert_close(got.astype(np.float32), want, 2.0**-7 if bf16 else 2e-6)  # the gain is rounded into a bfloat16 weight


@every_linear
@every_type
def test_logsumexp_epilogue(bf16, n, K, N):
    x, weight, bias = linear_inputs(n, K, N, bf16)
    for given_bias, size in ((bias, 1.0), (None, 1.0), (bias, 1e4)):  # far beyond what exp alone can hold
        big = asarray((x.astype(np.float32) * np.float32(size)).astype(x.dtype))
        logits, logsumexp = products.linear_logsumexp(big, weight, given_bias)
        want = product64(big, weight, (False, True)) + (bias if given_bias is not None else 0.0)
        close(logits, want)
        top = want.max(-1, initial=-np.inf)
        assert logsumexp.dtype == np.float32
        assert_close(logsumexp, top + np.log(np.exp(want - top[..., None]).sum(-1)), 4e-6)


@every_type
def test_epilogues_are_clean_on_ragged_sizes(bf16):
    """Rows that end within a group of four, a bias and a residual that end with them."""
    M, N, K = 35, 70, 20
    tile = product_tiles.SIMULATED_BF16 if bf16 else product_tiles.SIMULATED_NARROW
    x, weight, bias = linear_inputs((M,), K, N, bf16)
    residual, scale = normal(M, N, seed=4), normal(M, seed=5)
    parts = launching.blocks(N, tile.BN) * (tile.BN // tile.warp_columns)
    out = lambda *shape: empty(shape)  # noqa: E731
    template = f"<{', '.join(['float'] * bf16 + list(map(str, tile)))}>"
    grid = (launching.blocks(N, tile.BN), launching.blocks(M, tile.BM))
    for name, others in (
        ("bias", (bias, out(M, N))),
        ("gelu", (bias, out(M, N), out(M, N))),
        ("residual", (bias, residual, out(M, N))),
        ("row_scale", (scale, out(M, N))),
        ("logsumexp", (bias, out(M, N), out(M, parts), out(M, parts))),
    ):
        file = "gemm_bf16" if bf16 else "gemm"
        kernel = Kernel(f"{file}.cu", f"{file}_{name}{template}")
        report = assert_clean(kernel, grid, (tile.threads,), (x, weight, *others, M, N, K), tile.shared_mem)
        if not bf16:  # where elements pass one by one, two of them share a word
            assert_conflict_free(report)
        assert not np.isnan(np.concatenate([array.reshape(-1) for array in others])).any(), f"{name} left a hole"


# What NVIDIA's compiler says


def instances():
    for file, tiles in (("gemm", FLOAT_TILES), ("gemm_bf16", BF16_TILES)):
        out = ["__nv_bfloat16"] if file == "gemm_bf16" else []
        for size in ("large", "small"):
            numbers_ = list(map(str, tiles[size]))
            for layout in LAYOUTS:
                yield file, f"{file}<{', '.join([*out, *(str(x).lower() for x in layout), *numbers_])}>"
            for name in ("bias", "gelu", "residual", "row_scale", "logsumexp"):
                yield file, f"{file}_{name}<{', '.join(out + numbers_)}>"


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("file, name", list(instances()), ids=lambda x: x)
def test_nvidia_compiles_every_instance(file, name):
    text = source.find(f"{file}.cu")
    cubin, _ = nvrtc.compile_text(text, (name,), nvrtc.architectures(text)[0])
    assert cubin[:4] == b"\x7fELF"
