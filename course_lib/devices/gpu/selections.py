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
    check_float32,
    check_indices,
    check_size,
    empty,
    kernel,
)  # fmt: skip

__all__ = "gather scatter_add argmax".split()

WARP = 32


def gather(x, indices):
    check_indices("gather", "index", indices, x.shape[0])
    y = empty(x, (*indices.shape, *x.shape[1:]))
    check_size("gather", y.size)
    if y.size:
        word, C = WORDS[x.dtype.itemsize], math.prod(x.shape[1:])
        run = kernel("gather.cu", f"gather<{OF_SIZE[x.dtype.itemsize]}, {TYPES[indices.dtype.name]}>")
        run((blocks(y.size),), (THREADS,), (x.view(word), indices, y.view(word), indices.size, C))
    return y


def scatter_add(updates, indices, rows):
    inner = updates.shape[len(indices.shape) :]
    if updates.shape[: len(indices.shape)] != indices.shape:
        raise ValueError(
            f"scatter_add wants one update for each index, but was given updates {updates.shape} and indices "
            f"{indices.shape}."
        )
    check_indices("scatter_add", "index", indices, rows)
    if updates.dtype.kind == "f":
        check_float32("scatter_add", updates)
    y = empty(updates, (rows, *inner))
    check_size("scatter_add", max(updates.size, y.size))
    if not y.size:
        return y
    C, kind = math.prod(inner), TYPES[updates.dtype.name]
    if indices.size <= configuration.SCANNED:
        run = kernel("scatter_add.cu", f"scatter_add<{kind}, {TYPES[indices.dtype.name]}>")
        run((rows, blocks(C, WARP)), (WARP,), (updates, indices, y, indices.size, C))
    else:
        places, starts = sort_by_row(indices, rows)
        run = kernel("scatter_add.cu", f"scatter_add_sorted<{kind}>")
        run((blocks(y.size),), (THREADS,), (updates, places, starts, y, rows, C))
    return y


def argmax(x, axis=-1):
    if not -len(x.shape) <= axis < len(x.shape):
        raise ValueError(f"argmax: axis {axis} does not exist in an array of shape {x.shape}.")
    axis %= len(x.shape)
    if not x.shape[axis]:
        raise ValueError(f"argmax of an axis without elements has no answer; the array has shape {x.shape}.")
    if x.dtype.kind == "f":
        check_float32("argmax", x)
    y = empty(x, x.shape[:axis] + x.shape[axis + 1 :], np.int64)
    check_size("argmax", x.size)
    if y.size:
        run = kernel("argmax.cu", f"argmax<{TYPES[x.dtype.name]}>")
        run((blocks(y.size),), (THREADS,), (x, y, y.size, x.shape[axis], math.prod(x.shape[axis + 1 :])))
    return y
