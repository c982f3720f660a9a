"""Dropout: kernels/dropout.wgsl."""

from __future__ import annotations

from ..checks import dropout_threshold
from ..gpu.launching import blocks, check_float32, check_size
from .launching import empty, kernel
from .storage import fill

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
    if threshold == 2**32:  # no word is as large
        return fill(y, 0.0)
    if x.size:
        numbers = {"threshold": threshold, "scale": 1 / (1 - probability), "site": site, "n": x.size}
        kernel("dropout.wgsl", "dropout")(blocks(x.size, 4 * 256), x=x, random=random, y=y, **numbers)
    return y
