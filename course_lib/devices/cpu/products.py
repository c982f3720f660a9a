"""Matrix products, by loops/gemm.cpp or NumPy, and the layers that are little more than one."""

from __future__ import annotations

import numpy as np

from ..checks import check_out, fit, matmul_shape
from . import arithmetic
from .compiled import WIDE, loops, pointers
from .memory import empty

__all__ = "matmul linear_forward linear_backward embedding_forward embedding_backward".split()

# Multiply-adds. A smaller product is done before a second thread has woken up, and here NumPy's BLAS uses one thread too.
SMALL = 1 << 18
# Apple's BLAS computes on units that plain C++ does not reach, and its threads do not spin.
OURS = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"] != "accelerate"


def multiply(a, b, transpose_a, transpose_b, out):
    """out (N, M) = a @ b, each transposed if asked. By our loops, for the threads of NumPy's BLAS spin while they wait, which
    costs a busy machine dearly; by the BLAS where there are no loops, and what is small or of another dtype."""
    N, M = out.shape
    K = a.shape[0 if transpose_a else 1]
    if hasattr(loops, "gemm") and OURS and N * M * K > SMALL and a.dtype == b.dtype == out.dtype and a.dtype in WIDE:
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        loops.gemm(WIDE[a.dtype], transpose_a, transpose_b, N, K, M, *pointers("matmul", a, b, out))
    else:
        np.matmul(a.T if transpose_a else a, b.T if transpose_b else b, out=out)


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    shape = matmul_shape(a, b, transpose_a, transpose_b)  # (..., N, M)
    if out is None:
        out = empty(shape, np.result_type(a, b))
    else:
        check_out("matmul", out, shape, np.result_type(a, b))
    if a.ndim == b.ndim == 2 and out.flags.c_contiguous:
        multiply(a, b, transpose_a, transpose_b, out)
        return out
    return np.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b, out=out)


def product(x, weight, bias):
    """x (*n, K) @ weight (N, K) transposed -> (*n, N), shapes checked; the bias is left to the caller."""
    if x.ndim == 0 or weight.ndim != 2 or x.shape[-1] != weight.shape[1] or (
        bias is not None and bias.shape != weight.shape[:1]
    ):  # fmt: skip
        fit("linear_forward", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    y = empty((*x.shape[:-1], weight.shape[0]), x.dtype)
    multiply(x.reshape(-1, weight.shape[1]), weight, False, True, y.reshape(-1, weight.shape[0]))  # (n, K) @ (K, N)
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
    multiply(rows, weight, False, False, dx.reshape(-1, K))  # (n, N) @ (N, K) -> (n, K)
    dweight = empty(weight.shape, weight.dtype)
    multiply(rows, x.reshape(-1, K), True, False, dweight)  # (N, n) @ (n, K) -> (N, K)
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
