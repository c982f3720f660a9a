"""The linear recurrences against PyTorch: the recurrences written down there, and its own gradients. (flash-linear-attention has
naive forms too, but importing its package needs Triton, which needs a GPU.)"""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.devices import ops
from tests.test_recurrences import NAMES, inputs

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


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients_are_pytorchs(name, device):
    torch = pytest.importorskip("torch")
    given, table = inputs(name, B=2, T=37, D=16, E=12), ops(device)
    tensors = [torch.tensor(x, requires_grad=True) for x in given]
    y, last = recurrence(torch, name, *tensors)
    random = np.random.default_rng(1)
    dy, dlast = (random.normal(size=tuple(x.shape)) for x in (y, last))
    (y * torch.tensor(dy)).sum().add((last * torch.tensor(dlast)).sum()).backward()
    own_y, own_last, kept = getattr(table, f"{name}_forward")(*given)
    gradients = getattr(table, f"{name}_backward")(dy, dlast, *given, kept)
    wanted = [y.detach(), last.detach(), *(x.grad for x in tensors)]
    for got, want in zip((own_y, own_last, *gradients), wanted, strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-9, atol=1e-10 * np.abs(want.numpy()).max())
