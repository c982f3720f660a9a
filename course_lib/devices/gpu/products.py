"""Matrix products, linear layers, and linear layers with what follows them: kernels/gemm.cu and kernels/gemm_bf16.cu.

All arrays of a product are float32, or all are bfloat16 (of that dtype, or its bits in uint16); then sums are float32, biases
and weights' gradients too, and results are bfloat16 unless `out=` is float32.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from .. import contract
from ..checking import check
from ..checks import check_size, is_bfloat16, matmul_shape
from . import product_tiles, reductions
from .launching import LIMITS, THREADS, blocks, empty, is_host, kernel, or_null
from .storage import from_bfloat16

__all__ = "matmul linear_forward linear_backward linear_backward_input".split()

MOST_IN_Z = 65535  # blocks along z of one launch
# Of the epilogues those that are part of no op, and so behind no check: they ask by a line as the contract's.
EPILOGUES = contract.read("""
    linear_residual(x (*n, K), weight (N, K), bias (N) or None, residual (*n, N)) -> y (*n, N)
    linear_row_scale(x (*n, K), weight (N, K), scale (*n)) -> y (*n, N)
""")


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    shape = matmul_shape(a, b, transpose_a, transpose_b)  # (..., M, N)
    c = empty(a, shape) if out is None else out
    if c.size:
        _broadcast(a, b, c, transpose_a, transpose_b)
    return c


def _broadcast(a, b, c, transpose_a: bool, transpose_b: bool) -> None:
    """c = a b, leading axes broadcast: one launch where a and b step evenly, else one for each index of the first axis."""
    axes, (M, N) = len(c.shape), c.shape[-2:]
    many_a, many_b, many = (math.prod(x.shape[:-2]) for x in (a, b, c))
    if not transpose_a and many_b == 1:  # the leading axes of a are more of its rows
        many_a, many, M = 1, 1, many * M
    if {many_a, many_b} <= {1, many}:
        K = b.shape[-1] if transpose_b else b.shape[-2]
        _products(a, b, c, M, N, K, transpose_a, transpose_b, many_a, many_b, many)
        return
    a, b = (x.reshape((1,) * (axes - len(x.shape)) + x.shape) for x in (a, b))
    for i in range(c.shape[0]):
        _broadcast(a[i % a.shape[0]], b[i % b.shape[0]], c[i], transpose_a, transpose_b)


def _products(a, b, c, M, N, K, transpose_a, transpose_b, many_a=1, many_b=1, many=1) -> None:
    """`many` products (M, K) (K, N) into c; a and b hold as many matrices, or one that serves for all."""
    can_split = many == 1 and c.dtype == np.float32  # parts of a sum are added in float32
    tile, split = product_tiles.gemm_tile(is_host(c), is_bfloat16(a.dtype), M, N, K, many, can_split)
    flags = bool(transpose_a), bool(transpose_b)
    if split < K:
        splits = blocks(K, split)
        partial = empty(c, (splits, M, N))
        _launch("", flags, tile, a, c, M, N, splits, (a, b, partial, M, N, K, 0, 0, split))
        check_size("matmul", c.size)
        kernel("gemm_split_sum.cu", "gemm_split_sum")((blocks(c.size),), (THREADS,), (partial, c, c.size, splits))
        return
    stride_a, stride_b = M * K * (many_a > 1), K * N * (many_b > 1)
    for first in range(0, many, MOST_IN_Z):
        count = min(MOST_IN_Z, many - first)
        arrays = (_from(a, first * stride_a), _from(b, first * stride_b), _from(c, first * M * N))
        _launch("", flags, tile, a, c, M, N, count, (*arrays, M, N, K, stride_a, stride_b, 0))


def _launch(epilogue: str, flags: tuple[bool, ...], tile, x, y, M: int, N: int, many: int, args: tuple) -> None:
    """One launch of gemm.cu, or of gemm_bf16.cu where x is bfloat16 (y is then bfloat16 or float32)."""
    run = kernel(*_instance(epilogue, flags, tile, is_bfloat16(x.dtype), is_bfloat16(y.dtype)))
    run((blocks(N, tile.BN), blocks(M, tile.BM), many), (tile.threads,), args, tile.shared_mem)


@cache
def _instance(epilogue: str, flags: tuple[bool, ...], tile, bf16: bool, bf16_out: bool) -> tuple[str, str]:
    """File and name of the kernel for one epilogue, its layouts and its tile."""
    words = [str(flag).lower() for flag in flags] + [str(size) for size in tile]
    if bf16:
        words.insert(0, "__nv_bfloat16" if bf16_out else "float")
    name = "gemm_bf16" if bf16 else "gemm"
    return f"{name}.cu", f"{name}{epilogue}<{', '.join(words)}>"


def _from(array, first: int):
    """The elements from `first` on, flat."""
    return array.reshape(-1)[first:] if first else array


# Linear layers: y = x weight^T + bias, x (*n, K), weight (N, K), bias (N) or None.


def linear_forward(x, weight, bias):
    y = empty(x, (*x.shape[:-1], weight.shape[0]))  # (*n, N)
    linear_into(y, x, weight, bias)
    return y


def linear_into(y, x, weight, bias) -> None:
    """The same into y (*n, N), which may be float32 where x and weight are bfloat16."""
    _linear("_bias", x, weight, (or_null(bias), y), y)


def linear_backward_input(dy, x, weight):
    rows = dy.reshape(math.prod(x.shape[:-1]), weight.shape[0])
    return matmul(rows, weight).reshape(x.shape)  # (n, N) (N, K) -> (n, K)


def linear_backward(dy, x, weight, has_bias):
    N, K = weight.shape
    n = math.prod(x.shape[:-1])
    rows, x_rows = dy.reshape(n, N), x.reshape(n, K)
    dx = matmul(rows, weight).reshape(x.shape)  # (n, N) (N, K) -> (n, K)
    dweight = matmul(rows, x_rows, transpose_a=True, out=empty(x, (N, K), "float32"))  # (n, N)^T (n, K) -> (N, K)
    if not has_bias:
        return dx, dweight, None
    rows = from_bfloat16(rows) if is_bfloat16(rows.dtype) else rows
    return dx, dweight, reductions.sum(rows, axis=0)  # (n, N) -> (N)


# Linear layers with their epilogue: one launch in which the product never leaves the registers before it is finished.


def linear_gelu(x, weight, bias):
    """y = gelu(pre), pre = x weight^T + bias, which the backward pass needs. Returns y, pre, both (*n, N)."""
    y, pre = (empty(x, (*x.shape[:-1], weight.shape[0])) for _ in range(2))
    linear_gelu_into(y, pre, x, weight, bias)
    return y, pre


def linear_gelu_into(y, pre, x, weight, bias) -> None:
    """The same into y and pre (*n, N), which may be float32 where x and weight are bfloat16."""
    _linear("_gelu", x, weight, (or_null(bias), pre, y), y)


def linear_residual(x, weight, bias, residual):
    """y (*n, N) = x weight^T + bias + residual (*n, N)."""
    check(EPILOGUES["linear_residual"], LIMITS, {"x": x, "weight": weight, "bias": bias, "residual": residual})
    y = empty(x, residual.shape)
    _linear("_residual", x, weight, (or_null(bias), residual, y), y)
    return y


def linear_row_scale(x, weight, scale):
    """y (*n, N) = scale (*n) times the rows of x weight^T.

    With scale = the rstd of RMSNorm and weight = weight * gain this is a linear layer of the normalised x: a row's factor may
    wait until after the product.
    """
    check(EPILOGUES["linear_row_scale"], LIMITS, {"x": x, "weight": weight, "scale": scale})
    y = empty(x, (*x.shape[:-1], weight.shape[0]))
    _linear("_row_scale", x, weight, (scale, y), y)
    return y


def linear_logsumexp(x, weight, bias):
    """logits (*n, N) = x weight^T + bias, and their logsumexp (*n), found while the logits are made."""
    logits = empty(x, (*x.shape[:-1], weight.shape[0]))
    return logits, linear_logsumexp_into(logits, x, weight, bias)


def linear_logsumexp_into(logits, x, weight, bias):
    """The same into logits (*n, N), which may be float32 where x and weight are bfloat16; returns the logsumexp (*n)."""
    n, N = logits.shape[:-1], logits.shape[-1]
    M = math.prod(n)
    tile, _ = product_tiles.gemm_tile(is_host(x), is_bfloat16(x.dtype), M, N, x.shape[-1])
    parts = blocks(N, tile.BN) * (tile.BN // tile.warp_columns)
    logsumexp, part_m, part_l = (empty(x, shape, "float32") for shape in (n, (M, parts), (M, parts)))
    _linear("_logsumexp", x, weight, (or_null(bias), logits, part_m, part_l), logits)
    if M:
        merge = kernel("logsumexp_merge.cu", "logsumexp_merge")
        merge((blocks(M),), (THREADS,), (part_m, part_l, logsumexp, M, parts))
    return logsumexp


def _linear(epilogue: str, x, weight, others: tuple, y) -> None:
    """One launch of an epilogue: x (*n, K), weight (N, K), then what is the epilogue's own, y (*n, N) among it."""
    if y.size:
        N, K = weight.shape
        M = y.size // N
        tile, _ = product_tiles.gemm_tile(is_host(x), is_bfloat16(x.dtype), M, N, K)
        _launch(epilogue, (), tile, x, y, M, N, 1, (x, weight, *others, M, N, K))
