"""Matrix products and the linear layer: kernels/gemm.wgsl."""

from __future__ import annotations

import math

from ..checks import matmul_shape
from ..layout import blocks, broadcast_strides, collapse_within
from .adapter import limit
from .launching import empty, kernel
from .reductions import sum_columns
from .storage import zeros

__all__ = "matmul linear_forward linear_backward linear_backward_input".split()

TILE, BATCH_AXES = 64, 4  # as in gemm.wgsl


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    shape = matmul_shape(a, b, transpose_a, transpose_b)  # (..., N, M)
    y = empty(a, shape) if out is None else out
    leading = shape[:-2]
    strides = (broadcast_strides(x.shape[:-2], leading) for x in (a, b))
    sizes, steps = collapse_within("matmul", BATCH_AXES, leading, *strides)
    ones = [1] * (BATCH_AXES - len(sizes))
    of_a, of_b = (
        [0] * len(ones) + [step * x.shape[-2] * x.shape[-1] for step in steps_of]
        for x, steps_of in zip((a, b), steps, strict=True)
    )
    _product(a, b, y, transpose_a, transpose_b, (ones + sizes, of_a, of_b))
    return y


def _product(a, b, y, transpose_a=False, transpose_b=False, batch=((1,) * 4, (0,) * 4, (0,) * 4), bias=None):
    """y (..., N, M) = a (..., N, K) b (..., K, M) + bias (M). batch: sizes of the leading axes, and the strides of a and b."""
    N, M = y.shape[-2:]
    K = a.shape[-2] if transpose_a else a.shape[-1]
    if not y.size:
        return
    a_step, b_step = (
        (1, x.shape[-1]) if transposed else (x.shape[-1], 1) for x, transposed in ((a, transpose_a), (b, transpose_b))
    )
    run = kernel("gemm.wgsl", "gemm", A_ROWS=not transpose_a, B_ROWS=not transpose_b, BIAS=bias is not None)
    arguments = {
        "a": a, "b": b, "bias": b if bias is None else bias, "y": y,
        "batch": batch[0], "a_batch": batch[1], "b_batch": batch[2], "N": N, "M": M, "K": K,
        "a_row": a_step[0], "a_column": a_step[1], "b_row": b_step[0], "b_column": b_step[1],
    }  # fmt: skip
    most = limit("max-compute-workgroups-per-dimension")
    matrices = math.prod(batch[0])
    for first in range(0, matrices, most):
        run((blocks(M, TILE), blocks(N, TILE), min(most, matrices - first)), **arguments, first=first)


def linear_forward(x, weight, bias):
    (N, K), rows = weight.shape, math.prod(x.shape[:-1])
    y = empty(x, (*x.shape[:-1], N))  # (*n, K), (N, K) -> (*n, N)
    _product(x.reshape(rows, K), weight, y.reshape(rows, N), transpose_b=True, bias=bias)
    return y


def linear_backward_input(dy, x, weight):
    (N, K), rows = weight.shape, math.prod(dy.shape[:-1])
    dx = empty(x, x.shape)
    _product(dy.reshape(rows, N), weight, dx.reshape(rows, K))  # (n, N) @ (N, K) -> (n, K)
    return dx


def linear_backward(dy, x, weight, has_bias):
    (N, K), rows = weight.shape, math.prod(dy.shape[:-1])
    dx, dweight = linear_backward_input(dy, x, weight), empty(weight, (N, K))
    dy, x = dy.reshape(rows, N), x.reshape(rows, K)
    _product(dy, x, dweight, transpose_a=True)  # (N, n) @ (n, K) -> (N, K)
    dbias = (sum_columns(dy) if rows else zeros((N,))) if has_bias else None  # (N)
    return dx, dweight, dbias
