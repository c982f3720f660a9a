"""Attention: kernels/flash_attention_*.cu, and kernels/decode.cu for one query after a cache."""

from __future__ import annotations

import math

from ..checks import is_bfloat16
from . import attention_tiles, decoding
from .launching import blocks, empty, kernel, zeros

__all__ = "attention_forward attention_backward".split()


def attention_forward(q, k, v, causal=True):
    T, S, H, G, D = _sizes("attention_forward", q, k)
    B = q.shape[0]
    if T == 1 and q.size:
        return decoding.attend(q, k, v, S)
    y, logsumexp = empty(q, q.shape), empty(q, (B, H, T), "float32")
    if q.size:
        tile, _, _ = attention_tiles.flash(is_bfloat16(q.dtype), D)
        sizes = (T, S, H, G, D, bool(causal), 1 / math.sqrt(D))
        run = _flash(q, "forward", "forward", tile)
        run((blocks(T, tile.rows), H, B), (tile.threads,), (q, k, v, y, logsumexp, *sizes), tile.forward_bytes)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    T, S, H, G, D = _sizes("attention_backward", q, k)
    B = q.shape[0]
    dq, dk, dv = empty(q, q.shape), empty(k, k.shape), empty(v, v.shape)
    if not q.size:  # no query has seen the keys
        return dq, zeros(k, k.shape), zeros(v, v.shape)
    delta = empty(q, (B, H, T), "float32")
    kernel("flash_attention_backward.cu", f"flash_attention_delta<{decoding.element(q)}>")(
        (blocks(B * T * H, attention_tiles.DELTA_ROWS),), (8 * attention_tiles.DELTA_ROWS,), (dy, y, delta, B, T, H, D)
    )
    _, of_q, of_kv = attention_tiles.flash(is_bfloat16(q.dtype), D)
    given, sizes = (dy, q, k, v, logsumexp, delta), (T, S, H, G, D, bool(causal), 1 / math.sqrt(D))
    run = _flash(q, "backward", "backward_q", of_q)
    run((blocks(T, of_q.block_rows), H, B), (of_q.threads,), (*given, dq, *sizes), of_q.backward_q_bytes)
    run = _flash(q, "backward", "backward_kv", of_kv)
    run((blocks(S, of_kv.block_rows), G, B), (of_kv.threads,), (*given, dk, dv, *sizes), of_kv.backward_kv_bytes)
    return dq, dk, dv


def _flash(q, file, name, tile):
    """A kernel of flash_attention_*.cu, or of flash_attention_bf16_*.cu, which uses tensor cores."""
    stem = "flash_attention_bf16_" if is_bfloat16(q.dtype) else "flash_attention_"
    return kernel(f"{stem}{file}.cu", f"{stem}{name}<{tile.template}>")


def _sizes(op, q, k):
    """T, S, H, G, D. Raises ValueError for larger heads than the kernels take."""
    (_, T, H, D), (_, S, G, _) = q.shape, k.shape
    if D > attention_tiles.LARGEST_HEAD:
        raise ValueError(
            f"{op} on this device takes heads of at most {attention_tiles.LARGEST_HEAD} numbers, but D is {D}."
        )
    return T, S, H, G, D
