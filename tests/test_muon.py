"""Muon: its polar factor against the singular value decomposition, its step against float64 NumPy, on every device."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import devices, nn, optim

REFERENCE = devices.ops("reference")


def exact(matrix, steps, coefficients=optim.POLAR_STEPS):
    """The polynomials on the singular values themselves: (N, K) -> (N, K), in float64."""
    u, s, v = np.linalg.svd(matrix.astype(np.float64), full_matrices=False)
    s = s / (np.sqrt((s * s).sum()) or 1.0)
    for a, b, c in coefficients[:steps]:
        s = a * s + b * s**3 + c * s**5
    return (u * s) @ v


def polar(ops, matrix, steps, scale=1.0):
    identity = np.eye(min(matrix.shape), dtype=matrix.dtype)
    return ops.to_numpy(optim.polar_factor(ops, ops.from_numpy(matrix), ops.from_numpy(identity), steps, scale))


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), st.integers(0, 99))
def test_the_polar_steps_are_the_polynomial_of_the_singular_values(rows, columns, steps, seed):
    matrix = np.random.default_rng(seed).normal(size=(rows, columns))
    np.testing.assert_allclose(polar(REFERENCE, matrix, steps, 0.5), 0.5 * exact(matrix, steps), atol=1e-6)


def test_five_steps_bring_singular_values_of_a_thousandth_to_one():
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(40, 40)))[0] for _ in range(2))
    s = np.geomspace(3e-3, 1, 40)
    assert s.min() > 1e-3 * np.linalg.norm(s)
    after = np.linalg.svd(polar(REFERENCE, (u * s) @ v, 5))[1]
    assert 0.8 < after.min() and after.max() < 1.2
    assert np.allclose(polar(REFERENCE, np.zeros((3, 5)), 5), 0.0), "a matrix of zeros has no direction"


@pytest.mark.parametrize("device", devices.available_devices())
def test_a_step_is_that_of_float64_on_every_device(device):
    """Three steps of a linear layer wider, and of one taller, than square, with a bias that is left to AdamW."""
    for sizes in ((13, 37), (37, 13)):
        rng = np.random.default_rng(1)
        layer = nn.Linear(*sizes, rng=rng, device=device)
        weight, bias = layer.weight.numpy().astype(np.float64), layer.bias.numpy().astype(np.float64)
        muon = optim.Muon(layer.named_parameters(), {"weight"}, rate=3.0, momentum=0.9, weight_decay=0.1)
        total, first, second = 0.0, 0.0, 0.0
        for step in range(1, 4):
            gradient, dbias = rng.normal(size=weight.shape), rng.normal(size=bias.shape)
            for p, values in ((layer.weight, gradient), (layer.bias, dbias)):
                p.grad = type(p)(values.astype(np.float32), device=device)
            norm = muon.step(0.01)
            total = 0.9 * total + gradient
            length = 0.03 * max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
            weight = weight * (1 - 0.03 * 0.1) - length * exact(gradient + 0.9 * total, 3)
            clipped = dbias * min(1.0, 1.0 / (norm + 1e-6))
            first, second = 0.9 * first + 0.1 * clipped, 0.95 * second + 0.05 * clipped**2
            bias -= 0.01 * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.95**step)) + 1e-8)
            assert norm == pytest.approx(np.sqrt((gradient**2).sum() + (dbias**2).sum()), rel=1e-5)
        np.testing.assert_allclose(layer.weight.numpy(), weight, atol=2e-5)
        np.testing.assert_allclose(layer.bias.numpy(), bias, atol=2e-5)


@pytest.mark.parametrize("device", devices.available_devices())
def test_matrices_below_each_other_step_as_if_they_were_apart(device):
    """Even where one has gradients a thousand times as large, which would leave the others next to nothing."""
    rng = np.random.default_rng(2)
    rows, columns = (7, 12, 7), 9
    gradients = [
        (scale * rng.normal(size=(n, columns))).astype(np.float32) for n, scale in zip(rows, (1, 1000, 1), strict=True)
    ]
    together = nn.Linear(columns, sum(rows), rng=rng, device=device)
    starts = np.split(together.weight.numpy(), np.cumsum(rows)[:-1])

    def steps(layer, gradient, **stacked):
        muon = optim.Muon(layer.named_parameters(), {"weight"}, **stacked)
        for _ in range(2):
            for p, values in ((layer.weight, gradient), (layer.bias, np.zeros(layer.bias.shape, np.float32))):
                p.grad = type(p)(values, device=device)
            muon.step(0.01)
        return layer.weight.numpy()

    apart = []
    for start, gradient in zip(starts, gradients, strict=True):
        layer = nn.Linear(columns, len(start), device=device)
        layer.load_state({"weight": start, "bias": np.zeros(len(start))})
        apart.append(steps(layer, gradient))
    moved = steps(together, np.concatenate(gradients), stacked={"weight": rows})
    np.testing.assert_allclose(moved, np.concatenate(apart), atol=1e-6)
    with pytest.raises(ValueError, match=r"parts of 'weight' have 25 rows, but its shape is \(26, 9\)"):
        optim.Muon(together.named_parameters(), {"weight"}, stacked={"weight": (7, 12, 6)})


def test_only_matrices_have_a_polar_factor():
    layer = nn.Linear(3, 3)
    with pytest.raises(ValueError, match=r"'bias' has shape \(3,\)"):
        optim.Muon(layer.named_parameters(), {"bias"})


@pytest.mark.peers
def test_its_step_is_pytorchs_up_to_bfloat16(monkeypatch):
    """torch.optim.Muon takes five of Jordan's steps, in bfloat16."""
    import torch

    jordan = (3.4445, -4.775, 2.0315)
    monkeypatch.setattr(optim, "POLAR_STEPS", (jordan,) * 5)
    rng = np.random.default_rng(0)
    layer = nn.Linear(24, 60, rng=rng)
    weight = torch.nn.Parameter(torch.tensor(layer.weight.numpy()))
    before = layer.weight.numpy().copy()
    ours = optim.Muon(layer.named_parameters(), {"weight"}, polar_steps=5, weight_decay=0.1)
    theirs = torch.optim.Muon([weight], lr=0.02, weight_decay=0.1, momentum=0.95, ns_coefficients=jordan)
    for _ in range(3):
        gradient = rng.normal(size=(60, 24)).astype(np.float32)
        layer.weight.grad, layer.bias.grad = type(layer.weight)(gradient), type(layer.weight)(np.zeros(60, np.float32))
        weight.grad = torch.tensor(gradient)
        ours.step(0.02)
        theirs.step()
    moved, peer = layer.weight.numpy() - before, weight.detach().numpy() - before
    assert np.linalg.norm(moved - peer) < 0.02 * np.linalg.norm(peer)
