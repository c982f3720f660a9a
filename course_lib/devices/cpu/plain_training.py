"""Cross-entropy, the norm of the gradients and AdamW in NumPy, block by block, for machines without a compiler."""

from __future__ import annotations

import math

import numpy as np

from .memory import empty
from .plain_layers import BLOCK, blocks

__all__ = "cross_entropy_forward cross_entropy_backward global_norm adamw_step".split()


def cross_entropy_forward(logits, targets, ignore_index=-1):
    kept = targets != ignore_index  # (n)
    n, V = logits.shape
    logsumexp = empty((n,), logits.dtype)
    for block in blocks(n, V):
        largest = logits[block].max(axis=1, keepdims=True)
        shifted = logits[block] - largest
        np.exp(shifted, out=shifted)
        logsumexp[block] = largest[:, 0] + np.log(shifted.sum(axis=1))
    rows = np.flatnonzero(kept)
    losses = logsumexp[rows] - logits[rows, targets[rows]]  # (kept)
    return np.asarray(losses.mean() if rows.size else np.nan, logits.dtype), logsumexp


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    kept = targets != ignore_index  # (n)
    dlogits = empty(logits.shape, logits.dtype)
    factor = logits.dtype.type(dloss / max(1, np.count_nonzero(kept)))
    scale = np.where(kept, factor, 0).astype(logits.dtype)  # (n)
    for block in blocks(*logits.shape):
        out = np.subtract(logits[block], logsumexp[block, None], out=dlogits[block])
        np.exp(out, out=out)
        out *= scale[block, None]
    rows = np.flatnonzero(kept)
    dlogits[rows, targets[rows]] -= factor
    return dlogits


def global_norm(arrays):
    total = math.fsum(
        float(np.dot(part, part))
        for array in arrays
        for part in (array.reshape(-1)[start : start + BLOCK] for start in range(0, array.size, BLOCK))
    )
    return np.array([math.sqrt(total)], arrays[0].dtype)  # (1)


def adamw_step(
    parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps, weight_decay, max_norm
):
    learning_rate, correction1, correction2 = settings  # (3)
    dtype = settings.dtype.type
    scale = None if norm is None else dtype(min(1, max_norm / (norm[0] + 1e-6)))
    t, s = np.empty(BLOCK, settings.dtype), np.empty(BLOCK, settings.dtype)
    for p, g, m, v, decay in zip(parameters, gradients, first_moments, second_moments, weight_decay, strict=True):
        p, g, m, v = (array.reshape(-1) for array in (p, g, m, v))
        keep = dtype(1 - learning_rate * dtype(decay))
        for start in range(0, p.size, BLOCK):
            block = slice(start, min(start + BLOCK, p.size))
            pb, mb, vb = p[block], m[block], v[block]
            a, b = t[: pb.size], s[: pb.size]
            if scale is None:
                np.copyto(a, g[block])
            else:
                np.multiply(g[block], scale, out=a)
            np.multiply(a, dtype(1 - beta1), out=b)
            mb *= dtype(beta1)
            mb += b  # m = beta1 m + (1 - beta1) g
            np.multiply(a, a, out=b)
            b *= dtype(1 - beta2)
            vb *= dtype(beta2)
            vb += b  # v = beta2 v + (1 - beta2) g^2
            np.multiply(vb, dtype(1 / correction2), out=b)
            np.sqrt(b, out=b)
            b += dtype(eps)
            np.divide(mb, b, out=a)
            a *= dtype(learning_rate / correction1)
            pb *= keep
            pb -= a
