"""Arrays in the memory of a WebGPU device, and the pool that their memory comes from and goes back to.

Every element takes one 32-bit word, since WGSL has no other numbers that all adapters know: int64 and bool are labels over
32-bit integers, and an int64 that does not fit is refused when it is uploaded. A sum beyond 2^31 wraps around.

Memory that no array uses any more is handed out again, by size classes. That needs no waiting: what is launched later runs
later. So a training step asks the driver for nothing after the first.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .adapter import adapter_name, device, explained, limit

# What a dtype is called in WGSL.
TYPES = {"float32": "f32", "int32": "i32", "int64": "i32", "bool": "i32", "uint32": "u32"}
WORD = 4  # bytes
COPY_SRC, COPY_DST, STORAGE = 0x4, 0x8, 0x80  # GPUBufferUsage

# Bytes of a size class -> (number, GPUBuffer) that is free. The lowest number is handed out first, so that a step that
# does what the one before did gets the same buffers for the same arrays.
_free: dict[int, list[tuple[int, Any]]] = defaultdict(list)
_buffers: dict[
    int, Any
] = {}  # all of them by number: one in a cycle of garbage would be released before it is handed back
made = made_bytes = 0  # buffers asked of the driver so far
on_shortage: list[Callable[[], None]] = []  # what else keeps free buffers


class Memory:
    """A GPUBuffer on loan from the pool: it goes back when the last array over it is gone."""

    def __init__(self, words: int):
        self.bytes = size_class(words * WORD)
        free = _free[self.bytes]
        self.number, self.buffer = heapq.heappop(free) if free else _make(self.bytes)
        # The lowest and highest of whole numbers that came from the host, until something is written over them: so that
        # indices can be checked without asking the GPU for them.
        self.range: tuple[int, int] | None = None

    def __del__(self) -> None:
        if hasattr(self, "buffer"):
            heapq.heappush(_free[self.bytes], (self.number, self.buffer))


def size_class(size: int) -> int:
    """The smallest size that the pool hands out for `size` bytes: four steps to each power of two, from 256 up."""
    if size <= 256:
        return 256
    step = 2 ** ((size - 1).bit_length() - 3)
    return -(-size // step) * step


def _make(size: int) -> tuple[int, Any]:
    """A new buffer; where there is no room for it, what the pool keeps for later is given up first."""
    global made, made_bytes
    usage = COPY_SRC | COPY_DST | STORAGE
    with explained(f"making an array of {size:,} bytes"):
        try:
            buffer = device().create_buffer(size=size, usage=usage)
        except MemoryError:
            for give_up in on_shortage:
                give_up()
            for number, _ in (pair for free in _free.values() for pair in free):
                del _buffers[number]
            _free.clear()
            buffer = device().create_buffer(size=size, usage=usage)
    made, made_bytes = made + 1, made_bytes + size
    _buffers[made] = buffer
    return made, buffer


class Array:
    """`shape` elements of `dtype`, contiguous, from element `offset` of a memory on."""

    __slots__ = ("dtype", "memory", "offset", "shape", "size")

    def __init__(self, memory: Memory, shape: Sequence[int], dtype: np.dtype, offset: int = 0):
        self.memory, self.shape, self.dtype, self.offset = memory, tuple(shape), dtype, offset
        self.size = math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def reshape(self, *shape) -> Array:
        """The same elements with another shape of the same size: reshape(2, 3) or reshape((2, 3))."""
        shape = shape[0] if shape and isinstance(shape[0], tuple) else shape
        return Array(self.memory, shape, self.dtype, self.offset)

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, dtype={self.dtype}, on {adapter_name()})"


def check_dtype(dtype) -> np.dtype:
    """The dtype. Raises ValueError if this device has no such numbers."""
    dtype = np.dtype(dtype)
    if dtype.name not in TYPES:
        raise ValueError(
            f"The device 'webgpu' holds {', '.join(TYPES)}, but was given {dtype}: cast it first, or use the device 'cpu'."
        )
    return dtype


def empty(shape, dtype="float32") -> Array:
    """A new array; what is in it is not defined. Raises ValueError if it is more than a kernel can be given at once."""
    shape = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
    size = max(math.prod(shape), 1) * WORD
    for name in ("max-storage-buffer-binding-size", "max-buffer-size"):
        if size > limit(name):
            raise ValueError(
                f"An array of shape {shape} takes {size:,} bytes, but the adapter {adapter_name()} allows {limit(name):,} "
                f"({name}): use a smaller batch or context, or the device 'cpu'."
            )
    return Array(Memory(size // WORD), shape, check_dtype(dtype))
