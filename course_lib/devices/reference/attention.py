"""Softmax, rotary positions, and attention with its whole matrix of scores.

Causal masks are aligned at the end: the last query sees every key. With T = S that is the lower triangle; with S > T
the first S - T keys are a cache of the past, which every query sees.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = """
    softmax_forward softmax_backward rope_forward rope_backward attention_forward attention_backward
""".split()


def causal_mask(scores):
    """scores (..., T, S), minus infinity in row t beyond column S - T + t."""
    T, S = scores.shape[-2:]
    return np.where(np.tri(T, S, S - T, dtype=bool), scores, -np.inf)  # (..., T, S)


def softmax_forward(x, causal=False):
    if causal:
        x = causal_mask(x)
    e = np.exp(x - x.max(axis=-1, keepdims=True))  # (..., T, S), the largest is 1: no overflow
    return e / e.sum(axis=-1, keepdims=True)


def softmax_backward(dy, y):
    return y * (dy - (dy * y).sum(axis=-1, keepdims=True))  # (..., T, S); 0 where y is masked


# RoPE (Su et al. 2021): position t rotates the pair (i, i + D/2) by its angle, so that q . k depends on distance only.


def _rotate(x, cos, sin):
    cos, sin = cos[:, None, :], sin[:, None, :]  # (T, D/2) -> (T, 1, D/2)
    first, second = np.split(x, 2, axis=-1)  # (B, T, H, D) -> (B, T, H, D/2) twice
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)  # (B, T, H, D)


def rope_forward(x, cos, sin):
    return _rotate(x, cos, sin)


def rope_backward(dy, cos, sin):
    return _rotate(dy, cos, -sin)  # the transpose of a rotation is its inverse


# Attention (Vaswani et al. 2017), grouped-query attention (Ainslie et al. 2023): R = H / G query heads read one key-value head.


def by_group(x, groups):
    """(B, T, H, D) -> (B, G, R, T, D), a view that the BLAS can read."""
    B, T, H, D = x.shape
    return x.reshape(B, T, groups, H // groups, D).transpose(0, 2, 3, 1, 4)


def _by_time(x):
    """(B, G, R, T, D) -> (B, T, H, D)"""
    B, G, R, T, D = x.shape
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2, 4)).reshape(B, T, G * R, D)


def _scores(q, k, causal):
    """q . k / sqrt(D): (B, G, R, T, D), (B, G, 1, S, D) -> (B, G, R, T, S)"""
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]))
    return causal_mask(scores) if causal else scores


def attention_forward(q, k, v, causal=True):
    (B, T, H, _), G = q.shape, k.shape[2]
    q, k, v = by_group(q, G), by_group(k, G), by_group(v, G)
    scores = _scores(q, k, causal)  # (B, G, R, T, S)
    largest = scores.max(axis=-1, keepdims=True)  # (B, G, R, T, 1)
    e = np.exp(scores - largest)  # (B, G, R, T, S)
    total = e.sum(axis=-1, keepdims=True)  # (B, G, R, T, 1)
    logsumexp = largest + np.log(total)
    return _by_time((e / total) @ v), logsumexp.reshape(B, H, T)


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    G = k.shape[2]
    dy, q, k, v, y = (by_group(x, G) for x in (dy, q, k, v, y))
    scores = _scores(q, k, causal)
    weights = np.exp(scores - logsumexp.reshape(*scores.shape[:-1], 1))  # (B, G, R, T, S)
    dv = (weights.swapaxes(-1, -2) @ dy).sum(axis=2, keepdims=True)  # (B, G, 1, S, D), over the heads that read it
    dweights = dy @ v.swapaxes(-1, -2)  # (B, G, R, T, S)
    # softmax backward; the row sum of weights * dweights equals that of y * dy, and needs no (T, S) matrix
    # (Dao et al. 2022, appendix B.4)
    dscores = weights * (dweights - (dy * y).sum(axis=-1, keepdims=True)) * (1 / math.sqrt(q.shape[-1]))
    dq = dscores @ k  # (B, G, R, T, D)
    dk = (dscores.swapaxes(-1, -2) @ q).sum(axis=2, keepdims=True)  # (B, G, 1, S, D)
    return _by_time(dq), _by_time(dk), _by_time(dv)
