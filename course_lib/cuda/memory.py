"""Device memory of the simulator, under CuPy's names: empty, zeros, asarray, asnumpy.

An array lies in an address slot of its own with nothing mapped around it, so a wrong 32-bit index can reach no other
array: it faults, and the launch raises KernelError. To Python it is an ordinary NumPy array, and views of it share its
slot. What `empty` returns is filled with a pattern that is NaN in every float type, so that unwritten values show.
"""

import ctypes
import weakref
from functools import cache
from typing import Any

import numpy as np

from course_lib.cuda import runtime

SLOT_BYTES, STACK_SLOTS = 1 << 35, 64  # memory.h
UNWRITTEN = 0xFFFEFFFE  # what lies in each four bytes of an array from `empty`
UNINITIALISED, ZEROED, FOR_CALLER = 0, 1, 2


def empty(shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """An array in guarded device memory whose values are not yet written. (CuPy's default is float64.)"""
    return _allocate(shape, dtype, UNINITIALISED)


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """An array of zeros in guarded device memory."""
    return _allocate(shape, dtype, ZEROED)


def asarray(x: Any, dtype: Any = None) -> np.ndarray:
    """`x` in guarded device memory: itself if it is there already and has that dtype, else a copy."""
    host = np.asarray(x, dtype=dtype)
    if is_device(host) and host.flags.c_contiguous:
        return host
    array = _allocate(host.shape, host.dtype, FOR_CALLER)
    array[...] = host
    return array


def asnumpy(x: Any) -> np.ndarray:
    """A copy of `x` in ordinary memory."""
    return x.get() if hasattr(x, "get") and not isinstance(x, np.ndarray) else np.array(x)


def address(array: np.ndarray) -> int:
    """Where an array's first element lies."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # four times faster than asking the array
    except (TypeError, ValueError):  # read-only, empty, or of a dtype that buffers do not know
        pass
    return array.__array_interface__["data"][0]


def is_device(array: np.ndarray) -> bool:
    """Whether an array, or the array that it is a view of, lies in guarded memory."""
    return is_device_address(address(array))


def is_device_address(number: int) -> bool:
    """Whether an address lies in the range of the slots."""
    begin, size = _slots()
    return 0 <= number - begin < size


@cache
def _slots() -> tuple[int, int]:
    """Where the range of the slots begins, and its bytes."""
    begin, size = ctypes.c_uint64(), ctypes.c_uint64()
    runtime.library().sim_slots(ctypes.byref(begin), ctypes.byref(size))
    return begin.value, size.value


def _allocate(shape, dtype, how: int) -> np.ndarray:
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    dtype = np.dtype(dtype)
    count = 1
    for length in shape:
        if length < 0:
            raise ValueError(f"An array cannot have the shape {shape}: lengths are 0 or more.")
        count *= int(length)
    start = allocate(count * dtype.itemsize, how)
    buffer = (ctypes.c_char * (count * dtype.itemsize)).from_address(start)
    weakref.finalize(buffer, runtime.library().sim_free, start).atexit = False  # NumPy's views keep `buffer` alive
    return np.frombuffer(buffer, dtype=dtype, count=count).reshape(shape)


def allocate(size: int, how: int) -> int:
    """The address of `size` fresh bytes; the caller frees them with `runtime.library().sim_free`."""
    start = runtime.library().sim_alloc(size, how)
    if not start:
        most = _slots()[1] // SLOT_BYTES - STACK_SLOTS - 1
        raise MemoryError(
            f"The simulator could not get {size:,} bytes of device memory (or holds {most:,} arrays "
            f"already). Delete arrays you no longer need, or use smaller ones."
        )
    return start
