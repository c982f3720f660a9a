"""Dropout: kernels/dropout.cu."""

from __future__ import annotations

from ..checks import dropout_threshold
from .launching import THREADS, blocks, empty, kernel

__all__ = "dropout_forward dropout_backward".split()


def dropout_forward(x, probability, random, site):
    y = empty(x, x.shape)
    if x.size:
        arguments = (x, random, y, dropout_threshold(probability), 1 / (1 - probability), site, x.size)
        kernel("dropout.cu", "dropout")((blocks(x.size, 4 * THREADS),), (THREADS,), arguments)
    return y


def dropout_backward(dy, probability, random, site):
    return dropout_forward(dy, probability, random, site)  # dx is dy times what y is of x
