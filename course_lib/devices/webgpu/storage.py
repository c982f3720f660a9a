"""New arrays, copies and views: kernels/strided_copy.wgsl and kernels/cast.wgsl."""

from __future__ import annotations

import numpy as np

from ..layout import blocks, broadcast_strides, collapse_within
from . import commands, memory
from .adapter import limit
from .commands import copied
from .launching import kernel
from .memory import TYPES, Array, check_dtype, empty

__all__ = "empty zeros full copy cast from_numpy to_numpy view strided_copy strided_write synchronize".split()

MOST_AXES = 8  # as in kernels/include/view.wgsl


def zeros(shape, dtype="float32"):
    return full(shape, 0, dtype)


def full(shape, value, dtype="float32"):
    return fill(empty(shape, dtype), value)


def fill(y, value):
    """Set every element; returns y."""
    if y.size:
        bits = int(stored(np.full(1, value, y.dtype)).view(np.uint32)[0])
        kernel("strided_copy.wgsl", "fill")(blocks(y.size), y=y, value=bits, n=y.size)
    return y


def stored(array: np.ndarray) -> np.ndarray:
    """The 32-bit words that hold an array. Raises ValueError for an int64 that does not fit."""
    if array.dtype == np.int64 and array.size and max(-int(array.min()) - 1, int(array.max())) >= 2**31:
        raise ValueError(
            f"The device 'webgpu' keeps whole numbers in 32 bits, but was given numbers from {array.min()} to "
            f"{array.max()}: use the device 'cpu'."
        )
    return array.astype({"f": np.float32, "u": np.uint32}.get(array.dtype.kind, np.int32), copy=False)


def copy(x):
    return copied(x)


def cast(x, dtype):
    before, after = TYPES[x.dtype.name], TYPES[check_dtype(dtype).name]
    if x.dtype == dtype or (before == after and np.dtype(dtype) != np.bool_):
        return copied(x).reshape(*x.shape) if x.dtype == dtype else _labelled(copied(x), np.dtype(dtype))
    result = empty(x.shape, dtype)
    if x.size:
        run = kernel("cast.wgsl", "convert", T=before, U=after, BOOL=np.dtype(dtype) == np.bool_)
        run(blocks(x.size), x=x, y=result, n=x.size)
    return result


def _labelled(x, dtype):
    return Array(x.memory, x.shape, dtype, x.offset)


def from_numpy(array):
    array = np.asarray(array, order="C")
    there = empty(array.shape, array.dtype)
    if array.size:
        commands.upload(there, stored(array).tobytes())
        if array.dtype.kind in "iu":
            there.memory.range = int(array.min()), int(array.max())
    return there


def to_numpy(x):
    if not x.size:
        return np.empty(x.shape, x.dtype)
    lowest, highest = x.memory.range or (0, 1)
    if lowest == highest and x.dtype.kind == "i":  # known without asking the GPU: the length of a cache, for each layer
        return np.full(x.shape, lowest, x.dtype)
    words = np.frombuffer(
        commands.read_back(x), {"f32": np.float32, "u32": np.uint32}.get(TYPES[x.dtype.name], np.int32)
    )
    return words.astype(x.dtype).reshape(x.shape)


def view(x, shape, offset=0):
    """Shares memory where the adapter can bind an array that begins there, else it is a copy."""
    if (x.offset + offset) * memory.WORD % limit("min-storage-buffer-offset-alignment"):
        return strided_copy(x, tuple(shape), broadcast_strides(shape, shape), offset)
    return Array(x.memory, shape, x.dtype, x.offset + offset)


def views(op: str, shape, *strides):
    """What include/view.wgsl needs to loop over `shape`: sizes, the given strides, and how many axes there are."""
    sizes, steps = collapse_within(op, MOST_AXES, shape, *strides)
    return sizes, steps, len(sizes)


def strided_copy(x, shape, strides, offset=0, out=None):
    y = empty(shape, x.dtype) if out is None else out
    if y.size:
        sizes, (steps,), axes = views("strided_copy", shape, strides)
        run = kernel("strided_copy.wgsl", "strided_copy")
        run(blocks(y.size), x=x, y=y, sizes=sizes, strides=steps, axes=axes, offset=offset, n=y.size)
    if out is None:
        y.memory.range = x.memory.range
    return y


def strided_write(x, values, strides, offset=0, add=False):
    if values.size:
        sizes, (steps,), axes = views("strided_write", values.shape, strides)
        constants = {"T": TYPES[x.dtype.name]} if add else {}
        file, name = ("strided_add.wgsl", "strided_add") if add else ("strided_copy.wgsl", "strided_write")
        run = kernel(file, name, **constants)
        run(blocks(values.size), x=values, y=x, sizes=sizes, strides=steps, axes=axes, offset=offset, n=values.size)


def synchronize():
    """Hands in what was launched, and waits until it is done: a word read back comes after everything before it."""
    commands.read_back(empty((), "uint32"))
