"""Softmax: kernels/softmax.cu."""

from __future__ import annotations

from ..checks import check_causal, fit
from . import configuration
from .launching import check_float32, check_size, empty, is_host, kernel, vector_width

__all__ = "softmax_forward softmax_backward".split()

LONG = 1024  # threads of a block that owns a row too long for registers


def softmax_forward(x, causal=False):
    sizes = fit("softmax_forward", "x (*n, T, S)" if causal else "x (*n, S)", x)
    S, T = sizes["S"], sizes["T"] if causal else 0
    if causal:
        check_causal("softmax_forward", T, S)
    check_float32("softmax_forward", x)
    check_size("softmax_forward", x.size)
    y = empty(x, x.shape)
    if x.size:
        _launch("softmax_forward", "softmax_2_online", S, (x, y), (T,))
    return y


def softmax_backward(dy, y):
    sizes = fit("softmax_backward", "dy (*n, S), y (*n, S)", dy, y)
    check_float32("softmax_backward", dy, y)
    check_size("softmax_backward", y.size)
    dx = empty(y, y.shape)
    if y.size:
        _launch("softmax_backward", "softmax_backward_1_two_pass", sizes["S"], (dy, y, dx), ())
    return dx


def _launch(name: str, long_name: str, S: int, arrays: tuple, last: tuple) -> None:
    """`name` with rows in registers, or `long_name` for rows that do not fit."""
    host, rows = is_host(arrays[0]), arrays[0].size // S
    layout = configuration.row_layout(host, S, vector_width(*arrays) if S % 4 == 0 else 1)
    if layout is None:
        kernel("softmax.cu", f"{long_name}<{LONG}>")((rows,), (LONG,), (*arrays, S, *last))
    else:
        kernel("softmax.cu", f"{name}<{layout.template}>")((rows,), (layout.THREADS,), (*arrays, rows, S, *last))
