"""Activations and norms in NumPy, for machines without a compiler.

Whole arrays leave the processor's cache between one NumPy call and the next. So each op goes through its rows in blocks
that fit the cache, with a few temporaries that are used again for every block: three times faster than whole arrays.
"""

from __future__ import annotations

import math

import numpy as np

from .memory import empty

__all__ = """
    gelu_forward gelu_backward bias_gelu_forward bias_gelu_backward swiglu_forward swiglu_backward
    layernorm_forward layernorm_backward residual_layernorm_forward residual_layernorm_backward
    rmsnorm_forward rmsnorm_backward
""".split()

BLOCK = 1 << 15  # elements of a block


def blocks(count: int, width: int):
    """Slices of `count` rows of `width` elements, each about BLOCK elements."""
    step = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def temporaries(number: int, count: int, width: int, dtype):
    """Arrays (rows of a block, width) to work in."""
    rows = min(count, max(1, BLOCK // max(width, 1)))
    return [np.empty((rows, width), dtype) for _ in range(number)]


# GELU as x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): the same as x/2 (1 + tanh(u)).


def _half_tanh(x, t, scratch):
    """t <- 1/2 (1 + tanh(u)); scratch <- x * x."""
    np.multiply(x, x, out=scratch)
    np.multiply(scratch, 0.044715 * math.sqrt(2 / math.pi), out=t)
    t += math.sqrt(2 / math.pi)
    t *= x
    np.tanh(t, out=t)
    t *= 0.5
    t += 0.5


def _gelu(x, bias):
    y = empty(x.shape, x.dtype)
    rows, y_rows = _as_rows(x), _as_rows(y)
    t, s, biased = temporaries(3, len(rows), rows.shape[1], x.dtype)
    for block in blocks(len(rows), rows.shape[1]):
        part, n = rows[block], block.stop - block.start
        if bias is not None:
            part = np.add(part, bias, out=biased[:n])
        _half_tanh(part, t[:n], s[:n])
        np.multiply(part, t[:n], out=y_rows[block])
    return y


def _as_rows(x):
    return x.reshape(-1, x.shape[-1] if x.ndim else 1)


def _gelu_gradient(dy, x, bias):
    dx = empty(x.shape, x.dtype)
    rows, dy_rows, dx_rows = _as_rows(x), _as_rows(dy), _as_rows(dx)
    t, s, biased = temporaries(3, len(rows), rows.shape[1], x.dtype)
    for block in blocks(len(rows), rows.shape[1]):
        part, n = rows[block], block.stop - block.start
        if bias is not None:
            part = np.add(part, bias, out=biased[:n])
        h, square, out = t[:n], s[:n], dx_rows[block]
        _half_tanh(part, h, square)  # y = x h, and dh/dx = 2 h (1 - h) du/dx
        square *= 6 * 0.044715 * math.sqrt(2 / math.pi)
        square += 2 * math.sqrt(2 / math.pi)
        square *= part  # 2 x du/dx
        np.subtract(1, h, out=out)
        out *= square
        out += 1
        out *= h
        out *= dy_rows[block]
    return dx


def gelu_forward(x):
    return _gelu(x, None)


def gelu_backward(dy, x):
    return _gelu_gradient(dy, x, None)


def bias_gelu_forward(x, bias):
    return _gelu(x, bias)


def bias_gelu_backward(dy, x, bias):
    dx = _gelu_gradient(dy, x, bias)
    return dx, dx.reshape(-1, bias.size).sum(axis=0)


# SwiGLU


def _halves(x):
    F = x.shape[-1] // 2
    rows = x.reshape(-1, 2 * F)
    return rows[:, :F], rows[:, F:]  # (n, F) twice


def _sigmoid(z, out):
    np.multiply(z, 0.5, out=out)
    np.tanh(out, out=out)
    out *= 0.5
    out += 0.5


def swiglu_forward(x):
    gate, up = _halves(x)
    n, F = gate.shape
    y = empty((*x.shape[:-1], F), x.dtype)
    rows = y.reshape(n, F)
    for block in blocks(n, F):
        out = rows[block]
        _sigmoid(gate[block], out)
        out *= gate[block]
        out *= up[block]
    return y


def swiglu_backward(dy, x):
    gate, up = _halves(x)
    n, F = gate.shape
    dx = empty(x.shape, x.dtype)
    dgate, dup = _halves(dx)
    dy = dy.reshape(n, F)
    s, t = temporaries(2, n, F, x.dtype)
    for block in blocks(n, F):
        rows = block.stop - block.start
        sigmoid, dsilu = s[:rows], t[:rows]
        _sigmoid(gate[block], sigmoid)
        np.multiply(gate[block], sigmoid, out=dsilu)  # silu
        np.multiply(dy[block], dsilu, out=dup[block])
        np.subtract(gate[block], dsilu, out=dsilu)
        dsilu += 1
        dsilu *= sigmoid  # s (1 + z - z s)
        dsilu *= up[block]
        np.multiply(dy[block], dsilu, out=dgate[block])
    return dx


# Norms


def layernorm_forward(x, weight, bias, eps):
    C = weight.size
    y, mean, rstd = empty(x.shape, x.dtype), empty(x.shape[:-1], x.dtype), empty(x.shape[:-1], x.dtype)
    x, out, means, rstds = x.reshape(-1, C), y.reshape(-1, C), mean.reshape(-1), rstd.reshape(-1)
    for block in blocks(len(x), C):
        np.mean(x[block], axis=1, out=means[block])
        centred = np.subtract(x[block], means[block, None], out=out[block])
        rstds[block] = 1 / np.sqrt(np.einsum("nc,nc->n", centred, centred) / C + eps)
        centred *= rstds[block, None]
        centred *= weight
        if bias is not None:
            centred += bias
    return y, mean, rstd


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    return _norm_gradient(dy, None, x, weight, mean, rstd, has_bias)


def _norm_gradient(dy, dtotal, x, weight, mean, rstd, has_bias):
    """Of LayerNorm, and of RMSNorm where `mean` is None; plus `dtotal`, if there is one."""
    C = weight.size
    dx = empty(x.shape, x.dtype)
    dweight, dbias = np.zeros(C, x.dtype), np.zeros(C, x.dtype) if has_bias else None
    x, dy, out, rstd = x.reshape(-1, C), dy.reshape(-1, C), dx.reshape(-1, C), rstd.reshape(-1)
    s, t = temporaries(2, len(x), C, x.dtype)
    for block in blocks(len(x), C):
        n = block.stop - block.start
        xhat, g = s[:n], out[block]
        if mean is None:
            np.multiply(x[block], rstd[block, None], out=xhat)
        else:
            np.subtract(x[block], mean.reshape(-1)[block, None], out=xhat)
            xhat *= rstd[block, None]
        dweight += np.einsum("nc,nc->c", dy[block], xhat)
        if has_bias:
            dbias += dy[block].sum(axis=0)
        np.multiply(dy[block], weight, out=g)
        along = np.einsum("nc,nc->n", g, xhat) / C
        if mean is not None:
            g -= g.mean(axis=1, keepdims=True)
        g -= np.multiply(xhat, along[:, None], out=t[:n])
        g *= rstd[block, None]
        if dtotal is not None:
            g += dtotal.reshape(-1, C)[block]
    return dx, dweight, dbias


def residual_layernorm_forward(x, residual, weight, bias, eps):
    total = np.add(x, residual, out=empty(x.shape, x.dtype))
    y, mean, rstd = layernorm_forward(total, weight, bias, eps)
    return y, total, mean, rstd


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    return _norm_gradient(dy, dtotal, total, weight, mean, rstd, has_bias)


def rmsnorm_forward(x, weight, eps):
    C = weight.size
    y, rstd = empty(x.shape, x.dtype), empty(x.shape[:-1], x.dtype)
    x, out, rstds = x.reshape(-1, C), y.reshape(-1, C), rstd.reshape(-1)
    for block in blocks(len(x), C):
        rstds[block] = 1 / np.sqrt(np.einsum("nc,nc->n", x[block], x[block]) / C + eps)
        np.multiply(x[block], rstds[block, None], out=out[block])
        out[block] *= weight
    return y, rstd


def rmsnorm_backward(dy, x, weight, rstd):
    return _norm_gradient(dy, None, x, weight, None, rstd, False)[:2]
