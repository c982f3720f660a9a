"""How long work on the card takes: many calls in one graph, so that Python's own time does not count; several ways in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from course_lib.devices.gpu import launching

LEAST_MS = 20.0  # of one measurement: below that the clock's own noise shows
ROUNDS = 7


class Captured:
    """Work as a graph on the card, of as many calls as fill one measurement. `_capture` makes one and runs it once, `_replay`
    gives its milliseconds."""

    def __init__(self, act: Callable[[], Any]):
        self._act, self._calls = act, 1
        self._graph = self._capture()
        self._calls = max(1, min(1000, round(LEAST_MS / max(self.ms(), 1e-3))))
        self._graph = self._capture()

    def ms(self) -> float:
        """Milliseconds of one call, the mean over one replay."""
        return self._replay() / self._calls


class Cuda(Captured):
    """Our work: launches through CuPy."""

    def __init__(self, act: Callable[[], Any]):
        import cupy

        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._begin, self._end = cupy.cuda.Event(), cupy.cuda.Event()
        self._elapsed = cupy.cuda.get_elapsed_time
        with self._stream:
            for _ in range(3):  # compiles, and fills CuPy's pool of memory
                act()
        self._stream.synchronize()
        super().__init__(act)

    def _capture(self):
        with self._stream:
            self._stream.begin_capture()
            with launching.captured():
                for _ in range(self._calls):
                    self._act()
            graph = self._stream.end_capture()
            graph.launch(self._stream)
        self._stream.synchronize()
        return graph

    def _replay(self) -> float:
        self._begin.record(self._stream)
        self._graph.launch(self._stream)
        self._end.record(self._stream)
        self._end.synchronize()
        return self._elapsed(self._begin, self._end)


class Torch(Captured):
    """PyTorch's work on the same card."""

    def __init__(self, act: Callable[[], Any]):
        import torch

        self._torch = torch
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                act()
        torch.cuda.synchronize()
        super().__init__(act)

    def _capture(self):
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            for _ in range(self._calls):
                self._act()
        graph.replay()
        self._torch.cuda.synchronize()
        return graph

    def _replay(self) -> float:
        self._begin.record()
        self._graph.replay()
        self._end.record()
        self._end.synchronize()
        return self._begin.elapsed_time(self._end)


class Host:
    """Work on the simulator: CPU time of one call, which says nothing about a GPU."""

    def __init__(self, act: Callable[[], Any]):
        self._act = act
        act()

    def ms(self) -> float:
        begin = time.process_time()
        self._act()
        return 1e3 * (time.process_time() - begin)


def timer(device: str, act: Callable[[], Any]):
    """What measures our work on a device."""
    return Cuda(act) if device == "cuda" else Host(act)


def in_turn(timers: dict[str, Any], rounds: int = ROUNDS) -> dict[str, float]:
    """Milliseconds of each: the median over rounds in which each has its turn, so that a warm card is warm for all."""
    times: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, one in timers.items():
            times[name].append(one.ms())
    return {name: statistics.median(found) for name, found in times.items()}


def torch_on_card(device: str):
    """PyTorch, if it is here and sees the card; None otherwise."""
    if device != "cuda":
        return None
    with suppress(ImportError):
        import torch

        if torch.cuda.is_available():
            return torch
    print("  (PyTorch is not here, or sees no card: nothing to compare with)")
    return None


def print_table(rows: list[dict[str, Any]], columns: dict[str, str]) -> None:
    """columns: key -> format, such as {"name": "30", "ms": "10.3f"}; a value that is missing shows as a dash."""
    widths = {key: int(form.partition(".")[0].rstrip(",")) for key, form in columns.items()}
    titles = (f"{key.replace('_', ' '):{'<' if key == 'name' else '>'}{width}}" for key, width in widths.items())
    print("  " + "".join(titles))
    for row in rows:
        cells = (
            f"{'–':>{widths[key]}}" if row.get(key) is None else f"{row[key]:{form}}" for key, form in columns.items()
        )
        print("  " + "".join(cells), flush=True)
