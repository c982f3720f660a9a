"""Attention: kernels/flash_attention_forward.wgsl and flash_attention_backward.wgsl."""

from __future__ import annotations

import math

from ..layout import blocks
from .adapter import adapter_name, limit
from .launching import empty, kernel
from .memory import WORD
from .storage import zeros

__all__ = "attention_forward attention_backward".split()

OWN = 16  # rows of a group, as in the kernels


def attention_forward(q, k, v, causal=True):
    sizes, D, B = _sizes(q, k)
    y, logsumexp = empty(q, q.shape), empty(q, (B, sizes["H"], sizes["T"]))
    if q.size:
        rows = tile_rows(D)
        words = (OWN + rows) * (D + 1) + 2 * OWN * rows
        run = _kernel(
            "flash_attention_forward.wgsl", "flash_attention_forward", words, D=D, KEYS=rows, CAUSAL=bool(causal)
        )
        run((blocks(sizes["T"], OWN), sizes["H"], B), q=q, k=k, v=v, y=y, logsumexp=logsumexp, **sizes)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    sizes, D, B = _sizes(q, k)
    if not q.size:  # no query has seen the keys
        return empty(q, q.shape), zeros(k.shape), zeros(v.shape)
    T, S, H, G = (sizes[letter] for letter in "TSHG")
    dq, dk, dv, delta = (empty(q, shape) for shape in (q.shape, k.shape, v.shape, (B, H, T)))
    rows = tile_rows(D)
    words = 2 * rows * (D + 1) + 2 * OWN * rows
    delta_kernel, q_kernel, kv_kernel = (
        _kernel("flash_attention_backward.wgsl", f"flash_attention_{name}", words, D=D, TILE=rows, CAUSAL=bool(causal))
        for name in ("delta", "backward_q", "backward_kv")
    )
    delta_kernel(blocks(B * T * H), dy=dy, y=y, deltas=delta, **sizes)
    given = {"q": q, "k": k, "v": v, "dy": dy, "logsumexp": logsumexp, "delta": delta}
    q_kernel((blocks(T, OWN), H, B), **given, dq=dq, **sizes)
    kv_kernel((blocks(S, OWN), G, B), **given, dk=dk, dv=dv, **sizes)
    return dq, dk, dv


def tile_rows(D: int) -> int:
    """Rows of the other side that pass through workgroup memory together, so that 16 KB hold heads of up to 128 numbers."""
    return 32 if D <= 32 else 16 if D <= 64 else 8


def _kernel(file: str, name: str, words: int, **constants):
    most = limit("max-compute-workgroup-storage-size")
    if words * WORD > most:
        raise ValueError(
            f"Attention with heads of {constants['D']} numbers takes {words * WORD:,} bytes of workgroup memory, but the "
            f"adapter {adapter_name()} has {most:,} (max-compute-workgroup-storage-size): use smaller heads, or the device "
            "'cpu'."
        )
    return kernel(file, name, **constants)


def _sizes(q, k):
    """The numbers that the kernels take, D and B."""
    (B, T, H, D), (_, S, G, _) = q.shape, k.shape
    return {"T": T, "S": S, "H": H, "G": G, "scale": 1 / math.sqrt(D or 1)}, D, B
