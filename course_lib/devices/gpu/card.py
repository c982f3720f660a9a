"""The NVIDIA card of this machine, through CuPy: is it there, its memory, and what went wrong, in a sentence.

Importing this needs neither CuPy nor a GPU.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.util import find_spec

import numpy as np

from course_lib import nvidia
from course_lib.paths import pip_command

OLDEST_CUDA = (12, 0)
OLDEST_CAPABILITY = (7, 5)


@cache
def problem() -> str:
    """Why the course cannot compute on an NVIDIA GPU here, and what to do; nothing if it can. Asked once."""
    return diagnose(nvidia.gpu())


def diagnose(gpu: nvidia.Gpu | None) -> str:
    """The same for a given card."""
    if gpu is None:
        return "There is no NVIDIA GPU here, or no driver for it."
    version, capability = ".".join(map(str, gpu.cuda)), ".".join(map(str, gpu.capability))
    if gpu.capability < OLDEST_CAPABILITY:
        return f"The {gpu.name} has compute capability {capability}; the course's kernels need 7.5 (Turing) or newer."
    if gpu.cuda < OLDEST_CUDA:
        return (
            f"The driver of the {gpu.name} runs CUDA {version} at most, and the course needs 12.0 or newer: install a newer "
            "NVIDIA driver, then say make install."
        )
    extra = nvidia.extra_for(gpu)
    install = pip_command(extra)
    if find_spec("cupy") is None:
        return f"The {gpu.name} is here, but CuPy, which launches kernels on it, is not installed: {install}"
    try:
        import cupy

        found = cupy.cuda.runtime.getDeviceCount()
        cupy.empty(1).fill(0)  # an installation that fits only half fails here
    except Exception as error:  # a library that is missing, or of the wrong CUDA, shows as many kinds of error
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        return f"CuPy is installed, but does not work with the {gpu.name} and its driver for CUDA {version} ({reason}): {install}"
    return (
        ""
        if found
        else f"CuPy sees no GPU, though the driver has a {gpu.name}: is CUDA_VISIBLE_DEVICES set to nothing?"
    )


def empty(shape, dtype: np.dtype):
    """A new CuPy array. Raises MemoryError with a sentence."""
    import cupy

    shape = tuple(shape) if np.ndim(shape) else (int(shape),)
    try:
        return cupy.empty(shape, dtype)
    except cupy.cuda.memory.OutOfMemoryError:
        free, total = cupy.cuda.runtime.memGetInfo()
        raise MemoryError(out_of_memory(math.prod(shape) * np.dtype(dtype).itemsize, free, total)) from None


def out_of_memory(wanted: int, free: int, total: int) -> str:
    """The sentence for a card that is full; sizes in bytes."""
    return (
        f"The GPU's memory is full: {wanted / 1e6:,.0f} MB were requested, {free / 1e6:,.0f} of its {total / 1e6:,.0f} MB are "
        "free. Train with a smaller --batch (and --accumulate to make up for it), and close what else uses the GPU "
        "(nvidia-smi lists it)."
    )


def block(size: int):
    """So many bytes in one piece."""
    return empty((size,), np.dtype(np.uint8))


def lend(block, offset: int, shape, dtype: np.dtype, token):
    """An array inside a block; it and its views keep `token` alive."""
    import cupy

    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(block.data.ptr + offset, size, (block, token))
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


def write(array, values: np.ndarray) -> None:
    """Values of the host into an array that is there already."""
    array.set(np.asarray(values, array.dtype, order="C"))


def read(array) -> np.ndarray:
    """The values, for the host, once they are computed."""
    return array.get()


class Stream:
    """A stream of its own, whose launches can be captured into a graph."""

    def __init__(self) -> None:
        import cupy

        self._stream = cupy.cuda.Stream(non_blocking=True)

    def __enter__(self) -> Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *exception) -> None:
        self._stream.__exit__(*exception)

    def begin_capture(self) -> None:
        self._stream.begin_capture()

    def end_capture(self):
        """The graph: `launch()` runs all that was captured, in one call."""
        return self._stream.end_capture()


def synchronize() -> None:
    """Wait until the card has done everything asked for."""
    import cupy

    cupy.cuda.get_current_stream().synchronize()
