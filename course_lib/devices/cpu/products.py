"""Matrix products, by loops/gemm.cpp or NumPy, and the layers that are little more than one."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from ..checks import matmul_shape
from . import arithmetic, bfloat16
from .compiled import WIDE, loops, pointers
from .memory import empty

__all__ = "matmul linear_forward linear_backward linear_backward_input embedding_forward embedding_backward".split()

# Multiply-adds. A smaller product is done before a second thread has woken up, and here NumPy's BLAS uses one thread too.
SMALL = 1 << 18
# Apple's BLAS computes on units that plain C++ does not reach, and its threads do not spin.
OURS = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"] != "accelerate"
CLEARLY = 1.2  # times as fast as float32, or bfloat16 is not worth the rounding


def matmul(a, b, transpose_a=False, transpose_b=False, out=None):
    if out is None:
        out = empty(matmul_shape(a, b, transpose_a, transpose_b), a.dtype)  # (..., N, M)
    if not out.flags.c_contiguous:
        out[...] = matmul(a, b, transpose_a, transpose_b)
        return out
    if out.size and a.shape[:-2] == b.shape[:-2] and not bfloat16.is_wanted(a, b, out):  # one call for the whole batch
        multiply(a, b, transpose_a, transpose_b, out)
        return out
    a, b = (np.broadcast_to(x, (*out.shape[:-2], *x.shape[-2:])) for x in (a, b))
    for at in np.ndindex(out.shape[:-2]):
        layer_product(a[at], b[at], transpose_a, transpose_b, out[at])
    return out


def multiply(a, b, transpose_a, transpose_b, out):
    """out (*n, N, M) = a @ b, each transposed if asked. By our loops, for the threads of NumPy's BLAS spin while they wait, which
    costs a busy machine dearly; by the BLAS where there are no loops, and what is small or of another dtype."""
    N, M = out.shape[-2:]
    K = a.shape[-2 if transpose_a else -1]
    if hasattr(loops, "gemm") and OURS and N * M * K > SMALL and a.dtype == b.dtype == out.dtype and a.dtype in WIDE:
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        loops.gemm(WIDE[a.dtype], transpose_a, transpose_b, out.size // (N * M), N, K, M, *pointers(a, b, out))
    else:
        np.matmul(a.mT if transpose_a else a, b.mT if transpose_b else b, out=out)


def layer_product(a, b, transpose_a, transpose_b, out):
    """The same, in bfloat16 if that is what layers are to be computed in."""
    if bfloat16.is_wanted(a, b, out):
        bfloat16.product(a, b, transpose_a, transpose_b, out)
    else:
        multiply(a, b, transpose_a, transpose_b, out)


@cache
def bfloat16_is_faster(channels: int) -> bool:
    """Whether linear layers are clearly faster in bfloat16 here, by measuring the first of an MLP: a tenth of a second, once.

    (There are processors with the instruction on which float32 is faster.)
    """
    if not bfloat16.instruction():
        return False
    x, weight, y = (
        np.ones(shape, np.float32) for shape in ((1024, channels), (4 * channels, channels), (1024, 4 * channels))
    )
    times: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    for _ in range(6):
        for kind, taken in times.items():
            with bfloat16.computing(kind):
                began = time.perf_counter()
                layer_product(x, weight, False, True, y)  # (n, K) (N, K)^T -> (n, N)
                taken.append(time.perf_counter() - began)
    return min(times["float32"]) > CLEARLY * min(times["bfloat16"])


def product(x, weight):
    """x (*n, K) @ weight (N, K) transposed -> (*n, N)."""
    y = empty((*x.shape[:-1], weight.shape[0]), x.dtype)
    N, K = weight.shape
    layer_product(x.reshape(-1, K), weight, False, True, y.reshape(-1, N))  # (n, K) @ (K, N)
    return y


def linear_forward(x, weight, bias):
    y = product(x, weight)  # (*n, N)
    if bias is not None:
        y += bias
    return y


def linear_backward_input(dy, x, weight):
    N, K = weight.shape
    dx = empty(x.shape, x.dtype)
    layer_product(dy.reshape(-1, N), weight, False, False, dx.reshape(-1, K))  # (n, N) @ (N, K) -> (n, K)
    return dx


def linear_gradients(dy, x, weight):
    """dx (*n, K), dweight (N, K), and dy as rows (n, N)."""
    N, K = weight.shape
    dx, rows = linear_backward_input(dy, x, weight), dy.reshape(-1, N)  # (*n, K), (n, N)
    dweight = empty(weight.shape, weight.dtype)
    layer_product(rows, x.reshape(-1, K), True, False, dweight)  # (N, n) @ (n, K) -> (N, K)
    return dx, dweight, rows


def linear_backward(dy, x, weight, has_bias):
    dx, dweight, rows = linear_gradients(dy, x, weight)
    return dx, dweight, rows.sum(axis=0) if has_bias else None


def embedding_forward(table, indices):
    return arithmetic.gather(table, indices)  # (V, C), (*n) -> (*n, C)


def embedding_backward(dy, indices, rows):
    return arithmetic.scatter_add(dy, indices, rows)  # (*n, C), (*n) -> (rows, C)
