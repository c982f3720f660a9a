"""Softmax: kernels/softmax.wgsl."""

from __future__ import annotations

from ..checks import check_causal, fit
from ..gpu.launching import check_float32, check_size
from .launching import empty, kernel

__all__ = "softmax_forward softmax_backward".split()

LOWEST = float("-inf")  # WGSL cannot write it down


def softmax_forward(x, causal=False):
    sizes = fit("softmax_forward", "x (*n, T, S)" if causal else "x (*n, S)", x)
    T, S = sizes.get("T", 1), sizes["S"]
    if causal:
        check_causal("softmax_forward", T, S)
    check_float32("softmax_forward", x)
    check_size("softmax_forward", x.size)
    y = empty(x, x.shape)  # (..., T, S)
    if x.size:
        rows = x.size // S
        run = kernel("softmax.wgsl", "softmax_forward", CAUSAL=bool(causal))
        run(rows, x=x, y=y, rows=rows, T=T, S=S, lowest=LOWEST)
    return y


def softmax_backward(dy, y):
    S = fit("softmax_backward", "dy (*n, S), y (*n, S)", dy, y)["S"]
    check_float32("softmax_backward", dy, y)
    check_size("softmax_backward", y.size)
    dx = empty(y, y.shape)  # (..., T, S)
    if y.size:
        rows = y.size // S
        run = kernel("softmax.wgsl", "softmax_backward", CAUSAL=False)
        run(rows, dy=dy, weights=y, dx=dx, rows=rows, T=1, S=S, lowest=LOWEST)
    return dx
