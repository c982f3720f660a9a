"""Memory of the cpu device: large arrays come from blocks that are used again, so that a training step asks the system
for nothing after the first. (A new block is a page fault for each 4 KB, as dear as computing what goes into it.)

A block is lent out as a lease, an object whose memory the array uses. NumPy keeps the lease alive for as long as the array
or any view of it lives; when the last is gone, the block returns to the shelf of its size. Arrays start on 64 bytes.

Limits: blocks come in steps of an eighth of a power of two, so up to an eighth is unused. Kept are `FREE_LIMIT` bytes of free
blocks, or more: as many as make, with those that are lent, a quarter more than the most ever lent at once, so that a step
finds what the last one used. What is beyond that goes back to the system, the sizes requested longest ago first.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import weakref

import numpy as np

SMALL = 1 << 16  # bytes; below that NumPy's own allocator is as good
FREE_LIMIT = 1 << 30  # bytes of free blocks that are always kept
HUGE_PAGE = 1 << 21

_shelves: dict[int, list] = {}  # size of a block -> free blocks of that size; the size used last stands last
_free_bytes = _lent_bytes = _most_lent = 0
_lease_types: dict[int, type] = {}
_returns: dict[int, weakref.ref] = {}  # what notices the end of each lease


def empty(shape, dtype="float32") -> np.ndarray:
    """A new array; what is in it is not defined."""
    dtype = np.dtype(dtype)
    size = dtype.itemsize * (math.prod(shape) if isinstance(shape, tuple | list) else int(shape))
    if size < SMALL:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, _lease(_block_size(size)))


def zeros(shape, dtype="float32") -> np.ndarray:
    """A new array of zeros."""
    array = empty(shape, dtype)
    array.fill(0)
    return array


def free_bytes() -> int:
    """How much the shelves hold."""
    return _free_bytes


def release() -> None:
    """Give all free blocks back to the system, as after a run, whose next step will not come."""
    global _most_lent
    _trim(0)
    _most_lent = _lent_bytes


def _block_size(size: int) -> int:
    """`size` rounded up to one of eight steps between powers of two, so that arrays of about a size share blocks."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step


def _lease(size: int):
    """A block of `size` bytes from its shelf, or a new one, as an object that gives it back when it dies."""
    global _free_bytes, _lent_bytes, _most_lent
    shelf = _shelves.pop(size, None)
    if shelf is None:
        shelf = []
    _shelves[size] = shelf  # now the last
    if shelf:
        block = shelf.pop()
        _free_bytes -= size
    else:
        block = _new_block(size)
    kind = _lease_types.get(size)
    if kind is None:
        kind = _lease_types[size] = ctypes.c_char * size
    lease = kind.from_buffer(block)
    _lent_bytes += size
    _most_lent = max(_most_lent, _lent_bytes)
    key = id(lease)

    def give_back(_, key=key, block=block, size=size):
        global _free_bytes, _lent_bytes
        del _returns[key]
        _shelves.setdefault(size, []).append(block)
        _free_bytes += size
        _lent_bytes -= size
        limit = max(FREE_LIMIT, _most_lent * 5 // 4 - _lent_bytes)
        if _free_bytes > limit:
            _trim(limit)

    _returns[key] = weakref.ref(lease, give_back)
    return lease


def _new_block(size: int) -> mmap.mmap:
    """Memory from the system, in pages of 2 MB where it has them: fewer page faults, and fewer misses in their table."""
    block = mmap.mmap(-1, size)
    if size >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    return block


def _trim(limit: int) -> None:
    """Drop free blocks, the least recently used size first, until `limit` bytes are left."""
    global _free_bytes
    for size in list(_shelves):
        shelf = _shelves[size]
        while shelf and _free_bytes > limit:
            shelf.pop()
            _free_bytes -= size
        if _free_bytes <= limit:
            return
