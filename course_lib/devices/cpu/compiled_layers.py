"""The fused ops by compiled loops: check the shapes, make the result, hand the addresses over.

An array without elements goes to the NumPy twin.
"""

from __future__ import annotations

import numpy as np

from ..checks import check_causal, check_probability, fit
from . import plain_layers, products
from .compiled import WIDE, address, loops, pointers
from .memory import empty
from .plain_attention import PATTERN, check_heads

__all__ = """
    gelu_forward gelu_backward bias_gelu_forward bias_gelu_backward swiglu_forward swiglu_backward
    layernorm_forward residual_layernorm_forward rmsnorm_forward layernorm_backward
    residual_layernorm_backward rmsnorm_backward linear_forward linear_backward softmax_forward
    softmax_backward rope_forward rope_backward attention_forward attention_backward dropout_forward
    dropout_backward
""".split()


def gelu_forward(x):
    y = empty(x.shape, x.dtype)
    loops.gelu_forward(WIDE[x.dtype], *pointers("gelu_forward", x, y), x.size)
    return y


def gelu_backward(dy, x):
    if dy.shape != x.shape:
        fit("gelu_backward", "dy (*n), x (*n)", dy, x)
    dx = empty(x.shape, x.dtype)
    loops.gelu_backward(WIDE[x.dtype], *pointers("gelu_backward", dy, x, dx), x.size)
    return dx


def bias_gelu_forward(x, bias):
    if x.shape[-1:] != bias.shape:
        fit("bias_gelu_forward", "x (*n, F), bias (F)", x, bias)
    if not x.size:
        return plain_layers.bias_gelu_forward(x, bias)
    y = empty(x.shape, x.dtype)
    F = bias.size
    loops.bias_gelu_forward(WIDE[x.dtype], *pointers("bias_gelu_forward", x, bias, y), x.size // F, F)
    return y


def bias_gelu_backward(dy, x, bias):
    if dy.shape != x.shape or x.shape[-1:] != bias.shape:
        fit("bias_gelu_backward", "dy (*n, F), x (*n, F), bias (F)", dy, x, bias)
    if not x.size:
        return plain_layers.bias_gelu_backward(dy, x, bias)
    dx, dbias = empty(x.shape, x.dtype), empty(bias.shape, x.dtype)
    F = bias.size
    loops.bias_gelu_backward(WIDE[x.dtype], *pointers("bias_gelu_backward", dy, x, bias, dx, dbias), x.size // F, F)
    return dx, dbias


def swiglu_forward(x):
    if not x.ndim or x.shape[-1] % 2 or not x.size:
        return plain_layers.swiglu_forward(x)  # raises the error
    F = x.shape[-1] // 2
    y = empty((*x.shape[:-1], F), x.dtype)
    loops.swiglu_forward(WIDE[x.dtype], *pointers("swiglu_forward", x, y), x.size // (2 * F), F)
    return y


def swiglu_backward(dy, x):
    if not x.ndim or x.shape[-1] % 2 or not x.size or dy.shape != (*x.shape[:-1], x.shape[-1] // 2):
        return plain_layers.swiglu_backward(dy, x)
    F = dy.shape[-1]
    dx = empty(x.shape, x.dtype)
    loops.swiglu_backward(WIDE[x.dtype], *pointers("swiglu_backward", dy, x, dx), x.size // (2 * F), F)
    return dx


def _norm(op, x, residual, weight, bias, total, mean, eps):
    C = weight.size
    y, rstd = empty(x.shape, x.dtype), empty(x.shape[:-1], x.dtype)
    found = pointers(op, x, residual, weight, bias, y, total, mean, rstd)
    if x.size:
        loops.norm_forward(WIDE[x.dtype], *found, eps, x.size // C, C)
    return y, rstd


def _fits_norm(x, weight, bias):
    return x.ndim and weight.shape == x.shape[-1:] and (bias is None or bias.shape == weight.shape)


def layernorm_forward(x, weight, bias, eps):
    if not _fits_norm(x, weight, bias):
        fit("layernorm_forward", "x (*n, C), weight (C), bias (C)", x, weight, bias)
    mean = empty(x.shape[:-1], x.dtype)
    y, rstd = _norm("layernorm_forward", x, None, weight, bias, None, mean, eps)
    return y, mean, rstd


def residual_layernorm_forward(x, residual, weight, bias, eps):
    if not _fits_norm(x, weight, bias) or x.shape != residual.shape:
        pattern = "x (*n, C), residual (*n, C), weight (C), bias (C)"
        fit("residual_layernorm_forward", pattern, x, residual, weight, bias)
    mean, total = empty(x.shape[:-1], x.dtype), empty(x.shape, x.dtype)
    y, rstd = _norm("residual_layernorm_forward", x, residual, weight, bias, total, mean, eps)
    return y, total, mean, rstd


def rmsnorm_forward(x, weight, eps):
    if not _fits_norm(x, weight, None):
        fit("rmsnorm_forward", "x (*n, C), weight (C)", x, weight)
    return _norm("rmsnorm_forward", x, None, weight, None, None, None, eps)


def _norm_gradient(op, dy, dtotal, x, weight, mean, rstd):
    """dx (*n, C), and dweight and dbias as rows of (2, C)"""
    C = weight.size
    if not (
        _fits_norm(x, weight, None) and dy.shape == x.shape and rstd.shape == x.shape[:-1]
        and (mean is None or mean.shape == rstd.shape) and (dtotal is None or dtotal.shape == x.shape)
    ):  # fmt: skip
        pattern = "dy (*n, C), dtotal (*n, C), x (*n, C), weight (C), mean (*n), rstd (*n)"
        fit(op, pattern, dy, dtotal, x, weight, mean, rstd)
    dx, sums = empty(x.shape, x.dtype), np.zeros((2, C), x.dtype)
    found = pointers(op, dy, dtotal, x, weight, mean, rstd, dx, sums)
    if x.size:
        loops.norm_backward(WIDE[x.dtype], *found, x.size // C, C)
    return dx, sums


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    dx, sums = _norm_gradient("layernorm_backward", dy, None, x, weight, mean, rstd)
    return dx, sums[0], sums[1] if has_bias else None


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    dx, sums = _norm_gradient("residual_layernorm_backward", dy, dtotal, total, weight, mean, rstd)
    return dx, sums[0], sums[1] if has_bias else None


def rmsnorm_backward(dy, x, weight, rstd):
    dx, sums = _norm_gradient("rmsnorm_backward", dy, None, x, weight, None, rstd)
    return dx, sums[0]


def linear_forward(x, weight, bias):
    y = products.product(x, weight, bias)  # (*n, N)
    if bias is not None and y.size:
        loops.add_bias(WIDE[y.dtype], *pointers("linear_forward", y, bias), y.size // bias.size, bias.size)
    return y


def linear_backward(dy, x, weight, has_bias):
    dx, dweight, rows = products.linear_gradients(dy, x, weight)
    if not has_bias:
        return dx, dweight, None
    if not rows.size:
        return dx, dweight, rows.sum(axis=0)
    dbias = np.empty(rows.shape[1], rows.dtype)
    loops.column_sums(WIDE[rows.dtype], *pointers("linear_backward", rows, dbias), *rows.shape)
    return dx, dweight, dbias


def softmax_forward(x, causal=False):
    fit("softmax_forward", "x (*n, T, S)" if causal else "x (*n, S)", x)
    if causal:
        check_causal("softmax_forward", *x.shape[-2:])
    if not x.size:
        return empty(x.shape, x.dtype)
    y = empty(x.shape, x.dtype)
    S, T = x.shape[-1], x.shape[-2] if causal else 1
    loops.softmax_forward(WIDE[x.dtype], *pointers("softmax_forward", x, y), x.size // S, T, S, causal)
    return y


def softmax_backward(dy, y):
    if dy.shape != y.shape or not y.ndim:
        fit("softmax_backward", "dy (*n, S), y (*n, S)", dy, y)
    dx = empty(y.shape, y.dtype)
    S = y.shape[-1]
    if y.size:
        loops.softmax_backward(WIDE[y.dtype], *pointers("softmax_backward", dy, y, dx), y.size // S, S)
    return dx


def _turn(op, x, cos, sin, back):
    sizes = fit(op, "x (B, T, H, D), cos (T, D/2), sin (T, D/2)", x, cos, sin)
    y = empty(x.shape, x.dtype)
    found = pointers(op, x, cos, sin, y)
    if x.size:
        loops.rope(WIDE[x.dtype], *found, *(sizes[letter] for letter in "BTHD"), back)
    return y


def rope_forward(x, cos, sin):
    return _turn("rope_forward", x, cos, sin, False)


def rope_backward(dy, cos, sin):
    return _turn("rope_backward", dy, cos, sin, True)


def attention_forward(q, k, v, causal=True):
    B, T, S, H, G, D = _attention_sizes("attention_forward", PATTERN, causal, q, k, v)
    y, logsumexp = empty(q.shape, q.dtype), empty((B, H, T), q.dtype)
    found = pointers("attention_forward", q, k, v, y, logsumexp)
    loops.attention_forward(WIDE[q.dtype], *found, B, T, S, H, G, D, causal)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    pattern = f"dy (B, T, H, D), {PATTERN}, y (B, T, H, D), logsumexp (B, H, T)"
    B, T, S, H, G, D = _attention_sizes("attention_backward", pattern, causal, dy, q, k, v, y, logsumexp)
    dq, dk, dv = empty(q.shape, q.dtype), empty(k.shape, k.dtype), empty(v.shape, v.dtype)
    found = pointers("attention_backward", dy, q, k, v, y, logsumexp, dq, dk, dv)
    loops.attention_backward(WIDE[q.dtype], *found, B, T, S, H, G, D, causal)
    return dq, dk, dv


def dropout_forward(x, probability, random, site):
    fit("dropout_forward", "random (R)", random)
    check_probability("dropout_forward", probability)
    y = empty(x.shape, x.dtype)
    random = np.ascontiguousarray(random, np.uint32)
    loops.dropout(
        WIDE[x.dtype], *pointers("dropout_forward", x, y), x.size, probability * 2.0**32, 1 - probability,
        address(random), site,
    )  # fmt: skip
    return y


def dropout_backward(dy, probability, random, site):
    return dropout_forward(dy, probability, random, site)


def _attention_sizes(op, pattern, causal, *arrays):
    """B, T, S, H, G, D of attention, checked."""
    sizes = fit(op, pattern, *arrays)
    check_heads(op, sizes["H"], sizes["G"])
    if causal:
        check_causal(op, sizes["T"], sizes["S"])
    return [sizes[letter] for letter in "BTSHGD"]
