"""Matrix products, linear layers, and linear layers with what follows them: kernels/gemm.cu."""

from __future__ import annotations

import math

from ..checks import check_out, fit, matmul_shape
from . import choices
from .launching import THREADS, blocks, check_float32, check_size, empty, is_host, kernel

__all__ = "matmul linear_forward linear_backward".split()

MOST_IN_Z = 65535  # blocks along z of one launch
NOTHING = 0  # the null pointer, where a layer has no bias


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    shape = matmul_shape(a, b, transpose_a, transpose_b)  # (..., M, N)
    check_float32("matmul", a, b)
    check_out("matmul", out, shape, a.dtype)
    c = empty(a, shape) if out is None else out
    if c.size:
        _broadcast(a, b, c, transpose_a, transpose_b)
    return c


def _broadcast(a, b, c, transpose_a: bool, transpose_b: bool) -> None:
    """c = a b, leading axes broadcast: one launch where a and b step evenly, else one for each place of the first axis."""
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
    if choices.matmul == "cublas" and not is_host(c):
        _cublas(a, b, c, M, N, K, transpose_a, transpose_b, many_a, many_b, many)
        return
    tile = choices.gemm_tile(is_host(c), M, N, many)
    split = choices.gemm_split(is_host(c), tile, M, N, K) if many == 1 else K
    flags = f"{str(transpose_a).lower()}, {str(transpose_b).lower()}"
    run = kernel("gemm.cu", f"gemm<{flags}, {tile.template}>")
    stride_a, stride_b = M * K * (many_a > 1), K * N * (many_b > 1)
    splits = blocks(K, split) if K else 1
    if splits > 1:
        partial = empty(c, (splits, M, N))
        run(_grid(tile, M, N, splits), (tile.threads,), (a, b, partial, M, N, K, 0, 0, split))
        check_size("matmul", c.size)
        kernel("gemm_split_sum.cu", "gemm_split_sum")((blocks(c.size),), (THREADS,), (partial, c, c.size, splits))
        return
    for first in range(0, many, MOST_IN_Z):
        count = min(MOST_IN_Z, many - first)
        args = (_from(a, first * stride_a), _from(b, first * stride_b), _from(c, first * M * N), M, N, K)
        run(_grid(tile, M, N, count), (tile.threads,), (*args, stride_a, stride_b, 0))


def _from(array, first: int):
    """The elements from `first` on, flat."""
    return array.reshape(-1)[first:] if first else array


def _grid(tile: choices.Tile, M: int, N: int, many: int = 1) -> tuple[int, int, int]:
    return blocks(N, tile.BN), blocks(M, tile.BM), many


def _cublas(a, b, c, M, N, K, transpose_a, transpose_b, many_a, many_b, many) -> None:
    """The same by CuPy, whose product is cuBLAS: for comparison only."""
    a = a.reshape((many_a, K, M) if transpose_a else (many_a, M, K))
    b = b.reshape((many_b, N, K) if transpose_b else (many_b, K, N))
    c.reshape(many, M, N)[...] = (a.swapaxes(1, 2) if transpose_a else a) @ (b.swapaxes(1, 2) if transpose_b else b)


# Linear layers: y = x weight^T + bias, x (*n, K), weight (N, K), bias (N) or None.


def linear_forward(x, weight, bias):
    sizes = fit("linear_forward", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    check_float32("linear_forward", x, weight, bias)
    y = empty(x, (*x.shape[:-1], sizes["N"]))  # (*n, N)
    _linear("gemm_bias", x, weight, (_or_nothing(bias), y), y.size)
    return y


def linear_backward(dy, x, weight, has_bias):
    sizes = fit("linear_backward", "dy (*n, N), x (*n, K), weight (N, K)", dy, x, weight)
    check_float32("linear_backward", dy, x, weight)
    N, K = sizes["N"], sizes["K"]
    n = math.prod(x.shape[:-1])
    rows, x_rows = dy.reshape(n, N), x.reshape(n, K)
    dx = matmul(rows, weight).reshape(x.shape)  # (n, N) (N, K) -> (n, K)
    dweight = matmul(rows, x_rows, transpose_a=True)  # (n, N)^T (n, K) -> (N, K)
    if not has_bias:
        return dx, dweight, None
    from .reductions import sum as column_sums

    return dx, dweight, column_sums(rows, axis=0)  # (n, N) -> (N)


# Linear layers with their epilogue: one launch in which the product never leaves the registers before it is finished.


def linear_gelu(x, weight, bias):
    """y = gelu(pre), pre = x weight^T + bias, which the backward pass needs. Returns y, pre, both (*n, N)."""
    sizes = fit("linear_gelu", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    check_float32("linear_gelu", x, weight, bias)
    y, pre = (empty(x, (*x.shape[:-1], sizes["N"])) for _ in range(2))
    _linear("gemm_gelu", x, weight, (_or_nothing(bias), pre, y), y.size)
    return y, pre


def linear_residual(x, weight, bias, residual):
    """y (*n, N) = x weight^T + bias + residual (*n, N)."""
    fit("linear_residual", "x (*n, K), weight (N, K), bias (N), residual (*n, N)", x, weight, bias, residual)
    check_float32("linear_residual", x, weight, bias, residual)
    y = empty(x, residual.shape)
    _linear("gemm_residual", x, weight, (_or_nothing(bias), residual, y), y.size)
    return y


def linear_row_scale(x, weight, scale):
    """y (*n, N) = scale (*n) times the rows of x weight^T.

    With scale = the rstd of RMSNorm and weight = weight * gain this is a linear layer of the normalised x: a row's factor may
    wait until after the product.
    """
    sizes = fit("linear_row_scale", "x (*n, K), weight (N, K), scale (*n)", x, weight, scale)
    check_float32("linear_row_scale", x, weight, scale)
    y = empty(x, (*x.shape[:-1], sizes["N"]))
    _linear("gemm_row_scale", x, weight, (scale, y), y.size)
    return y


def linear_logsumexp(x, weight, bias):
    """logits (*n, N) = x weight^T + bias, and their logsumexp (*n), found while the logits are made."""
    sizes = fit("linear_logsumexp", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    check_float32("linear_logsumexp", x, weight, bias)
    n, N = x.shape[:-1], sizes["N"]
    M = math.prod(n)
    tile = choices.gemm_tile(is_host(x), M, N)
    parts = blocks(N, tile.BN) * (tile.BN // (8 * tile.TN))  # a warp's lanes and their parts are 8 TN columns wide
    logits, logsumexp, tops, totals = (empty(x, shape) for shape in ((*n, N), n, (M, parts), (M, parts)))
    _linear("gemm_logsumexp", x, weight, (_or_nothing(bias), logits, tops, totals), logits.size)
    if M:
        merge = kernel("logsumexp_merge.cu", "logsumexp_merge")
        merge((blocks(M),), (THREADS,), (tops, totals, logsumexp, M, parts))
    return logits, logsumexp


def _linear(name: str, x, weight, others: tuple, size: int) -> None:
    """One launch of an epilogue of gemm.cu: x (*n, K), weight (N, K), then what is the epilogue's own."""
    if not size:
        return
    N, K = weight.shape
    M = size // N
    tile = choices.gemm_tile(is_host(x), M, N)
    kernel("gemm.cu", f"{name}<{tile.template}>")(_grid(tile, M, N), (tile.threads,), (x, weight, *others, M, N, K))


def _or_nothing(bias):
    return NOTHING if bias is None else bias
