"""Generation, token by token: kernels/decode.cu. The cache grows in place; no op of the contract, but attention uses it."""

from __future__ import annotations

import math

from ..checks import fit
from . import choices
from .launching import THREADS, TYPES, blocks, empty, kernel

__all__: list[str] = []


def append(k, v, k_cache, v_cache, length) -> None:
    """Row `length` of the caches (B, N, G, D) becomes k and v (B, 1, G, D), in place. length: int32 (1), on the device."""
    sizes = fit("append", "k (B, one, G, D), v (B, one, G, D), k_cache (B, N, G, D), v_cache (B, N, G, D), length (one)",
                k, v, k_cache, v_cache, length)  # fmt: skip
    if k.size:
        run = kernel("decode.cu", f"cache_append<{_element(k)}>")
        arguments = (k, v, k_cache, v_cache, length, k.size, sizes["N"], sizes["G"] * sizes["D"])
        run((blocks(k.size),), (THREADS,), arguments)


def attend(q, k_cache, v_cache, rows=None, length=None):
    """Attention of q (B, 1, H, D) over the first `rows` rows of the caches (B, N, G, D), or over length[0] + 1 of them.

    Returns y (B, 1, H, D) and logsumexp (B, H, 1). length: int32 (1), on the device.
    """
    sizes = fit("attend", "q (B, one, H, D), k_cache (B, N, G, D), v_cache (B, N, G, D)", q, k_cache, v_cache)
    B, N, H, G, D = (sizes[letter] for letter in "BNHGD")
    y, logsumexp = empty(q, q.shape), empty(q, (B, H, 1), "float32")
    run = kernel("decode.cu", f"decode_attention<{_element(q)}, {choices.head(D)}>")
    arguments = (q, k_cache, v_cache, length, y, logsumexp, rows or N, N, H, G, D, 1 / math.sqrt(D))
    run((H, B), (choices.DECODE_THREADS,), arguments)
    return y, logsumexp


def _element(array) -> str:
    return "__nv_bfloat16" if array.dtype.name == "uint16" else TYPES[array.dtype.name]
