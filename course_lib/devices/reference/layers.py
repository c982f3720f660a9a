"""Linear, embedding and the activations: forward next to backward.

The rule for a linear layer can be read off the shapes: dx must be (*n, K), so it is dy (*n, N) times weight (N, K);
dweight must be (N, K), so it is dy transposed (N, *n) times x (*n, K). What all rows share collects a sum over rows.
"""

from __future__ import annotations

import math

import numpy as np

from .reductions import gather, scatter_add

__all__ = """
    linear_forward linear_backward embedding_forward embedding_backward gelu_forward gelu_backward
    bias_gelu_forward bias_gelu_backward swiglu_forward swiglu_backward
""".split()


def linear_forward(x, weight, bias):
    y = x @ weight.T  # (*n, K) @ (K, N) -> (*n, N)
    return y if bias is None else y + bias


def linear_backward(dy, x, weight, has_bias):
    N, K = weight.shape
    dx = dy @ weight  # (*n, N) @ (N, K) -> (*n, K)
    rows = dy.reshape(-1, N)  # (n, N)
    dweight = rows.T @ x.reshape(-1, K)  # (N, n) @ (n, K) -> (N, K)
    return dx, dweight, rows.sum(axis=0) if has_bias else None


def embedding_forward(table, indices):
    return gather(table, indices)  # (V, C), (*n) -> (*n, C)


def embedding_backward(dy, indices, rows):
    return scatter_add(dy, indices, rows)  # (*n, C), (*n) -> (rows, C)


# GELU (Hendrycks and Gimpel 2016), in the tanh form that GPT-2 uses.


def gelu_forward(x):
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(u))


def gelu_backward(dy, x):
    tanh = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))
    du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)  # du/dx
    return dy * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * du)


def bias_gelu_forward(x, bias):
    return gelu_forward(x + bias)


def bias_gelu_backward(dy, x, bias):
    dx = gelu_backward(dy, x + bias)  # (*n, F)
    return dx, dx.reshape(-1, bias.size).sum(axis=0)


# SwiGLU (Shazeer 2020): silu(gate) * up, where silu(z) = z * sigmoid(z).


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(0.5 * z))  # the form that does not overflow


def swiglu_forward(x):
    gate, up = np.split(x, 2, axis=-1)  # (*n, 2F) -> (*n, F), (*n, F)
    return gate * _sigmoid(gate) * up  # (*n, F)


def swiglu_backward(dy, x):
    gate, up = np.split(x, 2, axis=-1)  # (*n, F), (*n, F)
    s = _sigmoid(gate)
    dgate = dy * up * s * (1 + gate * (1 - s))  # silu'(z) = s + z s (1 - s)
    dup = dy * gate * s
    return np.concatenate([dgate, dup], axis=-1)  # (*n, 2F)
