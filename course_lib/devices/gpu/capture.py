"""A training step as one CUDA graph: captured once for each shape of its inputs, then replayed with a single launch.

A step of a small model is some hundred short kernels, and a CPU that launches them one by one is slower than the GPU that
runs them. A graph keeps all launches with their arguments. So nothing in it may change from step to step but the contents of
arrays: batch, learning rate, random bits are copied into fixed arrays before each replay, outside of the graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import card, launching
from .arena import Arena


class CapturedStep:
    """`step(*inputs)` runs `work` on device arrays that hold the inputs, and returns what it leaves, as NumPy arrays.

    work: takes one device array for each input, returns a tuple of device arrays. All that it does is done by the device: it
    reads no value, and does the same at each call. inputs: NumPy arrays; the first calls with inputs of a new shape run
    `work` as it is while its memory is planned (arena.py), then comes the capture. If that fails, a warning says so, and the
    work runs launch by launch.
    memory, stream: of the card; tests have their own.
    """

    def __init__(self, work: Callable[..., tuple], memory: Any = card, stream: Any = None):
        self._work, self._memory = work, memory
        self._stream = stream or card.Stream()
        self._replays: dict[tuple, Replay] = {}

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        key = tuple((x.shape, x.dtype.str) for x in inputs)
        if key not in self._replays:
            self._memory.synchronize()  # what other streams have begun, such as filling the moments, must be done
        with self._stream:
            if key not in self._replays:
                fixed = [self._memory.empty(x.shape, x.dtype) for x in inputs]
                self._replays[key] = Replay(lambda: self._work(*fixed), fixed, self._memory, self._stream)
            replay = self._replays[key]
            for array, values in zip(replay.inputs, inputs, strict=True):
                self._memory.write(array, values)
            return [self._memory.read(array) for array in replay()]

    @property
    def plans(self) -> list:
        """The plan of each arena, for a picture."""
        return [replay.arena.plan for replay in self._replays.values()]

    @property
    def captured(self) -> int:
        """How many graphs there are: one for each shape of inputs, once captured."""
        return sum(replay.graph is not None for replay in self._replays.values())


class Replay:
    """One graph: work on fixed arrays."""

    def __init__(self, work: Callable[[], tuple], inputs: list, memory: Any, stream: Any):
        self.inputs, self.arena, self.graph = inputs, Arena(memory), None
        self._work, self._stream = work, stream
        self._outputs: tuple = ()
        self._failed = False

    def __call__(self) -> tuple:
        if self.graph is None and self.arena.ready and not self._failed:
            self._capture()
        if self.graph is None:
            return self._run()
        self.graph.launch()
        return self._outputs

    def _run(self) -> tuple:
        self._outputs = ()  # the last step's may go before this one's are made
        with self.arena.step(), launching.using(self.arena):
            self._outputs = self._work()
        return self._outputs

    def _capture(self) -> None:
        try:
            self._stream.begin_capture()
            try:
                with launching.captured():
                    self._run()
            finally:
                graph = self._stream.end_capture()
            if not self.arena.ready:
                raise RuntimeError("its memory was not as planned")
            self.graph = graph
        except (
            Exception
        ) as error:  # of CuPy, of the driver, or a value that was asked for: the work itself can still run
            self._failed = True
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            warnings.warn(
                f"The training step could not be captured as a CUDA graph ({reason}). It runs launch by launch: the same "
                "results, more slowly.",
                stacklevel=5,
            )
