"""The key-value cache of generation: what each layer has read, in memory with room for what comes.

A layer's cache is a list, empty at first, then [keys, values], each (B, S, G, D), or one of them alone where keys and values are
the same tensor: views of the first S of N rows, so that a new row is written behind them and nothing is copied. While the tape is
recording, they are concatenated instead: what is on the tape must not be changed in place.

A cache of another kind, such as one in pages (serving/paged_model.py), is an object with a method `attend(q, k, v)` of its own.
"""

from __future__ import annotations

import numpy as np

from course_lib import autograd, functional
from course_lib.tensor import Tensor, tensor_from_array
from course_lib.tensor.recording import Storage, view_of
from course_lib.tensor.shapes import contiguous_strides


class Rows(Storage):
    """A buffer (B, N, G, D) of which the first `taken` rows are in use."""

    __slots__ = ("taken",)


def attend(cache, room: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of q (B, T, H, D) over the cache and k, v (B, T, G, D), which are added to it -> (B, T, H, D).

    room: N, rows that a new buffer gets.
    """
    if not isinstance(cache, list):
        return cache.attend(q, k, v)
    new = [k] if v is k else [k, v]
    if autograd.recording() and q.requires_grad:
        cache[:] = [functional.concatenate(pair, axis=1) for pair in zip(cache, new, strict=True)] if cache else new
        return functional.attention(q, cache[0], cache[-1])
    past = cache[0].shape[1] if cache else 0
    one = past > 0 and q.shape[1] == 1 and all(_has_room(tensor) for tensor in cache)
    if not one:
        cache[:] = [_extended(old, rows, room) for old, rows in zip(cache or [None] * len(new), new, strict=True)]
        return functional.attention(q, cache[0], cache[-1])
    ops = q.ops
    length = ops.from_numpy(np.array([past], np.int32))
    buffers = cache[0].storage.array, cache[-1].storage.array
    ops.cache_append(k.array(), v.array(), *buffers, length)
    cache[:] = [_first(tensor.storage, past + 1) for tensor in cache]
    return tensor_from_array(ops.cache_attention(q.array(), *buffers, length), ops)


def _has_room(old: Tensor) -> bool:
    """Whether the next row may be written behind these: there is one, and nothing else has continued them."""
    rows = old.storage
    return isinstance(rows, Rows) and rows.taken == old.shape[1] < rows.array.shape[1]


def _extended(old: Tensor | None, new: Tensor, room: int) -> Tensor:
    """old (B, S, G, D), if any, and new (B, T, G, D) in one buffer: (B, S + T, G, D)."""
    past, (B, T, G, D), ops = old.shape[1] if old is not None else 0, new.shape, new.ops
    if old is None or not _has_room(old) or past + T > old.storage.array.shape[1]:
        shape = (B, max(room, past + T), G, D)
        rows = Rows(ops.empty(shape, new.dtype), ops)
        if past:
            ops.strided_write(rows.array, old.array(), contiguous_strides(shape))
    else:
        rows = old.storage
    ops.strided_write(rows.array, new.array(), contiguous_strides(rows.array.shape), past * G * D)
    return _first(rows, past + T)


def _first(rows: Rows, taken: int) -> Tensor:
    """The first `taken` rows, as a view."""
    rows.taken = taken
    B, _, G, D = shape = rows.array.shape
    return view_of(Tensor, rows, (B, taken, G, D), contiguous_strides(shape), 0)
