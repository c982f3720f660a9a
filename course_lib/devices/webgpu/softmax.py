"""Softmax: kernels/softmax.wgsl."""

from __future__ import annotations

from .launching import empty, kernel

__all__ = "softmax_forward softmax_backward".split()

LOWEST = float("-inf")  # WGSL cannot write it down


def softmax_forward(x, causal=False):
    T, S = x.shape[-2] if causal else 1, x.shape[-1]
    y = empty(x, x.shape)  # (..., T, S)
    if x.size:
        rows = x.size // S
        run = kernel("softmax.wgsl", "softmax_forward", CAUSAL=bool(causal))
        run(rows, x=x, y=y, rows=rows, T=T, S=S, lowest=LOWEST)
    return y


def softmax_backward(dy, y):
    S = y.shape[-1]
    dx = empty(y, y.shape)  # (..., T, S)
    if y.size:
        rows = y.size // S
        run = kernel("softmax.wgsl", "softmax_backward", CAUSAL=False)
        run(rows, dy=dy, weights=y, dx=dx, rows=rows, T=1, S=S, lowest=LOWEST)
    return dx
