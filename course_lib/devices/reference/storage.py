"""Storage on the reference device: an array is a contiguous NumPy array."""

from __future__ import annotations

import math

import numpy as np

__all__ = (
    "empty zeros full copy cast from_numpy to_numpy view strided_copy strided_write concatenate synchronize".split()
)


def empty(shape, dtype="float32"):
    return np.empty(shape, dtype)


def zeros(shape, dtype="float32"):
    return np.zeros(shape, dtype)


def full(shape, value, dtype="float32"):
    return np.full(shape, value, dtype)


def copy(x):
    return x.copy()


def cast(x, dtype):
    return x.astype(dtype)


def from_numpy(array):
    return np.array(array, order="C")


def to_numpy(x):
    return x


def view(x, shape, offset=0):
    size = math.prod(shape)
    return x.reshape(-1)[offset : offset + size].reshape(shape)


def strided(x, shape, strides, offset):
    """The view itself, as NumPy makes it: offset and strides counted in bytes. Nothing is copied."""
    if not math.prod(shape):
        return np.empty(shape, x.dtype)
    return np.ndarray(shape, x.dtype, x, offset * x.itemsize, [stride * x.itemsize for stride in strides])


def strided_copy(x, shape, strides, offset=0, out=None):
    if out is None:
        out = np.empty(shape, x.dtype)
    out[...] = strided(x, shape, strides, offset)
    return out


def strided_write(x, values, strides, offset=0, add=False):
    target = strided(x, values.shape, strides, offset)
    if add:
        target += values
    else:
        target[...] = values


def concatenate(arrays, axis):
    return np.concatenate(arrays, axis)


def synchronize():
    """Nothing to wait for: NumPy returns when it is done."""
