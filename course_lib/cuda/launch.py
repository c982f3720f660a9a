"""Launch a compiled kernel on the simulator: limits, arguments, waiting, and turning faults into KernelError."""

import ctypes
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

from course_lib.cuda import build, runtime, symbols
from course_lib.cuda.arguments import Arguments, Signature
from course_lib.cuda.errors import ArgumentError, KernelError
from course_lib.cuda.source import waits_for_grid, word_on_waiting

GRID_LIMITS = (2**31 - 1, 65535, 65535)
BLOCK_LIMITS = (1024, 1024, 64)
THREADS_PER_BLOCK = 1024
STATIC_SHARED, DYNAMIC_SHARED = 48 << 10, 227 << 10
MOST_RESIDENT = 1024  # runtime/residents.h
SLICE_MS = 100  # how long Ctrl-C may wait


def extent(name: str, what: str, sizes: Any, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    """A grid or block as three numbers. Raises ArgumentError with a sentence."""
    if hasattr(sizes, "__index__"):  # an int of Python or of NumPy
        sizes = (sizes,)
    try:
        numbers = [int(size) for size in sizes]
        exact = all(number == size for number, size in zip(numbers, sizes, strict=True))
    except (TypeError, ValueError):
        numbers, exact = [], False
    if not exact or not 1 <= len(numbers) <= 3:
        whole = not any(isinstance(size, float) for size in (sizes if isinstance(sizes, (tuple, list)) else (sizes,)))
        advice = "" if whole else " Divide with //, and round up: (n + 127) // 128 blocks of 128 threads."
        raise ArgumentError(
            f"{name}: {what} is one to three whole numbers, such as (4,) or (4, 2); {sizes!r} was given.{advice}"
        )
    numbers += [1] * (3 - len(numbers))
    for axis, number, limit in zip("xyz", numbers, limits, strict=True):
        if number < 1:
            raise ArgumentError(f"{name}: {what}.{axis} is {number}; at least 1 is needed. Is an array empty?")
        if number > limit:
            raise ArgumentError(f"{name}: {what}.{axis} is {number:,}; a GPU takes at most {limit:,}.")
    return tuple(numbers)


def check_limits(name: str, grid, block, shared_mem: int, static: int) -> None:
    """What a GPU would refuse, and the one thing that only the simulator does."""
    threads = block[0] * block[1] * block[2]
    if threads > THREADS_PER_BLOCK:
        raise ArgumentError(
            f"{name}: {block[0]} x {block[1]} x {block[2]} = {threads:,} threads per block; a GPU takes at most "
            f"{THREADS_PER_BLOCK:,}. Use smaller blocks and more of them."
        )
    if not isinstance(shared_mem, int) or shared_mem < 0:
        raise ArgumentError(
            f"{name}: shared_mem is a number of bytes; {shared_mem!r} was given. The arguments of the kernel go in one tuple "
            f"before it: kernel(grid, block, (x, y, n))."
        )
    if static > STATIC_SHARED:
        raise ArgumentError(
            f"{name}: its __shared__ arrays take {static:,} bytes; a GPU gives at most {STATIC_SHARED:,} to arrays of fixed "
            f"size. Make them smaller, or use `extern __shared__` with shared_mem=."
        )
    if static + shared_mem > DYNAMIC_SHARED:
        raise ArgumentError(
            f"{name}: {static + shared_mem:,} bytes of shared memory per block; a GPU has at most {DYNAMIC_SHARED:,} "
            f"({static:,} are in arrays of fixed size, shared_mem={shared_mem:,})."
        )
    if grid[0] * block[0] > 2**31 - 2048:
        raise ArgumentError(
            f"{name}: {grid[0]:,} x {block[0]} threads along x; the simulator takes fewer than 2^31. "
            f"Use a grid-stride loop."
        )


class Prepared:
    """What all launches of a compiled kernel share, so that one costs microseconds."""

    def __init__(self, library: build.Library, name: str, names: list[str]):
        parameters = build.parameters(library, name)
        if len(names) != len(parameters):  # the text could not be read
            names = [f"#{i + 1}" for i in range(len(parameters))]
        self.signature = Signature(name, parameters, names)
        self.entry = ctypes.cast(getattr(library.handle, f"sim_run_{library.kernels[name]}"), ctypes.c_void_p)
        self._static, self._library = symbols.static_shared(library, name), library
        self._sizes: dict[tuple, runtime.Launch] = {}

    def sized(self, grid: Any, block: Any, shared_mem: Any) -> runtime.Launch:
        """The launch of this size. Raises ArgumentError with a sentence for one that a GPU would refuse."""
        known = type(grid) is tuple and type(block) is tuple and type(shared_mem) is int
        if known and (launch := self._sizes.get((grid, block, shared_mem))):
            return launch
        name, signature = self.signature.kernel, self.signature
        extents = extent(name, "grid", grid, GRID_LIMITS), extent(name, "block", block, BLOCK_LIMITS)
        check_limits(name, *extents, shared_mem, self._static)
        resident, blocks = waits_for_grid(self._library.source), math.prod(extents[0])
        if resident and blocks > MOST_RESIDENT:
            raise ArgumentError(
                f"{name}: {blocks:,} blocks of a kernel with grid.sync(), which are all in flight at once; the simulator holds "
                f"{MOST_RESIDENT}. Use a grid-stride loop and fewer blocks."
            )
        launch = runtime.Launch(
            ctypes.addressof(signature.addresses), runtime.Index(*extents[0]), runtime.Index(*extents[1]), shared_mem, 0,
            self._library.checked, self._library.counted, len(signature.parameters),
            ctypes.addressof(signature.pointer_names), resident,
        )  # fmt: skip
        if known and len(self._sizes) < 1000:
            self._sizes[grid, block, shared_mem] = launch
        return launch


def prepare(library: build.Library, name: str, names: list[str]) -> Prepared:
    """`Prepared`, made once for each kernel of a library. `names`: the parameters', as the text has them."""
    if name not in library.prepared:
        library.prepared[name] = Prepared(library, name, names)
    return library.prepared[name]


class Running:
    """A launch that has begun. `remarkable`: whether there are faults, or bytes written beside an array, when it has ended.

    silent: whether an earlier run has printed what this one prints.
    """

    def __init__(self, prepared: Prepared, launch: runtime.Launch, seed: int, silent: bool = False):
        self.remarkable = False
        self._silent = silent or bool(launch.alone)  # counted operations: a second run, too
        self._runtime = runtime.library()
        launch.seed = seed or 0
        self._runtime.sim_start(ctypes.addressof(launch), prepared.entry, runtime.workers())

    def wait(self, timeout: float | None) -> bool:
        """Wait for the end. Returns False if `timeout` seconds passed first and the launch was stopped."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        try:
            while self._runtime.sim_wait(max(1, int(min(SLICE_MS, 1000 * (end - time.monotonic()) + 1)))):
                self._print(ended=False)
                if time.monotonic() >= end:
                    self._cancel()
                    return False
        except KeyboardInterrupt:
            self._cancel()
            raise
        finally:
            self.remarkable = bool(self._runtime.sim_has_report())
            if self.remarkable:
                self._print(ended=True)
        return True

    def _cancel(self) -> None:
        while True:
            self._runtime.sim_cancel()
            if not self._runtime.sim_wait(50):
                return

    def _print(self, ended: bool) -> None:
        text = runtime.printed(ended)
        if text and not self._silent:
            sys.stdout.write(text)
            sys.stdout.flush()


def launch(
    library: build.Library,
    name: str,
    names: list[str],
    grid: Any,
    block: Any,
    args: Sequence[Any],
    shared_mem: int,
    timeout: float | None,
    seed: int,
) -> None:
    """Run a kernel to its end. Raises KernelError if it could not start, or did something a GPU would not survive."""
    prepared = library.prepared.get(name) or prepare(library, name, names)
    sized = prepared.sized(grid, block, shared_mem)
    faults, overrun = [], ""
    with runtime.LAUNCH_LOCK:
        arguments = Arguments(prepared.signature, args, library.checked)
        try:
            running = Running(prepared, sized, seed)
            ended = running.wait(timeout)
            if running.remarkable:
                faults, overrun = runtime.faults(), arguments.overrun()
            arguments.finish()
        finally:
            arguments.release()
    if not ended:
        words = word_on_waiting(library.source)
        raise KernelError(
            f"{name} was stopped: it was still running after timeout={timeout:g} s. Look for a loop whose condition never "
            f"becomes false, or pass a larger timeout.{f' {words}.' if words else ''}"
        )
    if faults:
        raise KernelError(describe(name, faults[0], sized.block.tuple()))
    if overrun:
        raise KernelError(
            f"{name} has written {overrun}. course_lib.cuda.sanitize(kernel, grid, block, args) shows the line."
        )


def coordinates(linear: int, block: tuple[int, int, int]) -> tuple[int, int, int]:
    """threadIdx of the thread with this number in its block."""
    return linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])


def describe(name: str, fault: runtime.Fault, block: tuple[int, int, int]) -> str:
    """One sentence about a fault of the fast build, which knows no lines."""
    where = f"in block ({fault.block.x}, {fault.block.y}, {fault.block.z})"
    if fault.thread != 0xFFFFFFFF:
        where += f", thread {coordinates(fault.thread, block)}"
    place = f" ({fault.file.decode()}, line {fault.line})" if fault.file and fault.line else ""
    message = fault.message.decode(errors="replace")
    message += "" if message.endswith("?") else "."
    return (
        f"{name} crashed {where}{place}: {message} course_lib.cuda.sanitize(kernel, grid, block, args) shows the line."
        if not place
        else f"{name} stopped {where}{place}: {message}"
    )
