"""Softmax: kernels/softmax.cu."""

from __future__ import annotations

from . import configuration
from .launching import empty, is_host, kernel, vector_width

__all__ = "softmax_forward softmax_backward".split()

LONG = 1024  # threads of a block that owns a row too long for registers


def softmax_forward(x, causal=False):
    S, T = x.shape[-1], x.shape[-2] if causal else 0
    y = empty(x, x.shape)
    if x.size:
        _launch("softmax_forward", "softmax_2_online", S, (x, y), (T,))
    return y


def softmax_backward(dy, y):
    dx = empty(y, y.shape)
    if y.size:
        _launch("softmax_backward", "softmax_backward_1_two_pass", y.shape[-1], (dy, y, dx), ())
    return dx


def _launch(name: str, long_name: str, S: int, arrays: tuple, last: tuple) -> None:
    """`name` with rows in registers, or `long_name` for rows that do not fit."""
    host, rows = is_host(arrays[0]), arrays[0].size // S
    layout = configuration.row_layout(host, S, vector_width(*arrays) if S % 4 == 0 else 1)
    if layout is None:
        kernel("softmax.cu", f"{long_name}<{LONG}>")((rows,), (LONG,), (*arrays, S, *last))
    else:
        kernel("softmax.cu", f"{name}<{layout.template}>")((rows,), (layout.THREADS,), (*arrays, rows, S, *last))
