"""A pytest plugin, `-p course_lib.benchmarks.gpu.on_card`: every launch on NumPy arrays goes to the card instead.

Arrays are copied there, the kernel runs, and they are copied back, so that a test of a kernel on the simulator becomes one on
the card. A card has its own order of threads: with a seed, which asks the simulator for another, the kernel runs there again, so
that "the same bits in any order" asks for the same bits twice. The sanitizer and its counters stay where they are. What cannot
go: launches with addresses inside a struct, which run as before and are counted apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib.cuda.kernel import Kernel, is_cupy

counted = {"on the card": 0, "left on the simulator": 0}
_simulate = Kernel.__call__


def _launch(kernel: Kernel, grid, block, args, shared_mem: int = 0, timeout=60, seed: int = 0) -> None:
    if any(is_cupy(value) for value in args):
        counted["on the card"] += 1
        _simulate(kernel, grid, block, args, shared_mem)
        return
    if any(isinstance(value, np.void) and _has_addresses(value.dtype) for value in args):
        counted["left on the simulator"] += 1
        _simulate(kernel, grid, block, args, shared_mem, timeout, seed)
        return
    import cupy

    there: dict[tuple, Any] = {}  # one copy for an array that is given twice

    def move(value):
        if not isinstance(value, np.ndarray) or (value.ndim == 0 and value.dtype.names):
            return value
        value = value.view(f"u{value.itemsize}") if value.dtype.kind == "V" else value  # bfloat16, which CuPy lacks
        place = value.__array_interface__["data"][0], value.nbytes
        if place not in there:
            there[place] = cupy.asarray(value), value
        return there[place][0]

    _simulate(kernel, grid, block, tuple(move(value) for value in args), shared_mem)
    for copy, value in there.values():
        if value.size:
            value[...] = copy.get()
    counted["on the card"] += 1


def _has_addresses(struct: np.dtype) -> bool:
    """Whether a field of a struct holds 64-bit words without a sign: pointers, in the structs that our kernels take."""
    return any(field.base == np.uint64 for field, *_ in struct.fields.values())


def pytest_configure(config) -> None:
    Kernel.__call__ = _launch


def pytest_sessionfinish(session) -> None:
    if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist, whose process ends here
        session.config.workeroutput["launches"] = counted


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which may not be here
def pytest_testnodedown(node) -> None:
    for where, count in getattr(node, "workeroutput", {}).get("launches", {}).items():
        counted[where] += count


def pytest_terminal_summary(terminalreporter) -> None:
    terminalreporter.write_line("launches: " + ", ".join(f"{count} {where}" for where, count in counted.items()))
