"""The reference device against PyTorch in float64: the same formulas, found by other people."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.devices import ops

pytestmark = pytest.mark.peers
torch = pytest.importorskip("torch")
F = torch.nn.functional

TABLE = ops("reference")
RANDOM = np.random.default_rng(0)


def normal(*shape) -> np.ndarray:
    return RANDOM.normal(size=shape)


def leaf(array: np.ndarray):
    return torch.tensor(array, requires_grad=True)


def agree(got, want) -> None:
    for mine, theirs in zip(got, want, strict=True):
        theirs = theirs.detach().numpy()
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12 * max(1, np.abs(theirs).max()))


def check(y: np.ndarray, theirs, leaves: list, backward) -> None:
    """Outputs agree, and so do the gradients for a random gradient of y."""
    dy = normal(*y.shape)
    agree([y], [theirs])
    agree(backward(dy), torch.autograd.grad(theirs, leaves, torch.tensor(dy)))


def test_linear():
    x, weight, bias = normal(2, 3, 5), normal(4, 5), normal(4)
    leaves = [leaf(a) for a in (x, weight, bias)]
    y = TABLE.linear_forward(x, weight, bias)
    check(y, F.linear(*leaves), leaves, lambda dy: TABLE.linear_backward(dy, x, weight, True))


def test_embedding():
    table, indices = normal(7, 5), RANDOM.integers(0, 7, size=(3, 4))
    leaves = [leaf(table)]
    y = TABLE.embedding_forward(table, indices)
    theirs = F.embedding(torch.tensor(indices), leaves[0])
    check(y, theirs, leaves, lambda dy: [TABLE.embedding_backward(dy, indices, 7)])


def test_layernorm():
    x, weight, bias = 3 + normal(2, 3, 37), normal(37), normal(37)
    leaves = [leaf(a) for a in (x, weight, bias)]
    y, mean, rstd = TABLE.layernorm_forward(x, weight, bias, 1e-5)
    theirs = F.layer_norm(leaves[0], (37,), *leaves[1:], eps=1e-5)
    check(y, theirs, leaves, lambda dy: TABLE.layernorm_backward(dy, x, weight, mean, rstd, True))


def test_rmsnorm():
    x, weight = normal(2, 3, 37), normal(37)
    leaves = [leaf(a) for a in (x, weight)]
    y, rstd = TABLE.rmsnorm_forward(x, weight, 1e-5)
    theirs = F.rms_norm(leaves[0], (37,), leaves[1], eps=1e-5)
    check(y, theirs, leaves, lambda dy: TABLE.rmsnorm_backward(dy, x, weight, rstd))


def test_gelu_in_tanh_form():
    x = 3 * normal(3, 37)
    leaves = [leaf(x)]
    y = TABLE.gelu_forward(x)
    check(y, F.gelu(leaves[0], approximate="tanh"), leaves, lambda dy: [TABLE.gelu_backward(dy, x)])


def test_swiglu():
    x = 3 * normal(3, 10)
    leaves = [leaf(x)]
    gate, up = leaves[0].chunk(2, dim=-1)
    check(TABLE.swiglu_forward(x), F.silu(gate) * up, leaves, lambda dy: [TABLE.swiglu_backward(dy, x)])


def test_softmax():
    x = 3 * normal(2, 5, 7)
    leaves = [leaf(x)]
    y = TABLE.softmax_forward(x)
    check(y, F.softmax(leaves[0], dim=-1), leaves, lambda dy: [TABLE.softmax_backward(dy, y)])


def test_rope_is_a_complex_rotation():
    x, angles = normal(2, 5, 3, 8), 7 * normal(5, 4)
    leaves = [leaf(x)]
    turned = torch.complex(*leaves[0].chunk(2, dim=-1)) * torch.exp(1j * torch.tensor(angles))[:, None, :]
    theirs = torch.cat([turned.real, turned.imag], dim=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    check(TABLE.rope_forward(x, cos, sin), theirs, leaves, lambda dy: [TABLE.rope_backward(dy, cos, sin)])


@pytest.mark.parametrize(("H", "G"), [(2, 2), (6, 2), (4, 1)])
@pytest.mark.parametrize(("T", "S", "causal"), [(13, 13, True), (5, 13, True), (1, 13, True), (13, 7, False)])
def test_attention(T: int, S: int, causal: bool, H: int, G: int):
    q, k, v = normal(2, T, H, 32), normal(2, S, G, 32), normal(2, S, G, 32)
    leaves = [leaf(a) for a in (q, k, v)]
    y, logsumexp = TABLE.attention_forward(q, k, v, causal)
    # their is_causal is aligned at the beginning; ours, and every cache's, at the end
    seen = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal else None
    by_head = [x.transpose(1, 2) for x in leaves]  # (B, T, H, D) -> (B, H, T, D)
    theirs = F.scaled_dot_product_attention(*by_head, attn_mask=seen, enable_gqa=True).transpose(1, 2)
    check(y, theirs, leaves, lambda dy: TABLE.attention_backward(dy, q, k, v, y, logsumexp, causal))


@pytest.mark.parametrize("ignore_index", [-1, -100])
def test_cross_entropy(ignore_index: int):
    logits, targets = 3 * normal(11, 7), RANDOM.integers(0, 7, size=11)
    targets[[2, 5]] = ignore_index
    leaves = [leaf(logits)]
    loss, logsumexp = TABLE.cross_entropy_forward(logits, targets, ignore_index)
    theirs = F.cross_entropy(leaves[0], torch.tensor(targets), ignore_index=ignore_index)
    agree([logsumexp], [torch.logsumexp(leaves[0], dim=-1)])

    def backward(dloss):
        return [TABLE.cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index)]

    check(loss, theirs, leaves, backward)


@pytest.mark.parametrize("max_norm", [None, 1.0, 1e4])
def test_adamw_with_clipping(max_norm: float | None):
    parameters = [normal(3, 5), normal(7)]
    decays = [0.1, 0.0]
    leaves = [leaf(p.copy()) for p in parameters]
    groups = [{"params": [p], "weight_decay": decay} for p, decay in zip(leaves, decays, strict=True)]
    theirs = torch.optim.AdamW(groups, betas=(0.9, 0.95), eps=1e-8)
    moments = [[np.zeros_like(p) for p in parameters] for _ in range(2)]
    for step in range(1, 6):
        learning_rate = 0.01 / step
        gradients = [normal(*p.shape) for p in parameters]
        for p, g in zip(leaves, gradients, strict=True):
            p.grad = torch.tensor(g.copy())
        norm = TABLE.global_norm(gradients)
        if max_norm is not None:
            agree(norm, [torch.nn.utils.clip_grad_norm_(leaves, max_norm)])
        for group in theirs.param_groups:
            group["lr"] = learning_rate
        theirs.step()
        settings = np.array([learning_rate, 1 - 0.9**step, 1 - 0.95**step])
        options = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": decays, "max_norm": max_norm}
        clip = None if max_norm is None else norm
        TABLE.adamw_step(parameters, gradients, *moments, settings, clip, **options)
        agree(parameters, leaves)
