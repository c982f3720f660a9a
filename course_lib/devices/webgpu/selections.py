"""Picks by index, and the embedding: kernels/gather.wgsl, sort_by_row.wgsl, scatter_add.wgsl and argmax.wgsl."""

from __future__ import annotations

import math

import numpy as np

from ..checks import check_range, fit
from ..gpu.launching import blocks, check_float32, check_size
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
    found = to_numpy(indices)
    if ignore is not None:
        found = found[found != ignore]
    if found.size:
        check_range(op, what, int(found.min()), int(found.max()), size)


def argmax(x, axis=-1):
    axes = x.ndim
    if not -axes <= axis < axes:
        raise ValueError(f"argmax: axis {axis} does not exist in an array of {axes} axes.")
    axis %= axes
    if not x.shape[axis]:
        raise ValueError(f"argmax of no elements has no answer; the array has shape {x.shape}.")
    y = empty(x, x.shape[:axis] + x.shape[axis + 1 :], np.int64)
    check_size("argmax", x.size)
    if y.size:
        inner = math.prod(x.shape[axis + 1 :])
        run = kernel("argmax.wgsl", "argmax", T=TYPES[x.dtype.name])
        run(blocks(y.size), x=x, y=y, K=x.shape[axis], inner=inner, n=y.size)
    return y


def _pick(op: str, x, indices):
    """Rows of x by index; a row has any number of axes."""
    check_indices(op, "index", indices, x.shape[0])
    y = empty(x, (*indices.shape, *x.shape[1:]))
    check_size(op, y.size)
    if y.size:
        C = math.prod(x.shape[1:])
        kernel("gather.wgsl", "gather")(blocks(y.size), x=x, indices=indices, y=y, rows=x.shape[0], C=C, n=indices.size)
    return y


def _add_by_row(op: str, updates, indices, rows: int):
    check_indices(op, "index", indices, rows)
    y = empty(updates, (rows, *updates.shape[indices.ndim :]))
    check_size(op, max(updates.size, y.size))
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


def gather(x, indices):
    return _pick("gather", x, indices)


def scatter_add(updates, indices, rows):
    if updates.shape[: indices.ndim] != indices.shape:
        raise ValueError(
            f"scatter_add wants one update for each index, but was given updates {updates.shape} and indices "
            f"{indices.shape}."
        )
    return _add_by_row("scatter_add", updates, indices, rows)


def embedding_forward(table, indices):
    fit("embedding_forward", "table (V, C)", table)
    check_float32("embedding_forward", table)
    return _pick("embedding_forward", table, indices)  # (V, C), (*n) -> (*n, C)


def embedding_backward(dy, indices, rows):
    if dy.shape[:-1] != indices.shape:
        raise ValueError(
            f"embedding_backward wants dy (*n, C) for indices (*n), but was given {dy.shape} and {indices.shape}."
        )
    check_float32("embedding_backward", dy)
    return _add_by_row("embedding_backward", dy, indices, rows)  # (*n, C), (*n) -> (rows, C)
