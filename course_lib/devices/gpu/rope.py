"""Rotary positions: kernels/rope.cu."""

from __future__ import annotations

from .launching import THREADS, blocks, empty, kernel

__all__ = "rope_forward rope_backward".split()


def rope_forward(x, cos, sin):
    return _rotate("rope_forward", x, cos, sin)


def rope_backward(dy, cos, sin):
    return _rotate("rope_backward", dy, cos, sin)


def _rotate(op, x, cos, sin):
    y = empty(x, x.shape)  # (B, T, H, D)
    if y.size:
        T, H, D = x.shape[1:]
        kernel("rope.cu", op)((blocks(x.size // 2),), (THREADS,), (x, cos, sin, y, x.size // 2, T, H, D // 2))
    return y
