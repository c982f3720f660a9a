"""The cuda device: our CUDA kernels on an NVIDIA GPU, compiled by NVRTC and launched by CuPy.

An array is a CuPy array. CuPy gives memory, copies to and from the host, and the launch; all that is computed is computed by
kernels/*.cu, with the launch code of devices/gpu/. Contract: `course_lib/devices/contract.py`.
Limits: floats are float32, not float64; one GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import gpu
from .gpu import card, launching
from .gpu.capture import CapturedStep as CapturedStep
from .gpu.launching import limits as limits
from .gpu.precision import Copies as Copies
from .gpu.precision import Precision

PRECISION = Precision()  # of this device's products
computing = PRECISION.computing


def available() -> bool:
    """Whether this machine has an NVIDIA GPU that CuPy can use; `problem()` says why not."""
    return not problem()


def problem(as_gpu: bool = False) -> str:
    return card.problem()


def table() -> dict[str, Callable]:
    """Every op by its name."""
    return gpu.ops(PRECISION, card) | {"from_numpy": from_numpy, "to_numpy": to_numpy}


def from_numpy(array):
    array = np.asarray(array, order="C")
    there = launching.allocate(card, array.shape, array.dtype)
    if array.size:
        there.set(array)
    return there


def to_numpy(x):
    return x.get()
