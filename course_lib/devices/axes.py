"""Which axes a sum or a maximum runs over, and in which steps: the same for kernels in CUDA C++ and in WGSL."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .layout import axis_index, blocks


def ops(rows: Callable, columns: Callable, cast: Callable, zeros: Callable) -> tuple[Callable, Callable, Callable]:
    """The ops sum and max of a device, and the sum (C) of the rows of x (n, C), by its functions:

    rows(functor, x, dtype, outer, K) -> (outer); columns(functor, x, dtype, outer, K, inner) -> (outer, inner);
    cast(x, dtype), a copy; zeros(x, shape, dtype), where x lies.
    """

    def reduce(op: str, functor: str, dtype: np.dtype, x, axis, keepdims: bool):
        shape = reduced_shape(op, x.shape, axis, keepdims)
        if not x.size:
            return zeros(x, shape, dtype)
        if math.prod(shape) == x.size:
            return cast(x, dtype).reshape(shape)
        for outer, K, inner in _runs(x.shape, _given(op, axis, len(x.shape))):
            x = rows(functor, x, dtype, outer, K) if inner == 1 else columns(functor, x, dtype, outer, K, inner)
        return x.reshape(shape)

    def sum(x, axis=None, keepdims=False):
        return reduce("sum", "Sum", x.dtype if x.dtype.kind == "f" else np.dtype(np.int64), x, axis, keepdims)

    def max(x, axis=None, keepdims=False):
        return reduce("max", "Max", x.dtype, x, axis, keepdims)

    def sum_columns(x):
        return columns("Sum", x, x.dtype, 1, *x.shape).reshape(x.shape[1])

    return sum, max, sum_columns


def reduced_shape(op: str, shape: tuple[int, ...], axis, keepdims: bool) -> tuple[int, ...]:
    """The shape that is left of `shape` when it is reduced along `axis`.

    Raises ValueError for an axis that does not exist or comes twice, and where a maximum would be of no elements.
    """
    axes = _given(op, axis, len(shape))
    kept = tuple(size for i, size in enumerate(shape) if i not in axes)
    if op != "sum" and math.prod(kept) and not math.prod(shape):
        raise ValueError(f"{op} of no elements has no answer; the array has shape {shape}.")
    return tuple(1 if i in axes else size for i, size in enumerate(shape)) if keepdims else kept


def in_parts(x, K: int, most: Callable[[int], int], launch: Callable):
    """Reduce the K elements of each row or column of x in parts of up to most(K), and what comes of them again, until one is
    left. launch(x, K, parts, each) reduces the parts, of `each` elements."""
    while True:
        each = min(K, most(K))
        parts = blocks(K, each)
        x = launch(x, K, parts, each)
        if parts == 1:
            return x
        K = parts


def neutral(functor: str, dtype: np.dtype):
    """What changes nothing: 0 for sums, the lowest number for maxima."""
    if functor == "Sum":
        return dtype.type(0)
    return dtype.type(-np.inf if dtype.kind == "f" else 0 if dtype.kind == "b" else np.iinfo(dtype).min)


def _given(op: str, axis, count: int) -> tuple[int, ...]:
    """The axes to reduce, from 0 up, each once."""
    given = range(count) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    axes = [axis_index(op, axis, count) for axis in given]
    if len(set(axes)) < len(axes):
        raise ValueError(f"{op}: an axis stands twice in axis={axis}.")
    return tuple(sorted(axes))


def _runs(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """(outer, K, inner) for each run of neighbouring axes, from the last to the first: the array as (outer, K, inner) is
    reduced along K. Axes of length 1 need nothing."""
    steps, sizes = [], list(shape)
    last = len(shape) - 1
    while last >= 0:
        first = last
        while first in axes and first - 1 in axes:
            first -= 1
        if first in axes:
            K = math.prod(sizes[first : last + 1])
            if K > 1:
                steps.append((math.prod(sizes[:first]), K, math.prod(sizes[last + 1 :])))
            del sizes[first : last + 1]
        last = first - 1
    return steps
