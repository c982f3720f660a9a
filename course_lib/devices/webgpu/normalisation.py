"""LayerNorm, RMSNorm, and LayerNorm of a sum: kernels/layernorm.wgsl, residual_layernorm.wgsl and rmsnorm.wgsl."""

from __future__ import annotations

import math

from ..checks import fit
from ..gpu.launching import blocks, check_float32, check_size
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
    check_float32(f"{name}_forward", x, residual, weight, bias)
    check_size(f"{name}_forward", x.size)
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
    check_float32(f"{name}_backward", dy, dtotal, x, weight, mean, rstd)
    check_size(f"{name}_backward", x.size)
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
    fit("layernorm_forward", "x (*n, C), weight (C), bias (C)", x, weight, bias)
    y, _, mean, rstd = _forward("layernorm", x, None, weight, bias, eps)
    return y, mean, rstd


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    pattern = "dy (*n, C), x (*n, C), weight (C), mean (*n), rstd (*n)"
    fit("layernorm_backward", pattern, dy, x, weight, mean, rstd)
    return _backward("layernorm", dy, None, x, weight, mean, rstd, has_bias)


def residual_layernorm_forward(x, residual, weight, bias, eps):
    fit("residual_layernorm_forward", "x (*n, C), residual (*n, C), weight (C), bias (C)", x, residual, weight, bias)
    return _forward("residual_layernorm", x, residual, weight, bias, eps)


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    pattern = "dy (*n, C), dtotal (*n, C), total (*n, C), weight (C), mean (*n), rstd (*n)"
    fit("residual_layernorm_backward", pattern, dy, dtotal, total, weight, mean, rstd)
    return _backward("residual_layernorm", dy, dtotal, total, weight, mean, rstd, has_bias)


def rmsnorm_forward(x, weight, eps):
    fit("rmsnorm_forward", "x (*n, C), weight (C)", x, weight)
    y, _, _, rstd = _forward("rmsnorm", x, None, weight, None, eps)
    return y, rstd


def rmsnorm_backward(dy, x, weight, rstd):
    fit("rmsnorm_backward", "dy (*n, C), x (*n, C), weight (C), rstd (*n)", dy, x, weight, rstd)
    return _backward("rmsnorm", dy, None, x, weight, rstd, rstd, False)[:2]
