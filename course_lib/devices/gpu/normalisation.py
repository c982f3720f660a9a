"""LayerNorm, residual + LayerNorm, RMSNorm: kernels/layernorm.cu, residual_layernorm.cu and rmsnorm.cu."""

from __future__ import annotations

import math

from . import configuration
from .launching import empty, is_host, kernel, or_null, vector_width
from .reductions import sum_columns

__all__ = """
    layernorm_forward layernorm_backward residual_layernorm_forward residual_layernorm_backward
    rmsnorm_forward rmsnorm_backward
""".split()


def layernorm_forward(x, weight, bias, eps):
    y, mean, rstd = empty(x, x.shape), empty(x, x.shape[:-1]), empty(x, x.shape[:-1])
    _launch("layernorm.cu", "layernorm_forward", (x, weight, bias, y), (mean, rstd), eps)
    return y, mean, rstd


def layernorm_backward(dy, x, weight, mean, rstd, has_bias):
    dx, partial = empty(x, x.shape), _partial(x, 2 if has_bias else 1)
    given = (dy, x, weight)
    _launch_backward("layernorm.cu", "layernorm_backward", given, (mean, rstd), dx, partial, bool(has_bias))
    return dx, *_gradients(partial, weight.size, has_bias)


def residual_layernorm_forward(x, residual, weight, bias, eps):
    y, total, mean, rstd = (empty(x, shape) for shape in (x.shape, x.shape, x.shape[:-1], x.shape[:-1]))
    given = (x, residual, weight, bias, y, total)
    _launch("residual_layernorm.cu", "residual_layernorm_forward", given, (mean, rstd), eps)
    return y, total, mean, rstd


def residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, has_bias):
    dx, partial = empty(total, total.shape), _partial(total, 2 if has_bias else 1)
    given = (dy, dtotal, total, weight)
    name = "residual_layernorm_backward"
    _launch_backward("residual_layernorm.cu", name, given, (mean, rstd), dx, partial, bool(has_bias))
    return dx, *_gradients(partial, weight.size, has_bias)


def rmsnorm_forward(x, weight, eps):
    y, rstd = empty(x, x.shape), empty(x, x.shape[:-1])
    _launch("rmsnorm.cu", "rmsnorm_forward", (x, weight, y), (rstd,), eps)
    return y, rstd


def rmsnorm_backward(dy, x, weight, rstd):
    dx, partial = empty(x, x.shape), _partial(x, 1)
    _launch_backward("rmsnorm.cu", "rmsnorm_backward", (dy, x, weight), (rstd,), dx, partial)
    return dx, sum_columns(partial)


def _launch(file: str, name: str, given: tuple, statistics: tuple, eps: float) -> None:
    """Forward: arrays of rows, weight and bias (None: no bias), then what is kept of each row."""
    run, grid, block, rows, C = _prepare(file, name, given, statistics)
    if rows:
        run(grid, block, (*map(or_null, given), *statistics, rows, C, eps))


def _launch_backward(file: str, name: str, given: tuple, statistics: tuple, dx, partial, *flag) -> None:
    """Backward: the same without the results, then dx and the partial sums of what the rows share."""
    run, grid, block, rows, C = _prepare(file, name, (*given, dx, partial), statistics)
    if rows:
        run(grid, block, (*map(or_null, given), *statistics, dx, partial, rows, C, *flag))


def _prepare(file: str, name: str, arrays: tuple, statistics: tuple):
    """Kernel, grid, block, rows (0 if there is nothing to do) and columns. Raises ValueError for rows that are too long."""
    *n, C = arrays[0].shape
    there = [array for array in arrays if array is not None]
    host, rows = is_host(there[0]), math.prod(n)
    layout = configuration.row_layout(host, C, vector_width(*there) if C % 4 == 0 else 1)
    if layout is None:
        raise ValueError(
            f"{name} keeps a row in the registers of a block, at most {1024 * configuration.MOST_PER_THREAD:,} elements, "
            f"but was given rows of {C:,}."
        )
    run = kernel(file, f"{name}<{layout.template}>")
    return run, (configuration.row_blocks(host, rows),), (layout.THREADS,), rows if C else 0, C


def _partial(x, sets: int):
    """A row of partial sums for each block: `sets` times C of them."""
    rows = math.prod(x.shape[:-1])
    return empty(x, (configuration.row_blocks(is_host(x), rows) if rows else 0, sets * x.shape[-1]))


def _gradients(partial, C: int, has_bias: bool):
    """dweight and dbias (None without a bias)."""
    sums = sum_columns(partial)  # (2C) or (C)
    return sums[:C], sums[C:] if has_bias else None
