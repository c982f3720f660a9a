"""The simulator device: our CUDA kernels on the CPU, launched as on a GPU, in guarded memory.

An array is a NumPy array in an address slot of its own, so that a wrong index faults instead of reading a neighbour; slots
that are free again are handed out again, so that a training step maps no new memory after the first. The ops are those of
devices/gpu/; here is only what begins with a value of the host. Contract: `course_lib/devices/contract.py`.
Limits: floats are float32, not float64; some hundred times slower than a GPU, and meant for learning and testing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from course_lib import native

from . import gpu
from .gpu import guarded, launching
from .gpu.launching import limits as limits
from .gpu.precision import Copies as Copies
from .gpu.precision import Precision

PRECISION = Precision()  # of this device's products
computing = PRECISION.computing


def available() -> bool:
    """Whether this machine can compile kernels."""
    return sys.platform != "win32" and native.find_compiler() is not None


def table() -> dict[str, Callable]:
    """Every op by its name."""
    return gpu.ops(PRECISION, guarded) | {"from_numpy": from_numpy, "to_numpy": to_numpy}


def from_numpy(array):
    array = np.asarray(array)
    launching.refuse_in_capture()  # what is copied now would be missing from a replay
    there = launching.allocate(guarded, array.shape, array.dtype)
    there[...] = array
    return there


def to_numpy(x):
    launching.refuse_in_capture()
    return x
