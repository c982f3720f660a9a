"""Linear layers with quantised weights, by loops/quantised.cpp: a few rows straight from the codes, many by way of floats."""

from __future__ import annotations

import math

from ..reference import quantised as plain
from . import products
from .compiled import WIDE, loops, pointers
from .memory import empty

__all__ = plain.__all__

FEW = 8  # rows of x; from there on the weights are better written out once than widened again for each row


def linear_int8_forward(x, words, scales, bias):
    N, K = words.shape[0], x.shape[-1]
    return _linear(x, N, K, loops.linear_int8, loops.dequantise_int8, (words, scales), bias)


def linear_int4_forward(x, words, scales, zeros, bias):
    N, K = words.shape[0], x.shape[-1]
    return _linear(x, N, K, loops.linear_int4, loops.dequantise_int4, (words, scales, zeros), bias)


def _linear(x, N, K, few, dequantise, weight, bias):
    n, wide = math.prod(x.shape[:-1]), WIDE[x.dtype]
    if n >= FEW and N:
        floats = empty((N, K), x.dtype)
        dequantise(wide, *pointers(*weight, floats), N, K)
        return products.linear_forward(x, floats, bias)
    y = empty((*x.shape[:-1], N), x.dtype)
    if y.size:
        few(wide, *pointers(x, *weight, bias, y), n, K, N)
    return y
