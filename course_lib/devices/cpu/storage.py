"""Storage on the cpu device: contiguous NumPy arrays in recycled memory."""

from __future__ import annotations

import numpy as np

from ..checks import joined_shape
from ..reference.storage import strided, strided_write, synchronize, to_numpy, view
from .memory import empty, zeros

__all__ = [
    "cast", "concatenate", "copy", "empty", "from_numpy", "full", "paged_append", "paged_gather", "strided_copy",
    "strided_write", "synchronize",
    "to_numpy", "view", "zeros",
]  # fmt: skip


def full(shape, value, dtype="float32"):
    array = empty(shape, dtype)
    array.fill(value)
    return array


def copy(x):
    return cast(x, x.dtype)


def cast(x, dtype):
    result = empty(x.shape, dtype)
    np.copyto(result, x, casting="unsafe")
    return result


def from_numpy(array):
    return copy(np.asarray(array))


def strided_copy(x, shape, strides, offset=0, out=None):
    if out is None:
        out = empty(shape, x.dtype)
    np.copyto(out, strided(x, shape, strides, offset))
    return out


def concatenate(arrays, axis):
    axis, shape = joined_shape(arrays, axis)
    return np.concatenate(arrays, axis, out=empty(shape, arrays[0].dtype))


def paged_append(k, v, k_pages, v_pages, slots):
    for new, pages in ((k, k_pages), (v, v_pages)):
        pages.reshape(-1, *new.shape[1:])[slots] = new  # (P N, G, D)


def paged_gather(pages, table, count):
    whole = empty((table.size, *pages.shape[1:]), pages.dtype)  # (M, N, G, D)
    pages.take(table, axis=0, out=whole, mode="clip")  # inside, as was checked; "raise" would copy once more
    return whole.reshape(-1, *pages.shape[2:])[:count]
