"""The cuda device: our CUDA kernels on an NVIDIA GPU, compiled by NVRTC and launched by CuPy.

An array is a CuPy array. CuPy gives memory, copies to and from the host, and the launch; all that is computed is computed by
kernels/*.cu, with the launch code of devices/gpu/. Contract: `course_lib/devices/__init__.py`.
Limits: floats are float32, not float64; one GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import gpu
from .gpu import card, launching, storage

__all__ = "empty zeros full from_numpy to_numpy synchronize".split()


def available() -> bool:
    """Whether this machine has an NVIDIA GPU that CuPy can use; `card.problem()` says why not."""
    return not card.problem()


def table() -> dict[str, Callable]:
    """Every op by its name."""
    return gpu.ops() | {name: globals()[name] for name in __all__}


def empty(shape, dtype="float32"):
    return launching.allocate(card, shape, np.dtype(dtype))


def zeros(shape, dtype="float32"):
    array = empty(shape, dtype)
    launching.clear(array)
    return array


def full(shape, value, dtype="float32"):
    return storage.fill(empty(shape, dtype), value)


def from_numpy(array):
    array = np.asarray(array, order="C")
    there = empty(array.shape, array.dtype)
    if array.size:
        there.set(array)
    return there


def to_numpy(x):
    return x.get()


def synchronize():
    card.synchronize()
