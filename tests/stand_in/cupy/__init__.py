"""A stand-in for CuPy: arrays that are not NumPy's, in memory of the simulator, and launches that the simulator runs.

Only what the course calls. A launch or a copy while a stream is captured is written down, and done when its graph is launched.
"""

import numpy as np

from course_lib.cuda import gpu, launch, memory
from cupy import cuda

__version__ = "stand-in"


class Pointer:
    """ndarray.data: where the array lies, and the driver's copy."""

    def __init__(self, array: np.ndarray):
        self._array, self.ptr = array, array.__array_interface__["data"][0]

    def copy_from_device_async(self, source: "Pointer", size: int) -> None:
        cuda.do(lambda: np.copyto(self._array.reshape(-1).view(np.uint8)[:size], source.bytes(size)))

    def bytes(self, size: int) -> np.ndarray:
        return self._array.reshape(-1).view(np.uint8)[:size]


class ndarray:
    """An array on the card. It has no operators: what is computed, kernels compute."""

    def __init__(self, shape, dtype=np.float32, memptr=None, host=None):
        if memptr is not None:
            host = np.ndarray(shape, dtype, memptr.buffer)
        self.host = memory.empty(shape, dtype) if host is None else host
        self.shape, self.dtype, self.size, self.ndim = self.host.shape, self.host.dtype, self.host.size, self.host.ndim
        self.nbytes, self.itemsize, self.data = self.host.nbytes, self.host.itemsize, Pointer(self.host)

    def get(self) -> np.ndarray:
        return np.array(self.host)

    def set(self, values: np.ndarray) -> None:
        self.host[...] = values

    def fill(self, value) -> None:
        self.host[...] = value

    def view(self, dtype) -> "ndarray":
        return ndarray(None, host=self.host.view(dtype))

    def reshape(self, *shape) -> "ndarray":
        return ndarray(None, host=self.host.reshape(*shape))

    def __getitem__(self, part) -> "ndarray":
        return ndarray(None, host=self.host[part])


def empty(shape, dtype=np.float32) -> ndarray:
    return ndarray(shape, dtype)


def zeros(shape, dtype=np.float32) -> ndarray:
    made = ndarray(shape, dtype)
    made.fill(0)
    return made


def asarray(values) -> ndarray:
    if isinstance(values, ndarray):
        return values
    made = ndarray(np.shape(values), np.asarray(values).dtype)
    made.set(values)
    return made


ascontiguousarray = asarray


def _launch(self, grid, block, args, shared_mem=0) -> None:
    """In the place of GpuKernel.__call__, behind whose arguments only NVRTC and the driver are left.

    As on a card, addresses are passed: what was written down keeps no array alive.
    """
    kernel = self._kernel
    if any(isinstance(x, np.ndarray) and x.ndim for x in args):
        raise TypeError("an array of the host was passed to a kernel on the card")
    given = tuple(x.data.ptr if isinstance(x, ndarray) else x for x in args)
    names = kernel.parameter_names
    cuda.do(
        lambda: launch.launch(kernel.compiled(checked=False), kernel.name, names, grid, block, given, shared_mem, 60, 0)
    )


def _upload(self, variable: str, values) -> None:
    self._kernel.upload(variable, values.get())


gpu.GpuKernel.__call__, gpu.GpuKernel.upload = _launch, _upload
