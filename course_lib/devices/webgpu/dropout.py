"""Dropout: kernels/dropout.wgsl."""

from __future__ import annotations

from ..checks import dropout_threshold
from ..layout import blocks
from .launching import empty, kernel
from .storage import fill

__all__ = "dropout_forward dropout_backward".split()


def dropout_forward(x, probability, random, site):
    threshold = dropout_threshold(probability)
    y = empty(x, x.shape)
    if threshold == 2**32:  # no word is as large
        return fill(y, 0.0)
    if x.size:
        numbers = {"threshold": threshold, "scale": 1 / (1 - probability), "site": site, "n": x.size}
        kernel("dropout.wgsl", "dropout")(blocks(x.size, 4 * 256), x=x, random=random, y=y, **numbers)
    return y


def dropout_backward(dy, probability, random, site):
    return dropout_forward(dy, probability, random, site)  # dx is dy times what y is of x
