"""LayerNorm (Ba, Kiros and Hinton 2016) and RMSNorm (Zhang and Sennrich 2019): each row of C elements on its own.

Backward, for a row, with xhat the normalised row and g = dy * weight: dx = rstd * (g - mean(g) - xhat * mean(g * xhat)). What is
subtracted are the two directions that normalising took away, the constant one and the one along xhat. RMSNorm subtracts no
mean, so only the second is taken away.
"""

from __future__ import annotations

import numpy as np

__all__ = """
    layernorm_forward layernorm_backward residual_layernorm_forward residual_layernorm_backward
    rmsnorm_forward rmsnorm_backward
""".split()


def layernorm_forward(x, weight, bias, eps):
    mean = x.mean(axis=-1, keepdims=True)  # (*n, 1)
    centred = x - mean  # (*n, C)
    rstd = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)  # (*n, 1)
    y = centred * rstd * weight  # (*n, C)
    if bias is not None:
        y = y + bias
    return y, mean.reshape(x.shape[:-1]), rstd.reshape(x.shape[:-1])


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    xhat = (x - mean[..., None]) * rstd[..., None]  # (*n, C)
    g = dy * weight  # (*n, C)
    along = (g * xhat).mean(axis=-1, keepdims=True)  # (*n, 1)
    dx = (g - g.mean(axis=-1, keepdims=True) - xhat * along) * rstd[..., None]  # (*n, C)
    dweight = (dy * xhat).reshape(-1, weight.size).sum(axis=0)  # (C)
    dbias = dy.reshape(-1, weight.size).sum(axis=0) if has_bias else None  # (C)
    return dx, dweight, dbias


def residual_layernorm_forward(x, residual, weight, bias, eps):
    total = x + residual  # (*n, C)
    y, mean, rstd = layernorm_forward(total, weight, bias, eps)
    return y, total, mean, rstd


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    dx, dweight, dbias = layernorm_backward(dy, total, weight, mean, rstd, has_bias)
    if dtotal is not None:
        dx = dx + dtotal  # total goes on to the next block too: both paths add up
    return dx, dweight, dbias


def rmsnorm_forward(x, weight, eps):
    rstd = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)  # (*n, 1)
    return x * rstd * weight, rstd.reshape(x.shape[:-1])


def rmsnorm_backward(dy, x, weight, rstd):
    xhat = x * rstd[..., None]  # (*n, C)
    g = dy * weight  # (*n, C)
    dx = (g - xhat * (g * xhat).mean(axis=-1, keepdims=True)) * rstd[..., None]  # (*n, C)
    return dx, (dy * xhat).reshape(-1, weight.size).sum(axis=0)
