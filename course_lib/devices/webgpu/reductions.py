"""Sums, maxima and the global norm: kernels/reduce_rows.wgsl, reduce_columns.wgsl and global_norm.wgsl."""

from __future__ import annotations

import numpy as np

from .. import axes
from ..layout import blocks
from .launching import empty, kernel
from .memory import TYPES
from .storage import cast, fill, stored, zeros

__all__ = "sum max global_norm".split()

PART = 4096  # elements of a row to a workgroup
ROWS = 128  # rows of a column to a thread
SQUARES = 8192  # elements of a gradient to a workgroup, as in global_norm.wgsl


def _merging(file: str, name: str, functor: str, x, dtype: np.dtype):
    nothing = axes.neutral(functor, x.dtype)
    bits = int(stored(np.array([nothing])).view(np.uint32)[0]) if x.dtype != np.int64 else 2**31 * (functor == "Max")
    return kernel(file, name, T=TYPES[dtype.name], MAX=functor == "Max"), bits


def _rows(functor: str, x, dtype: np.dtype, rows: int, K: int):
    """x (rows, K) -> y (rows)."""

    def launch(x, K: int, parts: int, each: int):
        y = empty(x, (rows * parts,), dtype)
        run, nothing = _merging("reduce_rows.wgsl", "reduce_rows", functor, x, dtype)
        run(rows * parts, x=x, y=y, nothing=nothing, rows=rows, K=K, parts=parts, each=each)
        return y

    return axes.in_parts(x, K, lambda K: PART, launch)


def _columns(functor: str, x, dtype: np.dtype, outer: int, K: int, inner: int):
    """x (outer, K, inner) -> y (outer, inner)."""
    if not outer * K * inner:
        return zeros((outer * inner,), dtype)

    def launch(x, K: int, parts: int, each: int):
        y = empty(x, (outer * parts * inner,), dtype)
        run, nothing = _merging("reduce_columns.wgsl", "reduce_columns", functor, x, dtype)
        sizes = {"outer": outer, "K": K, "inner": inner, "parts": parts, "each": each}
        run(blocks(y.size), x=x, y=y, nothing=nothing, **sizes)
        return y

    return axes.in_parts(x, K, lambda K: ROWS, launch)


sum, max, sum_columns = axes.ops(_rows, _columns, cast, lambda x, shape, dtype: zeros(shape, dtype))


def global_norm(arrays):
    lists = [array for array in arrays if array.size]
    y = empty(arrays[0], (1,))
    if not lists:
        return fill(y, 0.0)
    ends = np.cumsum([blocks(array.size, SQUARES) for array in lists]).tolist()
    partial = empty(y, (ends[-1],))
    for array, start in zip(lists, [0, *ends], strict=False):
        run = kernel("global_norm.wgsl", "global_norm_squares")
        run(blocks(array.size, SQUARES), x=array, partial=partial, n=array.size, first=start)
    kernel("global_norm.wgsl", "global_norm_root")(1, squares=partial, y=y, n=ends[-1], first=0)
    return y
