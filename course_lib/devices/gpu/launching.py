"""What the launch code of every CUDA op needs: its kernels, and new arrays where the old ones lie.

An op keeps no state of its device. NumPy arrays are the simulator's and CuPy arrays the GPU's, so the arrays decide where a
kernel runs and where its result is made; the same function serves both tables.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from course_lib import cuda
from course_lib.cuda import Kernel
from course_lib.cuda.source import KERNELS


@cache
def kernel(file: str, name: str, *options: str) -> Kernel:
    """The kernel `name` of kernels/`file`, compiled at its first launch."""
    return Kernel(KERNELS / file, name, options)


def empty(like: Any, shape, dtype=None):
    """A new array on the device where `like` lies, of its dtype unless told otherwise; what is in it is not defined."""
    dtype = like.dtype if dtype is None else np.dtype(dtype)
    if isinstance(like, np.ndarray):
        return cuda.empty(shape, dtype)
    import cupy

    return cupy.empty(shape, dtype)


def zeros(like: Any, shape, dtype=None):
    """The same, filled with zeros."""
    array = empty(like, shape, dtype)
    array.fill(0)
    return array
