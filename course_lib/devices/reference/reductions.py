"""Sums, maxima, selections by index, and the matrix product."""

from __future__ import annotations

import numpy as np

__all__ = "sum max argmax gather scatter_add matmul".split()


def sum(x, axis=None, keepdims=False):
    return np.asarray(np.sum(x, axis=axis, keepdims=keepdims))


def max(x, axis=None, keepdims=False):
    return np.asarray(np.max(x, axis=axis, keepdims=keepdims))


def argmax(x, axis=-1):
    return np.asarray(np.argmax(x, axis=axis), dtype=np.int64)


def gather(x, indices):
    return np.asarray(np.take(x, indices, axis=0))  # (R, ...), (*I) -> (*I, ...)


def scatter_add(updates, indices, rows):
    inner = updates.shape[indices.ndim :]
    result = np.zeros((rows, *inner), updates.dtype)
    np.add.at(result, indices, updates)  # result[indices] += updates would count a repeated index once
    return result


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    if transpose_a:
        a = a.swapaxes(-1, -2)  # (..., K, N) -> (..., N, K)
    if transpose_b:
        b = b.swapaxes(-1, -2)  # (..., M, K) -> (..., K, M)
    return np.matmul(a, b, out=out)  # (..., N, M)
