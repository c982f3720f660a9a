"""Matrix products, by the BLAS that comes with NumPy, and the layers that are little more than one."""

from __future__ import annotations

import numpy as np

from ..checks import check_out, fit, matmul_shape
from . import arithmetic
from .compiled import WIDE, loops, pointers
from .memory import empty

__all__ = "matmul linear_forward linear_backward embedding_forward embedding_backward".split()

SMALL = 1 << 18


def gemm(a, b, transpose_a, transpose_b, out):
    """out (..., N, M) = a @ b, each transposed if asked. Every product of this device goes through here."""
    if hasattr(loops, "gemm") and a.ndim == b.ndim == 2 and a.dtype == b.dtype == out.dtype and a.dtype in WIDE:
        N, M = out.shape
        K = a.shape[0 if transpose_a else 1]
        if N * M * K > SMALL:
            found = pointers("matmul", a, b, out)
            loops.gemm(WIDE[a.dtype], transpose_a, transpose_b, N, K, M, *found)
            return out
    return np.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b, out=out)


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    shape = matmul_shape(a, b, transpose_a, transpose_b)  # (..., N, M)
    if out is None:
        out = empty(shape, np.result_type(a, b))
    else:
        check_out("matmul", out, shape, np.result_type(a, b))
    return gemm(a, b, transpose_a, transpose_b, out)


def product(x, weight, bias):
    """x (*n, K) @ weight (N, K) transposed -> (*n, N), shapes checked; the bias is left to the caller."""
    if x.ndim == 0 or weight.ndim != 2 or x.shape[-1] != weight.shape[1] or (
        bias is not None and bias.shape != weight.shape[:1]
    ):  # fmt: skip
        fit("linear_forward", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    y = empty((*x.shape[:-1], weight.shape[0]), x.dtype)
    gemm(x.reshape(-1, weight.shape[1]), weight, False, True, y.reshape(-1, weight.shape[0]))  # (n, K) @ (K, N)
    return y


def linear_forward(x, weight, bias):
    y = product(x, weight, bias)  # (*n, N)
    if bias is not None:
        y += bias
    return y


def linear_gradients(dy, x, weight):
    """dx (*n, K), dweight (N, K), and dy as rows (n, N)."""
    N, K = weight.shape
    if dy.shape[-1:] != (N,) or x.shape[-1:] != (K,) or dy.shape[:-1] != x.shape[:-1]:
        fit("linear_backward", "dy (*n, N), x (*n, K), weight (N, K)", dy, x, weight)
    rows = dy.reshape(-1, N)  # (n, N)
    dx = empty(x.shape, x.dtype)
    gemm(rows, weight, False, False, dx.reshape(-1, K))  # (n, N) @ (N, K) -> (n, K)
    dweight = empty(weight.shape, weight.dtype)
    gemm(rows, x.reshape(-1, K), True, False, dweight)  # (N, n) @ (n, K) -> (N, K)
    return dx, dweight, rows


def linear_backward(dy, x, weight, has_bias):
    dx, dweight, rows = linear_gradients(dy, x, weight)
    return dx, dweight, rows.sum(axis=0) if has_bias else None


def embedding_forward(table, indices):
    if table.ndim != 2:
        fit("embedding_forward", "table (V, C)", table)
    return arithmetic.gather(table, indices)  # (V, C), (*n) -> (*n, C)


def embedding_backward(dy, indices, rows):
    if dy.ndim == 0:
        fit("embedding_backward", "dy (*n, C)", dy)
    return arithmetic.scatter_add(dy, indices, rows)  # (*n, C), (*n) -> (rows, C)
