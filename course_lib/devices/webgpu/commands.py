"""What is written down for the GPU, launches and copies, and how it is handed in: some hundred at a time, or when somebody asks
for a value, since each handing in costs as much as many launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from . import memory
from .adapter import device, explained
from .memory import COPY_DST, WORD, Array

MAP_READ = 0x1  # GPUBufferUsage
TOGETHER = 256  # launches and copies handed in at once

_encoder: Any = None
_pass: Any = None
_pending = 0
_most: float = TOGETHER


def open_pass() -> Any:
    """The compute pass that launches are written into."""
    global _pass
    if _pass is None:
        _pass = _open().begin_compute_pass()
    return _pass


def _open() -> Any:
    global _encoder
    if _encoder is None:
        _encoder = device().create_command_encoder()
    return _encoder


def _close_pass() -> Any:
    """The encoder, outside of a compute pass: where copies are written down."""
    global _pass
    if _pass is not None:
        _pass.end()
        _pass = None
    return _open()


def count() -> None:
    """One more was written down."""
    global _pending
    _pending += 1
    if _pending >= _most:
        flush()


def finished() -> Any:
    """What was written down, ready to be handed in, or None."""
    global _encoder, _pending
    if _encoder is None:
        return None
    encoder = _close_pass()
    _encoder, _pending = None, 0
    return encoder.finish()


def flush() -> None:
    """Hand in what was written down."""
    with explained("running kernels"):
        if (written := finished()) is not None:
            device().queue.submit([written])


@contextmanager
def held_back() -> Iterator[None]:
    """Inside the `with` block nothing is handed in unless somebody asks for a value: to hand it in at a known time."""
    global _most
    _most = float("inf")
    try:
        yield
    finally:
        _most = TOGETHER


def copied(x: Array) -> Array:
    """A new array with the same content."""
    result = memory.empty(x.shape, x.dtype)
    if x.size:
        with explained("copying an array"):
            _close_pass().copy_buffer_to_buffer(
                x.memory.buffer, x.offset * WORD, result.memory.buffer, 0, x.size * WORD
            )
            count()
    result.memory.range = x.memory.range
    return result


def upload(array: Array, content: bytes) -> None:
    """Bytes of the host into the memory of an array."""
    flush()  # what was written down may still use this memory for an array that is gone
    with explained("copying an array to the GPU"):
        device().queue.write_buffer(array.memory.buffer, array.offset * WORD, content)


@cache
def _staging(size: int) -> Any:
    return device().create_buffer(size=size, usage=COPY_DST | MAP_READ)


def read_back(array: Array) -> bytes:
    """The content of an array, after everything that was launched before."""
    size = array.size * WORD
    with explained("copying an array from the GPU"):
        staging = _staging(memory.size_class(size))
        _close_pass().copy_buffer_to_buffer(array.memory.buffer, array.offset * WORD, staging, 0, size)
        flush()
        staging.map_sync("READ", 0, size)
        try:
            return bytes(staging.read_mapped(0, size, copy=False))
        finally:
            staging.unmap()
