"""Generation, token by token: kernels/decode.cu. The cache grows in place, and one query attends to all of it."""

from __future__ import annotations

import math

from ..checks import is_bfloat16
from . import attention_tiles
from .launching import THREADS, TYPES, blocks, empty, kernel

__all__ = "cache_append cache_attention".split()


def cache_append(k, v, k_cache, v_cache, length) -> None:
    kind = element(k)
    if k.size:
        run = kernel("decode.cu", f"cache_append<{kind}>")
        arguments = (k, v, k_cache, v_cache, length, k.size, k_cache.shape[1], k.shape[2] * k.shape[3])
        run((blocks(k.size),), (THREADS,), arguments)


def cache_attention(q, k_cache, v_cache, length):
    return attend(q, k_cache, v_cache, length=length)[0]


def attend(q, k_cache, v_cache, rows=None, length=None):
    """Attention of q (B, 1, H, D) over the first `rows` rows of the caches (B, N, G, D), or over length[0] + 1 of them.

    Returns y (B, 1, H, D) and logsumexp (B, H, 1). length: int32 (1), on the device.
    """
    (B, _, H, D), (_, N, G, _) = q.shape, k_cache.shape
    y, logsumexp = empty(q, q.shape), empty(q, (B, H, 1), "float32")
    run = kernel("decode.cu", f"decode_attention<{element(q)}, {attention_tiles.head(D)}>")
    arguments = (q, k_cache, v_cache, length, y, logsumexp, rows or N, N, H, G, D, 1 / math.sqrt(D))
    run((H, B), (attention_tiles.DECODE_THREADS,), arguments)
    return y, logsumexp


def element(array) -> str:
    """What an array holds, in CUDA C++: float32 or bfloat16."""
    return "__nv_bfloat16" if is_bfloat16(array.dtype) else TYPES[array.dtype.name]
