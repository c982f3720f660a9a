"""GELU, bias + GELU, SwiGLU: kernels/gelu.cu, bias_gelu.cu and swiglu.cu."""

from __future__ import annotations

import math

from . import configuration
from .launching import THREADS, blocks, empty, instances, is_host, kernel, vector_width
from .reductions import sum_columns

__all__ = "gelu_forward gelu_backward bias_gelu_forward bias_gelu_backward swiglu_forward swiglu_backward".split()


def gelu_forward(x):
    y = empty(x, x.shape)
    _elementwise("gelu.cu", "gelu_forward", x, y)
    return y


def gelu_backward(dy, x):
    dx = empty(x, x.shape)
    _elementwise("gelu.cu", "gelu_backward", dy, x, dx)
    return dx


def _elementwise(file: str, name: str, *arrays) -> None:
    """A kernel template of one number, the vector_width that one instruction moves, on arrays of one size."""
    size = arrays[-1].size
    if size:
        width = vector_width(*arrays)
        instances(file, f"{name}<4>", f"{name}<1>")
        kernel(file, f"{name}<{width}>")((blocks(size, THREADS * width),), (THREADS,), (*arrays, size))


def bias_gelu_forward(x, bias):
    y = empty(x, x.shape)
    if x.size:
        F = bias.size
        width, grid, block = _columns(x, F, x, bias, y)
        _bias_gelu("bias_gelu_forward", width)(grid, block, (x, bias, y, x.size // F, F))
    return y


def bias_gelu_backward(dy, x, bias):
    rows, F = math.prod(x.shape[:-1]), bias.size
    dx = empty(x, x.shape)
    partial = empty(x, (configuration.bias_rows(is_host(x), rows, 1) if x.size else 0, F))
    if x.size:
        width, grid, block = _columns(x, F, dy, x, bias, dx, partial)
        partial = partial[: grid[1]]
        _bias_gelu("bias_gelu_backward", width)(grid, block, (dy, x, bias, dx, partial, rows, F))
    return dx, sum_columns(partial)


def _bias_gelu(name: str, width: int):
    instances("bias_gelu.cu", *(f"bias_gelu_{way}ward<{n}>" for way in ("for", "back") for n in (4, 1)))
    return kernel("bias_gelu.cu", f"{name}<{width}>")


def _columns(x, F: int, *arrays):
    """Neighbours to a thread, grid and block where a thread owns columns of x (*n, F) and loops over the rows."""
    width = _width(F, *arrays)
    threads = min(THREADS, 32 * blocks(F // width, 32))
    across = blocks(F // width, threads)
    return width, (across, configuration.bias_rows(is_host(x), x.size // F, across)), (threads,)


def _width(F: int, *arrays) -> int:
    """How many elements of a row of F one instruction moves: 4 if no row breaks them apart."""
    return vector_width(*arrays) if F % 4 == 0 else 1


def _swiglu(name: str, F: int, *arrays) -> None:
    size = arrays[0 if name == "swiglu_backward" else -1].size  # of y
    if size:
        width = _width(F, *arrays)
        instances("swiglu.cu", *(f"swiglu_{way}ward<{n}>" for way in ("for", "back") for n in (4, 1)))
        kernel("swiglu.cu", f"{name}<{width}>")((blocks(size, THREADS * width),), (THREADS,), (*arrays, size, F))


def swiglu_forward(x):
    F = x.shape[-1] // 2
    y = empty(x, (*x.shape[:-1], F))
    _swiglu("swiglu_forward", F, x, y)
    return y


def swiglu_backward(dy, x):
    dx = empty(x, x.shape)
    _swiglu("swiglu_backward", x.shape[-1] // 2, dy, x, dx)
    return dx
