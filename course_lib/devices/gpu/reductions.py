"""Sums, maxima and the global norm: kernels/reduce_rows.cu, reduce_columns.cu and global_norm.cu."""

from __future__ import annotations

import builtins

import numpy as np

from .. import axes
from . import configuration
from .launching import (
    THREADS,
    TYPES,
    address,
    blocks,
    check_size,
    empty,
    instances,
    is_host,
    kernel,
    vector_width,
    zeros,
)  # fmt: skip
from .storage import cast, fill

__all__ = "sum max global_norm".split()

MOST_IN_Y = 65535  # blocks along y of one launch

# struct Gradients of global_norm.cu, and the elements of one of its blocks.
MOST, EACH = 240, 8192
GRADIENTS = np.dtype(
    [("array", np.uint64, MOST), ("size", np.int32, MOST), ("end", np.int32, MOST), ("count", np.int32)], align=True
)


def _rows(functor: str, x, dtype: np.dtype, rows: int, K: int):
    """x (rows, K) -> y (rows)."""

    def launch(x, K: int, parts: int, each: int):
        width = vector_width(x) if x.dtype == np.float32 and K % 4 == 0 else 1
        lanes = configuration.reduce_lanes(is_host(x), each)
        y = empty(x, (rows * parts,), dtype)
        check_size("a reduction", rows * parts * lanes)
        instances("reduce_rows.cu", *(f"reduce_rows<Sum, float, float, {n}, {lanes}>" for n in (4, 1)))
        types = f"{TYPES[x.dtype.name]}, {TYPES[dtype.name]}"
        run = kernel("reduce_rows.cu", f"reduce_rows<{functor}, {types}, {width}, {lanes}>")
        arguments = (x, y, axes.neutral(functor, dtype), rows, K, parts, each)
        run((blocks(rows * parts * lanes),), (THREADS,), arguments)
        return y

    return axes.in_parts(x, K, lambda K: configuration.PART, launch)


def _columns(functor: str, x, dtype: np.dtype, outer: int, K: int, inner: int):
    """x (outer, K, inner) -> y (outer, inner)."""
    columns = outer * inner
    if not columns or not K:
        return zeros(x, (columns,), dtype)
    threads = builtins.min(THREADS, 32 * blocks(columns, 32))

    def launch(x, K: int, parts: int, each: int):
        y = empty(x, (columns * parts,), dtype)
        instances("reduce_columns.cu", "reduce_columns<Sum, float, float>", "reduce_columns<Max, float, float>")
        run = kernel("reduce_columns.cu", f"reduce_columns<{functor}, {TYPES[x.dtype.name]}, {TYPES[dtype.name]}>")
        grid = blocks(columns, threads), builtins.min(parts, MOST_IN_Y)
        run(grid, (threads,), (x, y, axes.neutral(functor, dtype), outer, K, inner, parts, each))
        return y

    return axes.in_parts(x, K, lambda K: configuration.column_part(is_host(x), columns, K), launch)


sum, max, sum_columns = axes.ops(_rows, _columns, cast, zeros)


def global_norm(arrays):
    lists = [array for array in arrays if array.size]
    threads = configuration.norm_threads(is_host(arrays[0]))
    count = builtins.sum(blocks(array.size, EACH) for array in lists)
    y = empty(arrays[0], (1,))
    if not count:
        return fill(y, 0.0)
    partial = empty(arrays[0], (count,))
    instances("global_norm.cu", f"global_norm_squares<{threads}>", f"global_norm_root<{threads}>")
    done = 0
    for start in range(0, len(lists), MOST):
        gradients, end = np.zeros((), GRADIENTS), 0
        for i, array in enumerate(lists[start : start + MOST]):
            end += blocks(array.size, EACH)
            gradients["array"][i], gradients["size"][i], gradients["end"][i] = address(array), array.size, end
            gradients["count"] = i + 1
        squares = kernel("global_norm.cu", f"global_norm_squares<{threads}>")
        squares((end,), (threads,), (gradients[()], partial, done))
        done += end
    kernel("global_norm.cu", f"global_norm_root<{threads}>")((1,), (threads,), (partial, y, count))
    return y
