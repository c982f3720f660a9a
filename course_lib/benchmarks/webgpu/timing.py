"""How long work on a WebGPU adapter takes: many calls written down, then handed in at once, so that Python's time does not count.

The clock runs from the handing in until a word comes back that was asked for after it, less what that takes with no work before
it. So all adapters are measured alike: timestamps of their own not all of them have.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from course_lib.devices.webgpu import adapter, commands, storage

LEAST_MS = 50.0  # of one measurement: the clock and the waiting are a hundredth of that
MOST_CALLS = 2000


class Timer:
    """One piece of work: an op, or several."""

    def __init__(self, act: Callable[[], Any]):
        self._act, self._calls = act, 1
        for _ in range(2):  # compiles, and fills the pool of memory
            act()
        storage.synchronize()
        while (took := self._together()) < LEAST_MS and self._calls < MOST_CALLS:
            self._calls = min(MOST_CALLS, self._calls * max(2, round(LEAST_MS / max(took, 0.1))))

    def ms(self) -> float:
        """Milliseconds of one call, the mean over as many as fill one measurement."""
        return max(self._together() - idle_ms(), 1e-6) / self._calls

    def _together(self) -> float:
        with commands.held_back():
            for _ in range(self._calls):
                self._act()
            work = commands.finished()
        began = time.perf_counter()
        adapter.device().queue.submit([work] if work is not None else [])
        storage.synchronize()
        return 1e3 * (time.perf_counter() - began)


@cache
def idle_ms() -> float:
    """Milliseconds of a handing in without work."""
    times = []
    for _ in range(20):
        began = time.perf_counter()
        adapter.device().queue.submit([])
        storage.synchronize()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)
