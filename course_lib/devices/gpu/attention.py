"""Attention: kernels/flash_attention_*.cu, and kernels/decode.cu for one query after a cache."""

from __future__ import annotations

import math

from . import attention_tiles, decoding
from .launching import blocks, empty, kernel, zeros

__all__ = "attention_forward attention_backward".split()

TYPES = {"float32": "float", "bfloat16": "__nv_bfloat16", "uint16": "__nv_bfloat16"}  # uint16 holds bfloat16's bits


def attention_forward(q, k, v, causal=True):
    T, S, H, G, D = _sizes("attention_forward", q, k, v)
    B = q.shape[0]
    if T == 1 and q.size:
        return decoding.attend(q, k, v, S)
    y, logsumexp = empty(q, q.shape), empty(q, (B, H, T), "float32")
    if q.size:
        tile, _, _ = attention_tiles.flash(_is_bfloat16(q), D)
        sizes = (T, S, H, G, D, bool(causal), 1 / math.sqrt(D))
        run = _flash(q, "forward", "forward", tile)
        run((blocks(T, tile.rows), H, B), (tile.threads,), (q, k, v, y, logsumexp, *sizes), tile.forward_bytes)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    T, S, H, G, D = _sizes("attention_backward", q, k, v, dy, y)
    B = q.shape[0]
    dq, dk, dv = empty(q, q.shape), empty(k, k.shape), empty(v, v.shape)
    if not q.size:  # no query has seen the keys
        return dq, zeros(k, k.shape), zeros(v, v.shape)
    delta = empty(q, (B, H, T), "float32")
    kernel("flash_attention_backward.cu", f"flash_attention_delta<{TYPES[q.dtype.name]}>")(
        (blocks(B * T * H, attention_tiles.DELTA_ROWS),), (8 * attention_tiles.DELTA_ROWS,), (dy, y, delta, B, T, H, D)
    )
    _, of_q, of_kv = attention_tiles.flash(_is_bfloat16(q), D)
    given, sizes = (dy, q, k, v, logsumexp, delta), (T, S, H, G, D, bool(causal), 1 / math.sqrt(D))
    run = _flash(q, "backward", "backward_q", of_q)
    run((blocks(T, of_q.block_rows), H, B), (of_q.threads,), (*given, dq, *sizes), of_q.backward_q_bytes)
    run = _flash(q, "backward", "backward_kv", of_kv)
    run((blocks(S, of_kv.block_rows), G, B), (of_kv.threads,), (*given, dk, dv, *sizes), of_kv.backward_kv_bytes)
    return dq, dk, dv


def _is_bfloat16(array) -> bool:
    return TYPES[array.dtype.name] == "__nv_bfloat16"


def _flash(q, file, name, tile):
    """A kernel of flash_attention_*.cu, or of flash_attention_bf16_*.cu, which uses tensor cores."""
    stem = "flash_attention_bf16_" if _is_bfloat16(q) else "flash_attention_"
    return kernel(f"{stem}{file}.cu", f"{stem}{name}<{tile.template}>")


def _sizes(op, q, k, v, *others):
    """T, S, H, G, D. Raises ValueError in a sentence for what the kernels do not take."""
    (_, T, H, D), (_, S, G, _) = q.shape, k.shape
    if D > attention_tiles.LARGEST_HEAD:
        raise ValueError(
            f"{op} on this device takes heads of at most {attention_tiles.LARGEST_HEAD} numbers, but D is {D}."
        )
    kinds = {array.dtype.name for array in (q, k, v, *others)}
    if len(kinds) > 1 or not kinds <= set(TYPES):
        raise ValueError(
            f"{op} on this device takes arrays of float32 or of bfloat16, all alike, but was given {', '.join(sorted(kinds))}: "
            "cast them first, or use the device 'cpu', which computes in float64 too."
        )
    return T, S, H, G, D
