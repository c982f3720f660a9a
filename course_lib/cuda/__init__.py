"""CUDA C++ on any machine: compile, launch, simulate, sanitize, report.

    from course_lib.cuda import Kernel, asarray, sanitize, zeros

    kernel = Kernel("add.cu", "add")
    kernel(grid, block, (asarray(a), asarray(b), zeros(n), n))     # NumPy arrays: the simulator; CuPy arrays: the GPU
    print(sanitize(kernel, grid, block, args))                     # races, wrong indices, access patterns, by line

Importing this needs neither a compiler nor a GPU; the first launch does, and says so in a sentence.
Limits: the simulator shows what a kernel computes and how it touches memory, not how long it would take on a GPU. What C++
leaves open comes out as this processor does it: a float too large for an int (a GPU takes the largest int), a shift by as many
bits as there are or more, a sum of ints that overflows.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "Kernel": "kernel",
    "KernelError": "errors",
    "CompileError": "errors",
    "ArgumentError": "errors",
    "sanitize": "sanitizer",
    "Report": "report",
    "empty": "memory",
    "zeros": "memory",
    "asarray": "memory",
    "asnumpy": "memory",
}
__all__ = [
    "ArgumentError",
    "CompileError",
    "Kernel",
    "KernelError",
    "Report",
    "asarray",
    "asnumpy",
    "empty",
    "sanitize",
    "zeros",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'course_lib.cuda' has no attribute {name!r}")
    value = getattr(import_module(f"course_lib.cuda.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
