"""Linear layers with quantised weights: the weights written out, then an ordinary product."""

from __future__ import annotations

import numpy as np

from ..packing import GROUP, ZERO, unpack_int4, unpack_int8
from .layers import linear_forward

__all__ = "linear_int8_forward linear_int4_forward".split()


def dequantise_int8(words, scales, K):
    """words (N, W), scales (N) -> weight (N, K)"""
    return unpack_int8(words)[:, :K] * scales[:, None]


def dequantise_int4(words, scales, zeros, K):
    """words (N, 4J), scales and zeros (N, J) -> weight (N, K)"""
    zeros = np.full_like(scales, ZERO) if zeros is None else zeros
    spread = [np.repeat(x, GROUP, axis=1) for x in (scales, zeros)]  # (N, J) -> (N, 32J)
    return ((unpack_int4(words) - spread[1]) * spread[0])[:, :K]


def linear_int8_forward(x, words, scales, bias):
    return linear_forward(x, dequantise_int8(words, scales, x.shape[-1]), bias)  # (*n, K), (N, K) -> (*n, N)


def linear_int4_forward(x, words, scales, zeros, bias):
    return linear_forward(x, dequantise_int4(words, scales, zeros, x.shape[-1]), bias)  # (*n, K), (N, K) -> (*n, N)
