"""Softmax, RoPE and attention in NumPy, for machines without a compiler.

Attention goes through the queries in blocks and gives each block only the keys that it can see, so that with a causal
mask nearly half of the work is never done, and the scores of one block stay in the cache.
"""

from __future__ import annotations

import math

import numpy as np

from ..reference.attention import by_group
from .memory import empty
from .plain_layers import blocks

__all__ = """
    softmax_forward softmax_backward rope_forward rope_backward attention_forward attention_backward
""".split()

QUERIES = 64  # of a block


def softmax_forward(x, causal=False):
    y = empty(x.shape, x.dtype)
    T, S = x.shape[-2:] if x.ndim > 1 else (1, x.shape[-1])
    if causal:
        future = ~np.tri(T, S, S - T, dtype=bool)
    if not x.size:
        return y
    for rows, out in zip(x.reshape(-1, T, S), y.reshape(-1, T, S), strict=True):
        np.copyto(out, rows)
        if causal:
            out[future] = -np.inf
        softmax_in_place(out)
    return y


def softmax_in_place(scores):
    """exp(scores - logsumexp) over the last axis. Returns the largest of each row and the sum of its exponentials."""
    largest = scores.max(axis=-1, keepdims=True)
    scores -= largest
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    scores /= total
    return largest, total


def softmax_backward(dy, y):
    dx = empty(y.shape, y.dtype)
    S = y.shape[-1]
    dy, y, out = dy.reshape(-1, S), y.reshape(-1, S), dx.reshape(-1, S)
    for block in blocks(len(y), S):
        np.subtract(dy[block], np.einsum("ns,ns->n", dy[block], y[block])[:, None], out=out[block])
        out[block] *= y[block]
    return dx


def rope_forward(x, cos, sin):
    return _rotate(x, cos[:, None, :], sin[:, None, :])


def rope_backward(dy, cos, sin):
    return _rotate(dy, cos[:, None, :], -sin[:, None, :])


def _rotate(x, cos, sin):
    y = empty(x.shape, x.dtype)
    half = x.shape[-1] // 2
    first, second, out_first, out_second = x[..., :half], x[..., half:], y[..., :half], y[..., half:]
    np.multiply(first, cos, out=out_first)
    out_first -= second * sin
    np.multiply(second, cos, out=out_second)
    out_second += first * sin
    return y


# Attention. R = H / G query heads read one key-value head.


def _query_blocks(T, S, causal):
    """(slice of the queries, number of keys that they see, what of that must be hidden or None)"""
    for start in range(0, T, QUERIES):
        stop = min(start + QUERIES, T)
        keys = S - T + stop if causal else S
        yield slice(start, stop), keys, ~np.tri(stop - start, keys, S - T + start, dtype=bool) if causal else None


def _scores(q, k, hidden):
    """q . k / sqrt(D): (B, G, R, t, D), (B, G, 1, s, D) -> (B, G, R, t, s)"""
    scores = np.matmul(q * q.dtype.type(1 / math.sqrt(q.shape[-1])), k.swapaxes(-1, -2))
    if hidden is not None:
        scores[..., hidden] = -np.inf
    return scores


def attention_forward(q, k, v, causal=True):
    (B, T, H, _), (_, S, G, _) = q.shape, k.shape
    y, logsumexp = empty(q.shape, q.dtype), empty((B, H, T), q.dtype)
    q, k, v, out, lse = (*(by_group(x, G) for x in (q, k, v, y)), logsumexp.reshape(B, G, H // G, T, 1))
    for t, keys, hidden in _query_blocks(T, S, causal):
        weights = _scores(q[..., t, :], k[..., :keys, :], hidden)  # (B, G, R, t, s)
        largest, total = softmax_in_place(weights)
        np.add(largest, np.log(total), out=lse[..., t, :])
        out[..., t, :] = np.matmul(weights, v[..., :keys, :])  # (B, G, R, t, D)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    (B, T, H, D), (_, S, G, _) = q.shape, k.shape
    scale = q.dtype.type(1 / math.sqrt(D))
    dq, dk, dv = (empty(x.shape, x.dtype) for x in (q, k, v))
    dk.fill(0)
    dv.fill(0)
    dy, q, k, v, y = (by_group(x, G) for x in (dy, q, k, v, y))
    dq_out, dk_out, dv_out = by_group(dq, G), by_group(dk, G), by_group(dv, G)
    lse = logsumexp.reshape(B, G, H // G, T, 1)
    for t, keys, hidden in _query_blocks(T, S, causal):
        weights = _scores(q[..., t, :], k[..., :keys, :], hidden)
        weights -= lse[..., t, :]
        np.exp(weights, out=weights)  # (B, G, R, t, s)
        dv_out[..., :keys, :] += _over_heads(np.matmul(weights.swapaxes(-1, -2), dy[..., t, :]))
        dscores = np.matmul(dy[..., t, :], v[..., :keys, :].swapaxes(-1, -2))  # (B, G, R, t, s)
        # the row sum of weights * dweights is that of y * dy (Dao et al. 2022, appendix B.4)
        dscores -= (dy[..., t, :] * y[..., t, :]).sum(axis=-1, keepdims=True)
        dscores *= weights
        dscores *= scale
        dq_out[..., t, :] = np.matmul(dscores, k[..., :keys, :])  # (B, G, R, t, D)
        dk_out[..., :keys, :] += _over_heads(np.matmul(dscores.swapaxes(-1, -2), q[..., t, :]))
    return dq, dk, dv


def _over_heads(gradient):
    """Sum over the R heads that read one key-value head: (B, G, R, s, D) -> (B, G, 1, s, D)"""
    return gradient if gradient.shape[2] == 1 else gradient.sum(axis=2, keepdims=True)
