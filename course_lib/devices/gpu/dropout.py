"""Dropout: kernels/dropout.cu."""

from __future__ import annotations

from ..checks import dropout_threshold
from .launching import THREADS, blocks, check_float32, check_size, empty, kernel

__all__ = "dropout_forward dropout_backward".split()


def dropout_forward(x, probability, random, site):
    return _dropout("dropout_forward", x, probability, random, site)


def dropout_backward(dy, probability, random, site):
    return _dropout("dropout_backward", dy, probability, random, site)  # dx is dy times what y is of x


def _dropout(op: str, x, probability: float, random, site: int):
    threshold = dropout_threshold(op, probability, random)
    check_float32(op, x)
    check_size(op, x.size)
    y = empty(x, x.shape)
    if x.size:
        arguments = (x, random, y, threshold, 1 / (1 - probability), site, x.size)
        kernel("dropout.cu", "dropout")((blocks(x.size, 4 * THREADS),), (THREADS,), arguments)
    return y
