"""Upload values to the `__constant__` and `__device__` variables of a `.cu` file, for the simulator."""

import ctypes

import numpy as np

from course_lib.cuda.build import Library, Module
from course_lib.cuda.errors import ArgumentError, KernelError


def upload(module: Module, kernel: str, variable: str, values: np.ndarray) -> None:
    """Write `values` into the variable, in the fast and in the checked build (each has memory of its own)."""
    for checked in (False, True):
        write(module.library(kernel, checked), kernel, variable, values)


def write(library: Library, kernel: str, variable: str, values: np.ndarray) -> None:
    """The same in one build alone."""
    start, size = _place(library, variable, kernel)
    if not start:
        raise ArgumentError(f"{kernel}: variable '{variable}' is const: its values are those of the file.")
    data = np.ascontiguousarray(values)
    if data.nbytes != size:
        raise ArgumentError(
            f"{kernel}: variable '{variable}' has {size} bytes; an array of {data.dtype} with shape {data.shape} has "
            f"{data.nbytes}. Give it the dtype and length that the file declares."
        )
    ctypes.memmove(start, data.ctypes.data, size)


def read(library: Library, kernel: str, variable: str, dtype: type) -> np.ndarray:
    """The values of a variable in one build, as a flat array."""
    start, size = _place(library, variable, kernel)
    return np.frombuffer(ctypes.string_at(start, size), dtype) if start else np.zeros(0, dtype)


def copy(from_library: Library, to_library: Library) -> None:
    """Give the variables of one build the values that they have in another."""
    for variable in from_library.globals:
        (start, size), (other, _) = _place(from_library, variable, ""), _place(to_library, variable, "")
        if start:
            ctypes.memmove(other, start, size)


def _place(library: Library, variable: str, kernel: str) -> tuple[int | None, int]:
    if variable not in library.globals:
        known = ", ".join(library.globals) or "none"
        raise KernelError(
            f"{kernel}: the file has no __constant__ or __device__ variable '{variable}'. It has: {known}."
        )
    function = getattr(library.handle, f"sim_global_{library.globals[variable]}")
    function.restype = ctypes.c_void_p
    size = ctypes.c_uint64()
    return function(ctypes.byref(size)), size.value
