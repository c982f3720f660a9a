"""The simulator's runtime: C++ in runtime/, built on first use, and the few functions that Python calls.

Importing this needs no compiler; `library()` does, and says so in a sentence if there is none.
"""

import ctypes
import os
import platform
import sys
import threading
from functools import cache
from pathlib import Path

from course_lib import native

FOLDER = Path(__file__).parent
INCLUDE = FOLDER / "include"
RUNTIME = FOLDER / "runtime"
MOST_WORKERS = 32
LAUNCH_LOCK = threading.RLock()  # the simulator runs one launch at a time
KINDS = (
    "out-of-bounds",
    "misaligned-access",
    "null-pointer",
    "host-pointer",
    "uninitialised-read",
    "race",
    "divergent-barrier",
    "missed-barrier",
    "missing-lanes",
    "division-by-zero",
    "timeout",
    "crash",
)


class Index(ctypes.Structure):
    """Three unsigned numbers: x, y, z."""

    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]

    def tuple(self) -> tuple[int, int, int]:
        return self.x, self.y, self.z


class Launch(ctypes.Structure):
    """block.h: Launch."""

    _fields_ = [
        ("arguments", ctypes.c_void_p),
        ("grid", Index),
        ("block", Index),
        ("shared_bytes", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("checked", ctypes.c_uint32),
        ("alone", ctypes.c_uint32),
        ("parameters", ctypes.c_uint32),
        ("names", ctypes.c_void_p),
        ("resident", ctypes.c_uint32),
    ]


class Fault(ctypes.Structure):
    """runtime.h: Fault."""

    _fields_ = [
        ("kind", ctypes.c_int),
        ("line", ctypes.c_int),
        ("other_line", ctypes.c_int),
        ("thread", ctypes.c_uint32),
        ("other_thread", ctypes.c_uint32),
        ("file", ctypes.c_char_p),
        ("other_file", ctypes.c_char_p),
        ("pc", ctypes.c_void_p),
        ("other_pc", ctypes.c_void_p),
        ("block", Index),
        ("count", ctypes.c_uint64),
        ("message", ctypes.c_char * 480),
    ]


def machine_flags() -> tuple[str, ...]:
    """Flags that everything with a stack switch in it is compiled with."""
    return ("-mno-red-zone",) if platform.machine() in ("x86_64", "AMD64") else ()


def path() -> Path:
    """The runtime's library, built once per machine. Raises native.NoCompiler with a sentence."""
    flags = ["-O3", "-march=native", "-fno-semantic-interposition", "-Wno-attributes", *machine_flags()]
    if sys.platform == "darwin":
        flags.append("-Wl,-install_name,@rpath/simulator.dylib")  # how kernels that are linked with it will find it
    return native.build("simulator", sorted(RUNTIME.glob("*.cpp")), flags, depends=sorted(RUNTIME.glob("*.h")))


@cache
def library() -> ctypes.CDLL:
    """Load the runtime. Raises native.NoCompiler with a sentence."""
    loaded = ctypes.CDLL(str(path()), mode=ctypes.RTLD_GLOBAL)  # compiled kernels find its functions by name
    loaded.sim_alloc.restype = ctypes.c_void_p
    loaded.sim_alloc.argtypes = [ctypes.c_size_t, ctypes.c_int]
    loaded.sim_free.argtypes = [ctypes.c_void_p]
    loaded.sim_room.restype = ctypes.c_int64
    loaded.sim_room.argtypes = [ctypes.c_void_p]
    loaded.sim_altered.argtypes = [ctypes.c_void_p]
    loaded.sim_start.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
    loaded.sim_use.argtypes = loaded.sim_wait.argtypes = [ctypes.c_int]
    loaded.sim_fault.restype = ctypes.POINTER(Fault)
    loaded.sim_access_count.restype = ctypes.c_uint64
    loaded.sim_printed.restype = ctypes.c_void_p
    loaded.sim_printed.argtypes = [ctypes.POINTER(ctypes.c_size_t)] * 2
    # all workers, unless a training run has chosen to leave cores to other programs
    native.follow(lambda threads: loaded.sim_use(threads if threads < native.threads() else MOST_WORKERS))
    return loaded


def workers() -> int:
    """How many blocks run at once, at most."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, MOST_WORKERS))


def faults() -> list[Fault]:
    """What the last launch has reported."""
    lib = library()
    return [Fault.from_buffer_copy(lib.sim_fault(i).contents) for i in range(lib.sim_fault_count())]


def printed(ended: bool) -> str:
    """What a launch has printed since the last call; when it has `ended`, with a word on what was too much for a GPU."""
    size, lost = ctypes.c_size_t(), ctypes.c_size_t()
    address = library().sim_printed(size, lost)
    text = ctypes.string_at(address, size.value).decode(errors="replace")
    if ended and lost.value:
        text += f"\n[{lost.value:,} further characters did not fit into printf's buffer: 1 MB for each launch]\n"
    return text
