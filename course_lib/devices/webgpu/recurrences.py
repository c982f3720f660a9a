"""Linear recurrences, forward: kernels/linear_recurrence.wgsl. The backward is made of other ops (composed_recurrences.py)."""

from __future__ import annotations

from ..composed_recurrences import CHUNK, SCALAR_CHUNK
from ..layout import blocks
from .launching import empty, kernel
from .storage import strided_write, view, zeros

__all__ = "gated_linear_attention_forward gated_delta_forward state_space_forward".split()

LINEAR, DELTA, STATE_SPACE = range(3)
COLUMNS = 32  # of a group, as in the kernel


def gated_linear_attention_forward(q, k, v, g, state):
    return _forward(LINEAR, q, k, v, g, v, v, state)


def gated_delta_forward(q, k, v, g, beta, state):
    return _forward(DELTA, q, k, v, g, beta, beta, state)


def state_space_forward(q, k, v, g, gamma, weight, state):
    return _forward(STATE_SPACE, q, k, v, g, gamma, weight, state)


def _forward(kind, q, k, v, g, rate, weight, state):
    """y, the last state, and the state before each chunk, (N, B, H, D, E), as the composed backward wants it."""
    (B, H, T, D), E = q.shape, v.shape[-1]
    chunk = min(SCALAR_CHUNK if kind == STATE_SPACE else CHUNK, T)
    N, size = blocks(T, chunk), B * H * D * E
    y, states = empty(v, v.shape), zeros((N + 1, B, H, D, E))
    if state is not None:
        strided_write(states, state, (H * D * E, D * E, E, 1))
    steps = 8 if D <= 64 else 4  # of three rows of D numbers each, so that 16 KB hold heads of up to 128
    run = kernel("linear_recurrence.wgsl", "linear_recurrence_forward", D=D, KIND=kind, STEPS=steps, CHUNK=chunk)
    arrays = {"q": q, "k": k, "v": v, "g": g, "rate": rate, "weight": weight, "y": y, "states": states}
    run((blocks(E, COLUMNS), B * H, 1), **arrays, heads=B * H, T=T, E=E)
    return y, view(states, (B, H, D, E), N * size), view(states, (N, B, H, D, E))
