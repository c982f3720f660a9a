"""Linear layers with quantised weights: kernels/linear_int8.wgsl and kernels/linear_int4.wgsl."""

from __future__ import annotations

import math

from ..layout import blocks
from .adapter import limit
from .launching import empty, kernel

__all__ = "linear_int8_forward linear_int4_forward".split()

OUTPUTS = 32  # of a group, as in the files


def linear_int8_forward(x, words, scales, bias):
    return _linear("linear_int8", x, {"words": words, "scales": scales}, bias, BIAS=bias is not None)


def linear_int4_forward(x, words, scales, zeros, bias):
    arrays = {"words": words, "scales": scales, "zeros": scales if zeros is None else zeros}
    return _linear("linear_int4", x, arrays, bias, ZEROS=zeros is not None, BIAS=bias is not None)


def _linear(name: str, x, arrays: dict, bias, **constants):
    n, K, M = math.prod(x.shape[:-1]), x.shape[-1], arrays["words"].shape[0]
    y = empty(x, (*x.shape[:-1], M))  # (*n, M)
    if y.size:
        arrays |= {"x": x, "bias": arrays["scales"] if bias is None else bias, "y": y}
        run, most = kernel(f"{name}.wgsl", name, **constants), limit("max-compute-workgroups-per-dimension")
        for first in range(0, n, most):
            run((blocks(M, OUTPUTS), min(most, n - first), 1), **arrays, n=n, K=K, M=M, first=first)
    return y
