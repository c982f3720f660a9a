"""The norm of all gradients together, and one step of AdamW in place."""

from __future__ import annotations

import math

import numpy as np

__all__ = "global_norm adamw_step".split()


def global_norm(arrays):
    total = sum(float(np.sum(np.square(array, dtype=np.float64))) for array in arrays)
    return np.array([math.sqrt(total)], arrays[0].dtype)  # (1)


def adamw_step(
    parameters, gradients, first_moments, second_moments, settings, norm, *, beta1, beta2, eps, weight_decay, max_norm
):
    """AdamW (Loshchilov and Hutter 2019, algorithm 2) in PyTorch's order. settings: the learning rate, 1 - beta1^t and
    1 - beta2^t. norm: that of all gradients, or None."""
    learning_rate, correction1, correction2 = settings  # (3)
    scale = 1 if norm is None else np.minimum(1, max_norm / (norm[0] + 1e-6))
    for p, g, m, v, decay in zip(parameters, gradients, first_moments, second_moments, weight_decay, strict=True):
        g = g * scale
        p *= 1 - learning_rate * decay
        m[...] = beta1 * m + (1 - beta1) * g
        v[...] = beta2 * v + (1 - beta2) * g * g
        p -= learning_rate * (m / correction1) / (np.sqrt(v / correction2) + eps)
