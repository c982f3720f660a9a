"""Picks by index: kernels/gather.cu, kernels/scatter_add.cu and kernels/argmax.cu."""

from __future__ import annotations

import math

import numpy as np

from . import configuration
from .embedding import sort_by_row
from .launching import (
    OF_SIZE,
    THREADS,
    TYPES,
    WORDS,
    blocks,
    empty,
    kernel,
)  # fmt: skip

__all__ = "gather scatter_add argmax".split()

WARP = 32


def gather(x, indices):
    y = empty(x, (*indices.shape, *x.shape[1:]))
    if y.size:
        word, C = WORDS[x.dtype.itemsize], math.prod(x.shape[1:])
        run = kernel("gather.cu", f"gather<{OF_SIZE[x.dtype.itemsize]}, {TYPES[indices.dtype.name]}>")
        run((blocks(y.size),), (THREADS,), (x.view(word), indices, y.view(word), indices.size, C))
    return y


def scatter_add(updates, indices, rows):
    inner = updates.shape[len(indices.shape) :]
    y = empty(updates, (rows, *inner))
    if not y.size:
        return y
    C, kind = math.prod(inner), TYPES[updates.dtype.name]
    if indices.size <= configuration.SCANNED:
        run = kernel("scatter_add.cu", f"scatter_add<{kind}, {TYPES[indices.dtype.name]}>")
        run((rows, blocks(C, WARP)), (WARP,), (updates, indices, y, indices.size, C))
    else:
        positions, starts = sort_by_row(indices, rows)
        run = kernel("scatter_add.cu", f"scatter_add_sorted<{kind}>")
        run((blocks(y.size),), (THREADS,), (updates, positions, starts, y, rows, C))
    return y


def argmax(x, axis=-1):
    axis %= len(x.shape)
    y = empty(x, x.shape[:axis] + x.shape[axis + 1 :], np.int64)
    if y.size:
        run = kernel("argmax.cu", f"argmax<{TYPES[x.dtype.name]}>")
        run((blocks(y.size),), (THREADS,), (x, y, y.size, x.shape[axis], math.prod(x.shape[axis + 1 :])))
    return y
