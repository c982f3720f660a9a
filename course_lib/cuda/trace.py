"""`trace(kernel, grid, block, args)`: which thread touches which bytes, access by access; what the pictures are drawn from."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.cuda import lines, runtime, symbols
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.sanitizer import sanitize

MOST = 20_000


@dataclass(frozen=True)
class Access:
    """One load or store of one thread. `offset`: bytes from the array's start. `thread`, `block`: linear numbers."""

    thread: int
    block: int
    array: str
    space: str
    op: str
    offset: int
    bytes: int
    line: int

    @property
    def warp(self) -> int:
        return self.thread // 32

    @property
    def lane(self) -> int:
        return self.thread % 32


class _Traced(ctypes.Structure):
    """checker.cpp: Traced."""

    _fields_ = [
        ("pc", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
        ("thread", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("block", ctypes.c_uint64),
        ("space", ctypes.c_int),
        ("write", ctypes.c_int),
        ("name", ctypes.c_char * 48),
    ]


def trace(kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_mem: int = 0) -> list[Access]:
    """The accesses of one launch in the order of the simulator, at most 20,000. Raises what `sanitize` raises."""
    lib = runtime.library()
    lib.sim_trace.argtypes = [ctypes.c_uint64]
    lib.sim_traced.restype = ctypes.c_uint64
    with runtime.LAUNCH_LOCK:
        lib.sim_trace(MOST)
        try:
            sanitize(kernel, grid, block, args, shared_mem)
            first = ctypes.POINTER(_Traced)()
            count = lib.sim_traced(ctypes.byref(first))
            raw = [_Traced.from_buffer_copy(first[i]) for i in range(count)]
        finally:
            lib.sim_trace(0)
    library = kernel.compiled(checked=True)
    base = symbols.base(library.handle)
    where = lines.find(library.path, {access.pc - 1 - base for access in raw})
    return [
        Access(a.thread, a.block, a.name.decode(), ("global", "shared")[a.space], ("read", "write")[a.write], a.offset,
               a.bytes, where.get(a.pc - 1 - base, ("?", 0))[1])
        for a in raw
    ]  # fmt: skip
