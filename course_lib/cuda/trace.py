"""What a launch does, event by event, as the simulator runs it; what the pictures and the player are drawn from.

trace(kernel, grid, block, args)       the loads and stores: which thread touches which bytes
record(kernel, grid, block, args)      also barriers, shuffles, the values that were read, and the report of the launch
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.cuda import lines, runtime, symbols
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.report import Report
from course_lib.cuda.sanitizer import sanitize

MOST = 20_000  # events that are kept
PLAYED_THREADS = 128  # of a block: the most that the player of a launch shows
SPACES = ("global", "shared")
OPS = ("read", "write", "atomic", "barrier", "warp sync", "shuffle")
ACCESSES = OPS[:3]


@dataclass(frozen=True)
class Event:
    """One load, store or atomic of one thread, or a synchronisation. `thread`, `block`: linear numbers.

    op:           one of OPS. A barrier is one event for its block, a warp sync one for its warp (of `thread`).
    offset:       bytes from the array's start
    value:        the bytes that were read; empty for all other events
    instruction:  the same number for the same instruction of the compiled kernel; 0 where there is no access
    other:        of a shuffle the lane that the value comes from; of a warp sync the mask of the lanes
    """

    thread: int
    block: int
    array: str
    space: str
    op: str
    offset: int
    bytes: int
    line: int
    value: bytes = b""
    instruction: int = 0
    other: int = 0

    @property
    def warp(self) -> int:
        return self.thread // 32

    @property
    def lane(self) -> int:
        return self.thread % 32


@dataclass(frozen=True)
class Recording:
    """A launch: its events in the order of the simulator, whether some are missing, and what the sanitizer says."""

    events: list[Event]
    complete: bool
    report: Report


class _Traced(ctypes.Structure):
    """trace.cpp: Traced."""

    _fields_ = [
        ("pc", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
        ("thread", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("block", ctypes.c_uint64),
        ("space", ctypes.c_int),
        ("kind", ctypes.c_int),
        ("line", ctypes.c_int),
        ("other", ctypes.c_uint32),
        ("value", ctypes.c_ubyte * 16),
        ("name", ctypes.c_char * 48),
    ]


def record(kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_mem: int = 0) -> Recording:
    """Run one launch and keep its first 20,000 events. Results are in the arrays; raises what `sanitize` raises."""
    lib = runtime.library()
    lib.sim_trace.argtypes = [ctypes.c_uint64]
    lib.sim_traced.restype = ctypes.c_uint64
    with runtime.LAUNCH_LOCK:
        lib.sim_trace(MOST)
        try:
            report = sanitize(kernel, grid, block, args, shared_mem)
            first = ctypes.POINTER(_Traced)()
            count = lib.sim_traced(ctypes.byref(first))
            raw = [_Traced.from_buffer_copy(first[i]) for i in range(count)]
        finally:
            lib.sim_trace(0)
    library = kernel.compiled(checked=True)
    base = symbols.base(library.handle)
    where = lines.find(library.path, {one.pc - 1 - base for one in raw if one.pc})
    return Recording([_event(one, base, where) for one in raw], count < MOST, report)


def trace(kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_mem: int = 0) -> list[Event]:
    """The accesses of one launch in the order of the simulator, at most 20,000. Raises what `sanitize` raises."""
    return [event for event in record(kernel, grid, block, args, shared_mem).events if event.op in ACCESSES]


def _event(one: _Traced, base: int, where: dict) -> Event:
    at = one.pc - 1 - base if one.pc else 0
    op = OPS[one.kind]
    return Event(
        one.thread, one.block, one.name.decode(), SPACES[one.space], op, one.offset, one.bytes,
        where.get(at, ("?", 0))[1] if at else one.line, bytes(one.value[: one.bytes]) if op == "read" else b"", at,
        one.other,
    )  # fmt: skip
