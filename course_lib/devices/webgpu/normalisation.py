"""LayerNorm, RMSNorm, and LayerNorm of a sum: kernels/layernorm.wgsl, residual_layernorm.wgsl and rmsnorm.wgsl."""

from __future__ import annotations

import math

from ..layout import blocks
from .launching import empty, kernel
from .reductions import sum_columns
from .storage import view, zeros

__all__ = """
    layernorm_forward layernorm_backward residual_layernorm_forward residual_layernorm_backward
    rmsnorm_forward rmsnorm_backward
""".split()

PART = 64  # rows to a thread that adds up columns, as in norm_row.wgsl


def _kernel(name: str, part: str, **constants):
    """A kernel of layernorm.wgsl, residual_layernorm.wgsl or rmsnorm.wgsl."""
    return kernel(f"{name}.wgsl", f"{name}_{part}", **{"BIAS": False, "DTOTAL": False} | constants)


def _forward(name: str, x, residual, weight, bias, eps: float):
    """y, total, mean, rstd of x (*n, C) + residual."""
    y, C = empty(x, x.shape), weight.size
    rows = math.prod(x.shape[:-1])
    statistics = empty(x, (2, rows))
    total = x if residual is None else empty(x, x.shape)
    if x.size:
        run = _kernel(name, "forward", BIAS=bias is not None)
        run(
            rows, x=x, weight=weight, bias=weight if bias is None else bias, residual=x if residual is None else residual,
            y=y, statistics=statistics, total=empty(x, (1,)) if residual is None else total, rows=rows, C=C, eps=eps,
        )  # fmt: skip
    return y, total, view(statistics, x.shape[:-1]), view(statistics, x.shape[:-1], rows)


def _backward(name: str, dy, dtotal, x, weight, mean, rstd, has_bias: bool):
    """dx, dweight, dbias."""
    dx, C = empty(x, x.shape), weight.size
    rows = math.prod(x.shape[:-1])
    if not x.size:
        return dx, zeros((C,)), zeros((C,)) if has_bias else None
    given = {"x": x, "dy": dy, "means": mean, "rstds": rstd, "rows": rows, "C": C, "eps": 0.0}
    run = _kernel(name, "backward", DTOTAL=dtotal is not None)
    run(rows, **given, weight=weight, dtotal=dy if dtotal is None else dtotal, dx=dx)
    parts = blocks(rows, PART)
    partial = empty(x, (parts, 2 * C))
    _kernel(name, "weights")(blocks(parts * C), **given, partial=partial)
    sums = sum_columns(partial)  # (2C)
    return dx, view(sums, (C,)), view(sums, (C,), C) if has_bias else None


def layernorm_forward(x, weight, bias, eps):
    y, _, mean, rstd = _forward("layernorm", x, None, weight, bias, eps)
    return y, mean, rstd


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    return _backward("layernorm", dy, None, x, weight, mean, rstd, has_bias)


def residual_layernorm_forward(x, residual, weight, bias, eps):
    return _forward("residual_layernorm", x, residual, weight, bias, eps)


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    return _backward("residual_layernorm", dy, dtotal, total, weight, mean, rstd, has_bias)


def rmsnorm_forward(x, weight, eps):
    y, _, _, rstd = _forward("rmsnorm", x, None, weight, None, eps)
    return y, rstd


def rmsnorm_backward(dy, x, weight, rstd):
    return _backward("rmsnorm", dy, None, x, weight, rstd, rstd, False)[:2]
