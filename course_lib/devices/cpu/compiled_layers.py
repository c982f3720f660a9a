"""The fused ops by compiled loops: make the result, hand the addresses over.

An array without elements goes to the NumPy twin.
"""

from __future__ import annotations

import numpy as np

from . import bfloat16, plain_layers, products
from .compiled import WIDE, address, loops, pointers
from .memory import empty

__all__ = """
    gelu_forward gelu_backward bias_gelu_forward bias_gelu_backward swiglu_forward swiglu_backward
    layernorm_forward residual_layernorm_forward rmsnorm_forward layernorm_backward
    residual_layernorm_backward rmsnorm_backward linear_forward linear_backward softmax_forward
    softmax_backward rope_forward rope_backward attention_forward attention_backward cache_attention
    paged_attention_forward paged_attention_int8_forward
    dropout_forward dropout_backward
""".split()


def gelu_forward(x):
    y = empty(x.shape, x.dtype)
    loops.gelu_forward(WIDE[x.dtype], *pointers(x, y), x.size)
    return y


def gelu_backward(dy, x):
    dx = empty(x.shape, x.dtype)
    loops.gelu_backward(WIDE[x.dtype], *pointers(dy, x, dx), x.size)
    return dx


def bias_gelu_forward(x, bias):
    if not x.size:
        return plain_layers.bias_gelu_forward(x, bias)
    y = empty(x.shape, x.dtype)
    F = bias.size
    loops.bias_gelu_forward(WIDE[x.dtype], *pointers(x, bias, y), x.size // F, F)
    return y


def bias_gelu_backward(dy, x, bias):
    if not x.size:
        return plain_layers.bias_gelu_backward(dy, x, bias)
    dx, dbias = empty(x.shape, x.dtype), empty(bias.shape, x.dtype)
    F = bias.size
    loops.bias_gelu_backward(WIDE[x.dtype], *pointers(dy, x, bias, dx, dbias), x.size // F, F)
    return dx, dbias


def swiglu_forward(x):
    if not x.size:
        return plain_layers.swiglu_forward(x)
    F = x.shape[-1] // 2
    y = empty((*x.shape[:-1], F), x.dtype)
    loops.swiglu_forward(WIDE[x.dtype], *pointers(x, y), x.size // (2 * F), F)
    return y


def swiglu_backward(dy, x):
    if not x.size:
        return plain_layers.swiglu_backward(dy, x)
    F = dy.shape[-1]
    dx = empty(x.shape, x.dtype)
    loops.swiglu_backward(WIDE[x.dtype], *pointers(dy, x, dx), x.size // (2 * F), F)
    return dx


def _norm(x, residual, weight, bias, total, mean, eps):
    C = weight.size
    y, rstd = empty(x.shape, x.dtype), empty(x.shape[:-1], x.dtype)
    found = pointers(x, residual, weight, bias, y, total, mean, rstd)
    if x.size:
        loops.norm_forward(WIDE[x.dtype], *found, eps, x.size // C, C)
    return y, rstd


def layernorm_forward(x, weight, bias, eps):
    mean = empty(x.shape[:-1], x.dtype)
    y, rstd = _norm(x, None, weight, bias, None, mean, eps)
    return y, mean, rstd


def residual_layernorm_forward(x, residual, weight, bias, eps):
    mean, total = empty(x.shape[:-1], x.dtype), empty(x.shape, x.dtype)
    y, rstd = _norm(x, residual, weight, bias, total, mean, eps)
    return y, total, mean, rstd


def rmsnorm_forward(x, weight, eps):
    return _norm(x, None, weight, None, None, None, eps)


def _norm_gradient(dy, dtotal, x, weight, mean, rstd):
    """dx (*n, C), and dweight and dbias as rows of (2, C)"""
    C = weight.size
    dx, sums = empty(x.shape, x.dtype), np.zeros((2, C), x.dtype)
    found = pointers(dy, dtotal, x, weight, mean, rstd, dx, sums)
    if x.size:
        loops.norm_backward(WIDE[x.dtype], *found, x.size // C, C)
    return dx, sums


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    dx, sums = _norm_gradient(dy, None, x, weight, mean, rstd)
    return dx, sums[0], sums[1] if has_bias else None


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    dx, sums = _norm_gradient(dy, dtotal, total, weight, mean, rstd)
    return dx, sums[0], sums[1] if has_bias else None


def rmsnorm_backward(dy, x, weight, rstd):
    dx, sums = _norm_gradient(dy, None, x, weight, None, rstd)
    return dx, sums[0]


def linear_forward(x, weight, bias):
    y = products.product(x, weight)  # (*n, N)
    if bias is not None and y.size:
        loops.add_bias(WIDE[y.dtype], *pointers(y, bias), y.size // bias.size, bias.size)
    return y


def linear_backward(dy, x, weight, has_bias):
    dx, dweight, rows = products.linear_gradients(dy, x, weight)
    if not has_bias:
        return dx, dweight, None
    if not rows.size:
        return dx, dweight, rows.sum(axis=0)
    dbias = np.empty(rows.shape[1], rows.dtype)
    loops.column_sums(WIDE[rows.dtype], *pointers(rows, dbias), *rows.shape)
    return dx, dweight, dbias


def softmax_forward(x, causal=False):
    if not x.size:
        return empty(x.shape, x.dtype)
    y = empty(x.shape, x.dtype)
    S, T = x.shape[-1], x.shape[-2] if causal else 1
    loops.softmax_forward(WIDE[x.dtype], *pointers(x, y), x.size // S, T, S, causal)
    return y


def softmax_backward(dy, y):
    dx = empty(y.shape, y.dtype)
    S = y.shape[-1]
    if y.size:
        loops.softmax_backward(WIDE[y.dtype], *pointers(dy, y, dx), y.size // S, S)
    return dx


def _rotate(x, cos, sin, inverse):
    y = empty(x.shape, x.dtype)
    found = pointers(x, cos, sin, y)
    if x.size:
        loops.rope(WIDE[x.dtype], *found, *x.shape, inverse)
    return y


def rope_forward(x, cos, sin):
    return _rotate(x, cos, sin, False)


def rope_backward(dy, cos, sin):
    return _rotate(dy, cos, sin, True)


def attention_forward(q, k, v, causal=True):
    (B, T, H, D), (_, S, G, _) = q.shape, k.shape
    y, logsumexp = empty(q.shape, q.dtype), empty((B, H, T), q.dtype)
    found = pointers(q, k, v, y, logsumexp)
    loops.attention_forward(WIDE[q.dtype], bfloat16.is_wanted(q), *found, B, T, S, H, G, D, causal)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    (B, T, H, D), (_, S, G, _) = q.shape, k.shape
    dq, dk, dv = empty(q.shape, q.dtype), empty(k.shape, k.dtype), empty(v.shape, v.dtype)
    found = pointers(dy, q, k, v, y, logsumexp, dq, dk, dv)
    loops.attention_backward(WIDE[q.dtype], bfloat16.is_wanted(q), *found, B, T, S, H, G, D, causal)
    return dq, dk, dv


def cache_attention(q, k_cache, v_cache, length):
    """A cache is pages of N rows each, one for a text."""
    B = q.shape[0]
    tables, positions = np.arange(B, dtype=np.int32), np.full(B, length[0], np.int32)  # (B, 1), (B)
    y = paged_attention_forward(q[:, 0], k_cache, v_cache, tables[:, None], positions)  # (B, H, D)
    return y[:, None]


def paged_attention_forward(q, k_pages, v_pages, tables, positions):
    return _in_pages(loops.paged_attention, q, k_pages, v_pages, tables, positions)


def paged_attention_int8_forward(q, k_pages, v_pages, tables, positions):
    return _in_pages(loops.paged_attention_int8, q, k_pages, v_pages, tables, positions)


def _in_pages(attend, q, k_pages, v_pages, tables, positions):
    (R, H, D), (_, N, G, _) = q.shape, k_pages.shape
    y = empty(q.shape, q.dtype)
    found = pointers(q, k_pages, v_pages, tables, positions, y)
    attend(WIDE[q.dtype], *found, R, tables.shape[1], N, H, G, D)
    return y


def dropout_forward(x, probability, random, site):
    y = empty(x.shape, x.dtype)
    loops.dropout(
        WIDE[x.dtype], *pointers(x, y), x.size, probability * 2.0**32, 1 - probability,
        address(random), site,
    )  # fmt: skip
    return y


def dropout_backward(dy, probability, random, site):
    return dropout_forward(dy, probability, random, site)
