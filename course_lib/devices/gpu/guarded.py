"""Memory of the simulator: each array in an address slot of its own, and for the arena many in one.

A slot that is free again is handed out again, by size, so a training step maps no new memory after the first.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np

from course_lib import cuda


def empty(shape, dtype: np.dtype):
    """A new array; until somebody writes to it, it holds nan."""
    return cuda.empty(shape, dtype)


def block(size: int):
    """So many bytes in one slot."""
    return cuda.empty(size, np.uint8)


def lend(block, offset: int, shape, dtype: np.dtype, token):
    """An array inside a block; it and its views keep `token` alive."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = (ctypes.c_char * size).from_buffer(block, offset)
    buffer.token = token
    return np.ndarray(shape, dtype, buffer)


def write(array, values: np.ndarray) -> None:
    """Values of the host into an array that is there already."""
    array[...] = values


def read(array) -> np.ndarray:
    """The values, for the host."""
    return np.array(array)


def synchronize() -> None:
    """Nothing to wait for: a launch on the simulator returns at its end."""
