"""kernels/adamw.cu against the reference in float64, NumPy's bfloat16 and PyTorch."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from course_lib import devices
from course_lib.cuda import asarray, zeros
from course_lib.devices import ops
from course_lib.devices.gpu import optimiser, precision
from course_lib.devices.gpu.launching import counting
from tests.kernels.checking import (
    RAGGED,
    assert_bytes,
    assert_close,
    assert_coalesced,
    assert_op_repeats,
    normal,
    reports_of,
)

REFERENCE, SIMULATOR = ops("reference"), ops("simulator")
FIXED = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
SHAPES = [(n,) for n in RAGGED] + [(3, 37), (70, 65), (1, 1), (5000,)]


def settings(step: int, dtype=np.float32) -> np.ndarray:
    return np.array([0.01 / step, 1 - 0.9**step, 1 - 0.95**step], dtype)


def train(shapes, max_norm, dtype, table, to, steps=3, norm_of=1.0):
    """Three steps on random gradients: parameters, first and second moments."""
    parameters = [to(normal(*shape, seed=i).astype(dtype)) for i, shape in enumerate(shapes)]
    first, second = ([to(np.zeros(shape, dtype)) for shape in shapes] for _ in range(2))
    decay = [0.1 * (i % 3) for i in range(len(shapes))]
    for step in range(1, steps + 1):
        gradients = [to(norm_of * normal(*shape, seed=100 * step + i).astype(dtype)) for i, shape in enumerate(shapes)]
        total = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in gradients))
        norm = to(np.array([total], dtype)) if max_norm is not None else None
        table.adamw_step(parameters, gradients, first, second, to(settings(step, dtype)), norm,
                         weight_decay=decay, max_norm=max_norm, **FIXED)  # fmt: skip
    return parameters, first, second


@pytest.mark.parametrize("max_norm", [None, 1.0, 1e4], ids=["unclipped", "clipped", "limit-not-reached"])
def test_adamw_agrees_with_float64(max_norm):
    got = train(SHAPES, max_norm, np.float32, SIMULATOR, asarray)
    wanted = train(SHAPES, max_norm, np.float64, REFERENCE, lambda array: array)
    for what, one, other in zip(("parameter", "first", "second"), got, wanted, strict=True):
        for shape, a, b in zip(SHAPES, one, other, strict=True):
            assert_close(a, b, what=f"{what} {shape}")


def test_clipping_changes_what_is_learned():
    """The test above would pass a kernel that never clips only if clipping did nothing here."""
    _, first, _ = train(SHAPES, 1.0, np.float32, SIMULATOR, asarray)
    _, without, _ = train(SHAPES, None, np.float32, SIMULATOR, asarray)
    assert all(np.abs(a).max() < 0.1 * np.abs(b).max() for a, b in zip(first, without, strict=True))


def test_many_small_arrays_take_one_launch_and_more_than_fit_take_two():
    for arrays, launches in ((1, 1), (optimiser.MOST, 1), (optimiser.MOST + 1, 2)):
        shapes = [(1 + i % 7,) for i in range(arrays)]
        with counting() as counted:
            got = train(shapes, None, np.float32, SIMULATOR, asarray, steps=1)
        assert counted["adamw.cu adamw_step"] == launches
        wanted = train(shapes, None, np.float64, REFERENCE, lambda array: array, steps=1)
        for a, b in zip(got[0], wanted[0], strict=True):
            assert_close(a, b)


def test_arrays_without_elements_are_passed_over():
    shapes = [(0,), (5,), (3, 0)]
    got, wanted = (
        train(shapes, 1.0, *how) for how in ((np.float32, SIMULATOR, asarray), (np.float64, REFERENCE, lambda a: a))
    )
    assert_close(got[0][1], wanted[0][1])


def test_settings_and_norm_are_read_from_the_device():
    """The same launch arguments with other numbers in the arrays: what a captured graph relies on."""
    p, g, m, v = (asarray(np.ones(8, np.float32)) for _ in range(4))
    numbers, norm = asarray(settings(1)), asarray(np.array([2.0], np.float32))
    results = []
    for rate, length in ((0.01, 2.0), (0.5, 2.0), (0.5, 200.0)):
        p[...], m[...], v[...], numbers[0], norm[0] = 1, 0, 0, rate, length
        SIMULATOR.adamw_step([p], [g], [m], [v], numbers, norm, weight_decay=[0.1], max_norm=1.0, **FIXED)
        results.append((p[0].item(), m[0].item()))
    assert results[0][0] > results[1][0] and results[1][1] > 50 * results[2][1]


def test_the_bfloat16_copy_is_the_master_rounded_to_nearest():
    """Only a weight whose copy a product has asked for has one, and it stays where it is."""
    shapes = [(37,), (3, 130), (2, 5)]
    masters = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
    plain = [asarray(p.copy()) for p in masters]
    copies = precision.Copies(masters[:2])
    first = copies.of(masters[0])
    gradients = [normal(*shape, seed=7 + i) for i, shape in enumerate(shapes)]
    for parameters, kept in ((masters, copies), (plain, None)):
        moments = [[zeros(shape) for shape in shapes] for _ in range(2)]
        with devices.computing("simulator", "bfloat16", kept):
            SIMULATOR.adamw_step(parameters, gradients, *moments, asarray(settings(1)), None,
                                 weight_decay=[0.1, 0.0, 0.0], max_norm=None, **FIXED)  # fmt: skip
    for a, b in zip(masters, plain, strict=True):
        np.testing.assert_array_equal(a, b, err_msg="the master keeps all its digits")
    assert copies.made(masters[0]) is copies.of(masters[0]) is first
    np.testing.assert_array_equal(first, masters[0].astype(ml_dtypes.bfloat16).view(np.uint16))
    assert copies.made(masters[1]) is None and copies.of(masters[2]) is None
    np.testing.assert_array_equal(copies.of(masters[1]), masters[1].astype(ml_dtypes.bfloat16).view(np.uint16))


def test_adamw_is_clean_repeats_itself_and_moves_what_it_must():
    shapes, n = [(4096,), (1024,), (64, 64)], 4096 + 1024 + 4096
    (report,) = reports_of(lambda: train(shapes, 1.0, np.float32, SIMULATOR, asarray, steps=1))
    assert_coalesced(report)
    a_warp_reads = (
        4 * 32 * n // (32 * optimiser.EACH)
    )  # a sector each of settings (three reads) and norm, from the cache
    assert_bytes(report, 28 * n + a_warp_reads, most=1.05)
    assert_op_repeats(lambda: [x for part in train(shapes, 1.0, np.float32, SIMULATOR, asarray) for x in part])


@pytest.mark.peers
def test_adamw_agrees_with_pytorch():
    import torch

    for max_norm in (None, 1.0):
        got, *_ = train(SHAPES, max_norm, np.float32, SIMULATOR, asarray)
        tensors = [torch.nn.Parameter(torch.tensor(normal(*shape, seed=i).copy())) for i, shape in enumerate(SHAPES)]
        groups = [{"params": [p], "weight_decay": 0.1 * (i % 3)} for i, p in enumerate(tensors)]
        optimizer = torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.95), eps=1e-8)
        for step in range(1, 4):
            for i, p in enumerate(tensors):
                p.grad = torch.tensor(normal(*SHAPES[i], seed=100 * step + i).copy())
                optimizer.param_groups[i]["lr"] = 0.01 / step
            if max_norm is not None:
                torch.nn.utils.clip_grad_norm_(tensors, max_norm)
            optimizer.step()
        for shape, a, b in zip(SHAPES, got, tensors, strict=True):
            assert_close(a, b.detach().numpy().astype(np.float64), 1e-5, str(shape))
