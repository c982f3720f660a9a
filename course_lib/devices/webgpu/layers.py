"""The activations: kernels/gelu.wgsl, bias_gelu.wgsl and swiglu.wgsl. Rotary positions: kernels/rope.wgsl."""

from __future__ import annotations

from ..layout import blocks
from .launching import empty, kernel
from .reductions import sum_columns

__all__ = """
    gelu_forward gelu_backward bias_gelu_forward bias_gelu_backward swiglu_forward swiglu_backward
    rope_forward rope_backward
""".split()


def _run(file: str, op: str, n: int, arrays: dict, **numbers) -> None:
    """One thread for each of n elements."""
    if n:
        kernel(file, op)(blocks(n), **arrays, n=n, **numbers)


def gelu_forward(x):
    y = empty(x, x.shape)
    _run("gelu.wgsl", "gelu_forward", x.size, {"x": x, "y": y})
    return y


def gelu_backward(dy, x):
    dx = empty(x, x.shape)
    _run("gelu.wgsl", "gelu_backward", x.size, {"dy": dy, "x": x, "dx": dx})
    return dx


def bias_gelu_forward(x, bias):
    F = bias.size
    y = empty(x, x.shape)
    _run("bias_gelu.wgsl", "bias_gelu_forward", x.size, {"x": x, "bias": bias, "y": y}, F=F)
    return y


def bias_gelu_backward(dy, x, bias):
    F = bias.size
    dx = empty(x, x.shape)
    _run("bias_gelu.wgsl", "bias_gelu_backward", x.size, {"dy": dy, "x": x, "bias": bias, "dx": dx}, F=F)
    return dx, sum_columns(dx.reshape(x.size // F if F else 0, F))


def swiglu_forward(x):
    F = x.shape[-1] // 2
    y = empty(x, (*x.shape[:-1], F))
    _run("swiglu.wgsl", "swiglu_forward", y.size, {"x": x, "y": y}, F=F)
    return y


def swiglu_backward(dy, x):
    F = dy.shape[-1]
    dx = empty(x, x.shape)
    _run("swiglu.wgsl", "swiglu_backward", dy.size, {"dy": dy, "x": x, "dx": dx}, F=F)
    return dx


def rope_forward(x, cos, sin):
    return _rotate("rope_forward", x, cos, sin)


def rope_backward(dy, cos, sin):
    return _rotate("rope_backward", dy, cos, sin)


def _rotate(op, x, cos, sin):
    y = empty(x, x.shape)  # (B, T, H, D)
    T, H, D = x.shape[1:]
    arrays = {"x": x, "cosines": cos, "sines": sin, "y": y}
    _run("rope.wgsl", op, x.size // 2, arrays, T=T, H=H, half=D // 2)
    return y
