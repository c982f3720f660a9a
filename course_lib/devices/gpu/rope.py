"""Rotary positions: kernels/rope.cu."""

from __future__ import annotations

from ..checks import fit
from .launching import THREADS, blocks, check_float32, check_size, empty, kernel

__all__ = "rope_forward rope_backward".split()


def rope_forward(x, cos, sin):
    return _turn("rope_forward", "x", x, cos, sin)


def rope_backward(dy, cos, sin):
    return _turn("rope_backward", "dy", dy, cos, sin)


def _turn(op, name, x, cos, sin):
    fit(op, f"{name} (B, T, H, D), cos (T, D/2), sin (T, D/2)", x, cos, sin)
    check_float32(op, x, cos, sin)
    check_size(op, x.size)
    y = empty(x, x.shape)  # (B, T, H, D)
    if y.size:
        T, H, D = x.shape[1:]
        kernel("rope.cu", op)((blocks(x.size // 2),), (THREADS,), (x, cos, sin, y, x.size // 2, T, H, D // 2))
    return y
