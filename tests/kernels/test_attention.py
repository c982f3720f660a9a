"""kernels/attention_naive.cu and kernels/flash_attention_*.cu against the reference in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cuda import Kernel, nvrtc, source
from course_lib.devices import ops
from course_lib.devices.gpu import attention_tiles
from course_lib.devices.gpu.launching import blocks
from tests.kernels.attention_cases import NAMES, SIZES, WHAT, any_sizes, computed, draw, expected
from tests.kernels.checking import (
    assert_clean,
    assert_close,
    assert_conflict_free,
    assert_op_repeats,
    assert_same_bits,
    new,
    reports_of,
)
from tests.nvrtc_here import needs_nvrtc

SIMULATOR = ops("simulator")


def compare(q, k, v, dy, causal, tolerance=1e-5):
    got, wanted = computed(q, k, v, dy, causal), expected(q, k, v, dy, causal)
    for what, one, other in zip(WHAT, got, wanted, strict=True):
        assert_close(one.astype(np.float32), other, tolerance, what)


def naive_launches(q, k, v, causal):
    """Launches of the three naive kernels, and their results: y, logsumexp."""
    (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
    scores, y, logsumexp = new(B, H, T, S), new(B, T, H, D), new(B, H, T)
    launches = [
        ("attention_scores", scores.size, (q, k, scores, B, T, S, H, G, D, 1 / math.sqrt(D))),
        ("attention_softmax", B * H * T, (scores, logsumexp, B * H * T, T, S, causal)),
        ("attention_values", y.size, (scores, v, y, B, T, S, H, G, D)),
    ]
    return (
        [(Kernel("attention_naive.cu", name), (blocks(n),), (256,), args) for name, n, args in launches],
        y,
        logsumexp,
    )


@pytest.mark.parametrize("sizes", SIZES, ids=NAMES)
def test_naive_attention_agrees_with_float64(sizes):
    *shape, causal = sizes
    q, k, v, dy = draw(*shape)
    launches, y, logsumexp = naive_launches(q, k, v, causal)
    for kernel, grid, block, args in launches:
        kernel(grid, block, args)
    wanted = expected(q, k, v, dy, causal)
    assert_close(y, wanted[0], what="y")
    assert_close(logsumexp, wanted[1], what="logsumexp")


def test_naive_attention_is_clean_and_repeats_itself():
    q, k, v, _ = draw(2, 9, 13, 4, 2, 20)

    def run(seed):
        launches, y, logsumexp = naive_launches(q, k, v, True)
        for kernel, grid, block, args in launches:
            kernel(grid, block, args, seed=seed)
        return y, logsumexp

    assert_same_bits(run)
    for launch in naive_launches(q, k, v, True)[0]:
        assert_clean(*launch)


@pytest.mark.parametrize("sizes", SIZES, ids=NAMES)
def test_flash_attention_agrees_with_float64(sizes):
    *shape, causal = sizes
    for seed in (0, 10):
        compare(*draw(*shape, seed=seed), causal)


@given(sizes=any_sizes(128), causal=st.booleans())
def test_flash_attention_takes_any_lengths_and_heads(sizes, causal):
    B, T, past, R, G, D = sizes
    compare(*draw(B, T, T + past, R * G, G, D), causal)


def test_scores_that_would_overflow_do_not():
    compare(*draw(1, 70, 70, 2, 1, 64, deviation=60.0), True, tolerance=2e-4)


def test_a_row_whose_largest_score_comes_last_is_rescaled():
    """Keys that grow: every tile brings a larger score than all before it."""
    q, k, v, dy = draw(1, 3, 200, 1, 1, 32)
    q[...], k[...] = 1.0, (np.arange(200, dtype=np.float32) / 20)[:, None, None]
    wanted = expected(q, k, v, dy, False)
    for one, other in zip(SIMULATOR.attention_forward(q, k, v, False), wanted[:2], strict=True):
        assert_close(one, other)


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 37, 50, 4, 2, 32, True),
        (1, 40, 40, 2, 1, 64, True),
        (1, 33, 20, 1, 1, 128, False),
        (1, 18, 18, 2, 2, 10, True),
    ],
)
def test_flash_attention_is_clean(sizes):
    *shape, causal = sizes
    assert len(reports_of(lambda: computed(*draw(*shape), causal))) == 4  # forward, delta, dq, dk and dv


@pytest.mark.parametrize("sizes", [(1, 70, 70, 4, 2, 32, True), (1, 40, 90, 2, 2, 64, False)])
def test_flash_attention_repeats_itself(sizes):
    *shape, causal = sizes
    arrays = draw(*shape)
    assert_op_repeats(lambda: computed(*arrays, causal))


@pytest.mark.parametrize("D", [32, 64])
def test_flash_attention_waits_for_no_bank_and_wastes_no_sector(D):
    forward, *_ = reports_of(lambda: computed(*draw(1, 64, 64, 1, 1, D), True))
    assert_conflict_free(forward)
    for line in forward.lines:
        if line.space == "global" and line.bytes_requested > 2048:  # all but logsumexp, one number per row
            assert line.sectors_per_request <= 4, str(forward)


def passing_rows(T: int, tile_own: int, tile_passing: int, causal: bool, keys_pass: bool) -> int:
    """Rows of the other side (as many as T) that pass by, over all tiles of T rows; whole tiles are counted."""
    rows = 0
    for first in range(0, T, tile_own):
        if not causal:
            rows += T
        elif keys_pass:
            rows += blocks(first + tile_own, tile_passing) * tile_passing
        else:
            rows += T - first // tile_passing * tile_passing
    return rows


@pytest.mark.parametrize("causal", [True, False])
def test_flash_attention_reads_what_its_header_says(causal):
    """q and y once, k and v once per tile of queries that sees them; the matrix of scores never."""
    T, D = 256, 32
    forward, _, backward_q, backward_kv = reports_of(lambda: computed(*draw(1, T, T, 1, 1, D), causal))
    tile, _, _ = attention_tiles.flash(False, D)
    keys = passing_rows(T, tile.rows, tile.columns, causal, True)
    assert forward.bytes_moved <= 1.02 * 4 * (2 * T * D + 2 * keys * D + T)
    assert forward.bytes_moved >= 4 * (2 * T * D + 2 * keys * D)
    assert forward.bytes_moved < 20 * T * T / 2, "half of what the naive kernels move for their scores"

    _, tile, _ = attention_tiles.flash(False, D)
    keys = passing_rows(T, tile.columns, tile.rows, causal, True)
    assert backward_q.bytes_moved <= 1.05 * 4 * D * (3 * T + 2 * keys) + 128 * T  # 16 groups read logsumexp and delta
    queries = passing_rows(T, tile.columns, tile.rows, causal, False)
    assert backward_kv.bytes_moved <= 1.05 * 4 * D * (4 * T + 2 * queries) + 32 * T


def test_tiles_that_the_mask_hides_are_skipped():
    """With n tiles of queries a mask leaves (n + 1) / 2n of the work: of 8 tiles, 9/16."""
    moved = {}
    for causal in (True, False):
        reports = reports_of(lambda causal=causal: computed(*draw(1, 256, 256, 1, 1, 64), causal))
        moved[causal] = [
            sum(line.requests for line in report.lines if line.space == "shared" and line.op == "read")
            for report in reports
        ]
    ratios = [masked / whole for masked, whole in zip(moved[True], moved[False], strict=True) if whole]
    forward, backward_q, backward_kv = ratios  # delta has no shared memory
    assert 0.5 < forward < 0.66
    assert 0.5 < backward_q < 0.6
    assert 0.5 < backward_kv < 0.6


def test_what_the_kernels_do_not_take_is_refused_in_a_sentence():
    q, k, v, _ = draw(1, 3, 3, 2, 2, 129)
    with pytest.raises(ValueError, match="at most 128"):
        SIMULATOR.attention_forward(q, k, v)
    q, k, v = (np.zeros((1, 3, 2, 8)) for _ in range(3))
    with pytest.raises(ValueError, match="float64"):
        SIMULATOR.attention_forward(q, k, v)
    q, k, v, _ = draw(1, 3, 0, 2, 2, 8)
    with pytest.raises(ValueError, match="no key"):
        SIMULATOR.attention_forward(q, k, v, causal=False)


def test_no_queries_leave_no_gradient():
    q, k, v, dy = draw(2, 0, 5, 2, 2, 8)
    y, logsumexp, dq, dk, dv = computed(q, k, v, dy, True)
    assert y.shape == dq.shape == (2, 0, 2, 8) and logsumexp.shape == (2, 2, 0)
    assert (dk == 0).all() and (dv == 0).all()


@pytest.mark.peers
@pytest.mark.parametrize("sizes", SIZES, ids=NAMES)
def test_flash_attention_agrees_with_pytorch(sizes):
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    B, T, S, H, G, D, causal = sizes
    arrays = draw(B, T, S, H, G, D)
    q, k, v, dy = (torch.tensor(array.transpose(0, 2, 1, 3).copy(), requires_grad=True) for array in arrays)
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal else None
    y = scaled_dot_product_attention(
        q, k.repeat_interleave(H // G, 1), v.repeat_interleave(H // G, 1), attn_mask=mask
    )  # (B, H, T, D)
    y.backward(dy)
    got = computed(*arrays, causal)
    for what, one, other in zip(
        ("y", "dq", "dk", "dv"), (got[0], *got[2:]), (y.detach(), q.grad, k.grad, v.grad), strict=True
    ):
        wanted = other.numpy().transpose(0, 2, 1, 3).astype(np.float64)
        assert_close(one, wanted, 2e-5, what)


def instances():
    """(file, kernel, architecture) of all that the launch code may choose."""
    for D in (32, 64, 128):
        for bfloat16 in (False, True):
            forward, of_q, of_kv = attention_tiles.flash(bfloat16, D)
            stem, architecture = ("flash_attention_bf16", "sm_80") if bfloat16 else ("flash_attention", "sm_75")
            yield f"{stem}_forward.cu", f"{stem}_forward<{forward.template}>", architecture
            yield f"{stem}_backward.cu", f"{stem}_backward_q<{of_q.template}>", architecture
            yield f"{stem}_backward.cu", f"{stem}_backward_kv<{of_kv.template}>", architecture
            element = "__nv_bfloat16" if bfloat16 else "float"
            yield "flash_attention_backward.cu", f"flash_attention_delta<{element}>", "sm_75"
            yield "decode.cu", f"decode_attention<{element}, {D}>", "sm_75"


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize(("file", "name", "architecture"), sorted(set(instances())))
def test_nvidia_compiles_every_instance(file, name, architecture):
    cubin, _ = nvrtc.compile_text(source.find(source.KERNELS / file), (name,), architecture)
    assert cubin[:4] == b"\x7fELF"


@pytest.mark.parametrize("D", [1, 32, 33, 64, 65, 128])
def test_tiles_fit_the_shared_memory_of_their_cards(D):
    """64 KB from sm_75 on, for float32; 99 KB from sm_80 on, for bfloat16."""
    for bfloat16, most in ((False, 64 << 10), (True, 99 << 10)):
        forward, of_q, of_kv = attention_tiles.flash(bfloat16, D)
        assert max(forward.forward_bytes, of_q.backward_q_bytes, of_kv.backward_kv_bytes) <= most
