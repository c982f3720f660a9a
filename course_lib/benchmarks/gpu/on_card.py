"""A pytest plugin, `-p course_lib.benchmarks.gpu.on_card`: every launch on NumPy arrays goes to the card instead.

Arrays are copied there, the kernel runs, and they are copied back, so that a test of a kernel on the simulator becomes one on
the card. The sanitizer and its counters stay where they are. What cannot go: launches that are about the simulator itself
(a seed, addresses inside a struct), which run as before and are counted apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.cuda.kernel import Kernel, is_cupy

counted = {"on the card": 0, "left on the simulator": 0}
_simulate = Kernel.__call__


def _launch(kernel: Kernel, grid, block, args, shared_mem: int = 0, timeout=60, seed: int = 0) -> None:
    if any(is_cupy(value) for value in args):
        counted["on the card"] += 1
        _simulate(kernel, grid, block, args, shared_mem)
        return
    structs = [value for value in args if isinstance(value, np.void) and "parameter" in (value.dtype.names or ())]
    if seed or structs or any(isinstance(value, np.ndarray) and value.dtype.kind not in "fiub" for value in args):
        counted["left on the simulator"] += 1
        _simulate(kernel, grid, block, args, shared_mem, timeout, seed)
        return
    import cupy

    there: dict[tuple, Any] = {}  # one copy for an array that is given twice

    def move(value):
        if not isinstance(value, np.ndarray) or (value.ndim == 0 and value.dtype.names):
            return value
        place = value.__array_interface__["data"][0], value.nbytes
        if place not in there:
            there[place] = cupy.asarray(value), value
        return there[place][0]

    _simulate(kernel, grid, block, tuple(move(value) for value in args), shared_mem)
    for copy, value in there.values():
        if value.size:
            value[...] = copy.get()
    counted["on the card"] += 1


def pytest_configure(config) -> None:
    Kernel.__call__ = _launch


def pytest_terminal_summary(terminalreporter) -> None:
    terminalreporter.write_line("launches: " + ", ".join(f"{count} {where}" for where, count in counted.items()))
