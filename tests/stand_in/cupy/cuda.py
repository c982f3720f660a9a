"""cupy.cuda of the stand-in: streams that can be captured, events, memory, and what the driver says of its card."""

import ctypes
import time
from types import SimpleNamespace

_recording = None  # what a capture has written down


def do(work) -> None:
    """Do it now, or write it down for the graph that is being captured."""
    if _recording is None:
        work()
    else:
        _recording.append(work)


class Graph:
    def __init__(self, works: list):
        self._works = works

    def launch(self, stream=None) -> None:
        for work in self._works:
            work()


class Stream:
    def __init__(self, non_blocking: bool = False):
        pass

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exception) -> None:
        pass

    def begin_capture(self) -> None:
        global _recording
        if _recording is not None:
            raise RuntimeError("a capture has begun already")
        _recording = []

    def end_capture(self) -> Graph:
        global _recording
        works, _recording = _recording, None
        return Graph(works)

    def synchronize(self) -> None:
        if _recording is not None:
            raise RuntimeError("operation not permitted when stream is capturing")


class Event:
    def record(self, stream=None) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass


class UnownedMemory:
    """owner: a block of bytes, and a token that what lies there keeps alive."""

    def __init__(self, ptr: int, size: int, owner: tuple):
        block, token = owner
        self.buffer = (ctypes.c_char * size).from_buffer(block.host, ptr - block.data.ptr)
        self.buffer.token = token


def MemoryPointer(memory: UnownedMemory, offset: int):
    assert offset == 0
    return memory


def get_elapsed_time(begin: Event, end: Event) -> float:
    return max(1e-6, 1e3 * (end.at - begin.at))


def get_current_stream() -> Stream:
    return Stream()


memory = SimpleNamespace(OutOfMemoryError=type("OutOfMemoryError", (Exception,), {}))
runtime = SimpleNamespace(
    getDeviceCount=lambda: 1,
    memGetInfo=lambda: (4 << 30, 8 << 30),
    driverGetVersion=lambda: 13000,
    getDeviceProperties=lambda device: {"name": b"Stand-in", "totalGlobalMem": 8 << 30, "multiProcessorCount": 4, "major": 8,
                                        "minor": 0},
)  # fmt: skip
