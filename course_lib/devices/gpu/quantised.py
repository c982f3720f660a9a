"""Linear layers with quantised weights: kernels/linear_int8.cu and kernels/linear_int4.cu."""

from __future__ import annotations

import math

from .launching import address, blocks, empty, kernel, or_null

__all__ = "linear_int8_forward linear_int4_forward".split()

WARPS = 4  # of a block, one for each output
MOST_IN_Y = 65535  # blocks along y of one launch


def linear_int8_forward(x, words, scales, bias):
    return _linear("linear_int8", x, words.shape[0], (words, scales, or_null(bias)))


def linear_int4_forward(x, words, scales, zeros, bias):
    return _linear("linear_int4", x, words.shape[0], (words, scales, or_null(zeros), or_null(bias)))


def _linear(name: str, x, N: int, weight: tuple):
    n, K = math.prod(x.shape[:-1]), x.shape[-1]
    y = empty(x, (*x.shape[:-1], N))  # (*n, N)
    if y.size:
        width = 4 if K % 4 == 0 and address(x) % 16 == 0 else 1
        run = kernel(f"{name}.cu", f"{name}<{width}>")
        run((blocks(N, WARPS), min(n, MOST_IN_Y)), (32 * WARPS,), (x, *weight, y, n, K, N))
    return y
