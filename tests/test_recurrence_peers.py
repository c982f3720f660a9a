"""The linear recurrences against other people's, with PyTorch's own gradients: written down in PyTorch as the papers have them,
and the naive forms of flash-linear-attention.

Importing the package `fla` needs Triton, but its files `naive.py` need only torch and einops, so they are loaded by their paths.
They compute in float32 whatever is given; for float64 the names by which they say so are bound to float64.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from course_lib.devices import ops
from course_lib.devices.agreement import NAMES, inputs
from tests.test_recurrences import TOLERANCE

pytestmark = pytest.mark.peers


def recurrence(torch, name, q, k, v, g, *rates_and_state):
    """y and the last state, step by step: as the papers write it, with matrices."""
    *rates, S = rates_and_state
    ys = []
    for t in range(q.shape[2]):
        a = torch.exp(g[:, :, t])
        S = S * (a[..., None, None] if name == "state_space" else a[..., :, None])
        outer = k[:, :, t, :, None] * v[:, :, t, None, :]
        read = S
        if name == "gated_linear_attention":
            read = S = S + outer
        elif name == "gated_delta":
            beta = rates[0][:, :, t, None, None]
            eye = torch.eye(q.shape[-1], dtype=q.dtype)
            read = S = (eye - beta * k[:, :, t, :, None] * k[:, :, t, None, :]) @ S + beta * outer
        else:
            read = S + rates[0][:, :, t, None, None] * outer
            S = S + rates[1][:, :, t, None, None] * outer
        ys.append((q[:, :, t, None, :] @ read)[:, :, 0])
    return torch.stack(ys, 2), S


def assert_agree(torch, form, name, device, given, rtol, atol, one_decay=False):
    """Values of y and the last state, and the gradients of all that is given, within rtol and within atol of the largest.
    one_decay: the channels of a head share theirs, and only the sum of their gradients is told."""
    table = ops(device)
    tensors = [None if x is None else torch.tensor(x, requires_grad=True) for x in given]
    y, last = form(*tensors)
    random = np.random.default_rng(1)
    dy, dlast = (random.normal(size=tuple(x.shape)).astype(given[0].dtype) for x in (y, last))
    (y * torch.tensor(dy)).sum().add((last * torch.tensor(dlast)).sum()).backward()
    own_y, own_last, kept = getattr(table, f"{name}_forward")(*given)
    gradients = getattr(table, f"{name}_backward")(dy, dlast, *given, kept)
    wanted = [y.detach(), last.detach(), *(None if x is None else x.grad for x in tensors)]
    for number, (got, want) in enumerate(zip((own_y, own_last, *gradients), wanted, strict=True)):
        if want is None:
            assert got is None
            continue
        if one_decay and number == 5:  # after y, last, dq, dk and dv
            got, want = got.sum(-1), want.sum(-1)
        largest = np.abs(want.numpy()).max()
        np.testing.assert_allclose(got, want.numpy(), rtol=rtol, atol=atol * largest, err_msg=f"result {number}")


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients_are_pytorchs(name, device):
    torch = pytest.importorskip("torch")
    given = inputs(name, B=2, T=37, D=16, E=12)
    assert_agree(torch, lambda *tensors: recurrence(torch, name, *tensors), name, device, given, 1e-9, 1e-10)


# flash-linear-attention


class Wide:
    """torch, as a module sees it whose words for float32 shall mean float64."""

    def __init__(self, torch):
        self.torch, self.float, self.float32 = torch, torch.float64, torch.float64

    def __getattr__(self, name):
        return getattr(self.torch, name)


def naive(torch, op, dtype, monkeypatch):
    """The module fla/ops/OP/naive.py."""
    (folder,) = importlib.util.find_spec("fla").submodule_search_locations  # finds the package, and does not import it
    spec = importlib.util.spec_from_file_location(f"fla_{op}", Path(folder) / "ops" / op / "naive.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    if dtype == "float64":
        module.torch = Wide(torch)
        monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    return module


def steps_first(*arrays):
    """(B, H, T, ...) -> (B, T, H, ...), and back."""
    return [x.transpose(1, 2) for x in arrays]


def gla(module, chunk, q, k, v, g, state):
    y, last = module.naive_recurrent_gla(
        *steps_first(q * q.shape[-1] ** 0.5, k, v, g), state, True
    )  # its scale is fixed
    return y.transpose(1, 2), last


def kda(module, chunk, q, k, v, g, beta, state):
    form, more = (module.naive_chunk_kda, {"chunk_size": chunk}) if chunk else (module.naive_recurrent_kda, {})
    y, last = form(*steps_first(q, k, v, g, beta), 1.0, state, True, **more)
    return y.transpose(1, 2), last


def gated_delta_rule(module, chunk, q, k, v, g, beta, state):
    """Its decay is one for a head: that of channel 0 here, where all are given the same."""
    q, k, v, g, beta = steps_first(q, k, v, g[..., 0], beta)
    more = {"scale": 1.0, "initial_state": state, "output_final_state": True}
    if chunk:
        y, last = module.naive_chunk_gated_delta_rule(q, k, v, g, beta, chunk_size=chunk, **more)
    else:
        y, last = module.naive_recurrent_gated_delta_rule(q, k, v, beta, g, **more)
    return y.transpose(1, 2), last


def simple_gla(module, chunk, q, k, v, g, gamma, weight, state):
    """A weight is a factor of the key; that a step reads itself with another one is added, as Mamba-2 has none."""
    form, more = (
        (module.naive_chunk_simple_gla, {"chunk_size": chunk}) if chunk else (module.naive_recurrent_simple_gla, {})
    )
    given = steps_first(q, k * weight[..., None], v, g)
    y, last = form(*given, scale=1.0, initial_state=state, output_final_state=True, **more)
    now = (gamma - weight) * (q * k).sum(-1)  # (B, H, T)
    return y.transpose(1, 2) + now[..., None] * v, last


THEIRS = [
    # our op, their folder, our call of it, steps of a chunk (0: recurrent), T
    ("gated_linear_attention", "gla", gla, 0, 37),
    ("gated_linear_attention", "gla", gla, 0, 1),
    ("gated_delta", "kda", kda, 0, 37),
    ("gated_delta", "kda", kda, 0, 1),
    ("gated_delta", "kda", kda, 16, 64),
    ("gated_delta", "kda", kda, 37, 37),  # its chunks must divide T
    ("gated_delta", "gated_delta_rule", gated_delta_rule, 0, 37),
    ("gated_delta", "gated_delta_rule", gated_delta_rule, 16, 37),
    ("state_space", "simple_gla", simple_gla, 0, 37),
    ("state_space", "simple_gla", simple_gla, 16, 37),
]


@pytest.mark.parametrize("carried", [True, False], ids=["carried", "from zeros"])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize(
    ("name", "folder", "call", "chunk", "T"), THEIRS, ids=[f"{folder}-{chunk}-{T}" for _, folder, _, chunk, T in THEIRS]
)
def test_values_and_gradients_are_those_of_flash_linear_attention(
    name, folder, call, chunk, T, device, dtype, carried, monkeypatch
):
    torch = pytest.importorskip("torch")
    given = inputs(name, B=2, T=T, D=16, E=12, dtype=dtype, carried=carried)
    if chunk:  # e^(G_t - G_s) is computed there for s after t too, and overflows where decays are strong
        given[3] = given[3] / 8
    if folder == "gated_delta_rule":
        given[3] = np.broadcast_to(given[3][..., :1], given[3].shape).copy()
    module = naive(torch, folder, dtype, monkeypatch)
    form = partial(call, module, chunk)
    assert_agree(torch, form, name, device, given, 0, TOLERANCE[dtype], folder == "gated_delta_rule")
