"""Picks by index, and the embedding: kernels/gather.wgsl, sort_by_row.wgsl, scatter_add.wgsl and argmax.wgsl."""

from __future__ import annotations

import math

import numpy as np

from .. import checking
from ..layout import MOST_ELEMENTS, blocks
from .launching import empty, kernel
from .memory import TYPES
from .storage import to_numpy

__all__ = "argmax gather scatter_add embedding_forward embedding_backward".split()


def check_indices(op: str, what: str, indices, size: int, ignore: int | None = None) -> None:
    """Raises IndexError unless all indices are in 0 .. size - 1, or equal to `ignore`.

    What came from the host and was not written since has its lowest and highest beside it; anything else is read back.
    """
    if not indices.size:
        return
    if indices.memory.range:
        lowest, highest = indices.memory.range
        if lowest >= 0 and highest < size:
            return
    checking.check_indices(op, what, to_numpy(indices), size, ignore)


LIMITS = checking.Limits(floats=("float32",), most=MOST_ELEMENTS, check_indices=check_indices)


def argmax(x, axis=-1):
    axis %= x.ndim
    y = empty(x, x.shape[:axis] + x.shape[axis + 1 :], np.int64)
    if y.size:
        inner = math.prod(x.shape[axis + 1 :])
        run = kernel("argmax.wgsl", "argmax", T=TYPES[x.dtype.name])
        run(blocks(y.size), x=x, y=y, K=x.shape[axis], inner=inner, n=y.size)
    return y


def gather(x, indices):
    y = empty(x, (*indices.shape, *x.shape[1:]))
    if y.size:
        C = math.prod(x.shape[1:])
        kernel("gather.wgsl", "gather")(blocks(y.size), x=x, indices=indices, y=y, rows=x.shape[0], C=C, n=indices.size)
    return y


def scatter_add(updates, indices, rows):
    y = empty(updates, (rows, *updates.shape[indices.ndim :]))
    if not y.size:
        return y
    n, C = indices.size, math.prod(updates.shape[indices.ndim :])
    starts, positions = empty(y, (rows + 1,), "uint32"), empty(y, (n,), "uint32")
    kernel("sort_by_row.wgsl", "count")(blocks(rows), indices=indices, starts=starts, rows=rows, n=n)
    kernel("sort_by_row.wgsl", "prefix_sum")(1, starts=starts, rows=rows, n=n)
    kernel("sort_by_row.wgsl", "sort")(
        blocks(rows), indices=indices, starts=starts, positions=positions, rows=rows, n=n
    )
    run = kernel("scatter_add.wgsl", "scatter_add", T=TYPES[y.dtype.name])
    run(blocks(y.size), updates=updates, starts=starts, positions=positions, y=y, rows=rows, C=C)
    return y


embedding_forward, embedding_backward = (
    gather,
    scatter_add,
)  # (V, C), (*n) -> (*n, C), and back with C sums for each row
