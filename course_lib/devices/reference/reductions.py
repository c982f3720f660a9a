"""Sums, maxima, selections by index, and the matrix product."""

from __future__ import annotations

import numpy as np

from ..checks import check_out, check_range, matmul_shape

__all__ = "sum max argmax gather scatter_add matmul".split()


def sum(x, axis=None, keepdims=False):
    return np.asarray(np.sum(x, axis=axis, keepdims=keepdims))


def max(x, axis=None, keepdims=False):
    return np.asarray(np.max(x, axis=axis, keepdims=keepdims))


def argmax(x, axis=-1):
    return np.asarray(np.argmax(x, axis=axis), dtype=np.int64)


def _check_indices(op, indices, rows):
    if indices.size:
        check_range(op, "index", int(indices.min()), int(indices.max()), rows)


def gather(x, indices):
    _check_indices("gather", indices, x.shape[0])
    return np.asarray(np.take(x, indices, axis=0))  # (R, ...), (*I) -> (*I, ...)


def scatter_add(updates, indices, rows):
    inner = updates.shape[indices.ndim :]
    if updates.shape[: indices.ndim] != indices.shape:
        raise ValueError(
            f"scatter_add wants one update for each index, but was given updates {updates.shape} and indices "
            f"{indices.shape}."
        )
    _check_indices("scatter_add", indices, rows)
    result = np.zeros((rows, *inner), updates.dtype)
    np.add.at(result, indices, updates)  # result[indices] += updates would count a repeated index once
    return result


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    shape = matmul_shape(a, b, transpose_a, transpose_b)  # (..., N, M)
    check_out("matmul", out, shape, np.result_type(a, b))
    if transpose_a:
        a = a.swapaxes(-1, -2)  # (..., K, N) -> (..., N, K)
    if transpose_b:
        b = b.swapaxes(-1, -2)  # (..., M, K) -> (..., K, M)
    return np.matmul(a, b, out=out)
