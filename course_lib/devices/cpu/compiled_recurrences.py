"""The linear recurrences, and the convolution before them, by compiled loops: recurrent, not chunked, for a head's state fits
the processor's first-level cache.

Without a compiler the cpu device runs composed_recurrences.py, chunked products.
"""

from __future__ import annotations

from ..layout import blocks
from .compiled import WIDE, loops, pointers
from .memory import empty, zeros

__all__ = """
    convolution_forward convolution_backward
    gated_linear_attention_forward gated_linear_attention_backward gated_delta_forward gated_delta_backward
    state_space_forward state_space_backward
""".split()

LINEAR, DELTA, STATE_SPACE = range(3)
SEGMENT = 16  # steps from one kept state to the next, as in loops/recurrences.cpp


def convolution_forward(x, taps):
    (B, S, C), K = x.shape, len(taps)
    y = empty((B, S - K + 1, C), x.dtype)
    loops.convolution_forward(WIDE[x.dtype], *pointers(x, taps, y), B, y.shape[1], C, K)
    return y


def convolution_backward(dy, x, taps):
    (B, T, C), K = dy.shape, len(taps)
    dx, dtaps = empty(x.shape, x.dtype), empty(taps.shape, x.dtype)
    loops.convolution_backward(WIDE[x.dtype], *pointers(dy, x, taps, dx, dtaps), B, T, C, K)
    return dx, dtaps


def gated_linear_attention_forward(q, k, v, g, state):
    return _forward(LINEAR, q, k, v, g, None, None, state)


def gated_linear_attention_backward(dy, dlast, q, k, v, g, state, kept):
    dq, dk, dv, dg, _, _, dstate = _backward(LINEAR, dy, dlast, q, k, v, g, None, None, state, kept)
    return dq, dk, dv, dg, dstate


def gated_delta_forward(q, k, v, g, beta, state):
    return _forward(DELTA, q, k, v, g, beta, None, state)


def gated_delta_backward(dy, dlast, q, k, v, g, beta, state, kept):
    dq, dk, dv, dg, dbeta, _, dstate = _backward(DELTA, dy, dlast, q, k, v, g, beta, None, state, kept)
    return dq, dk, dv, dg, dbeta, dstate


def state_space_forward(q, k, v, g, gamma, weight, state):
    return _forward(STATE_SPACE, q, k, v, g, gamma, weight, state)


def state_space_backward(dy, dlast, q, k, v, g, gamma, weight, state, kept):
    return _backward(STATE_SPACE, dy, dlast, q, k, v, g, gamma, weight, state, kept)


def _forward(kind, q, k, v, g, rate, weight, state):
    (B, H, T, D), E = q.shape, v.shape[-1]
    y, kept = empty(v.shape, v.dtype), empty((B, H, blocks(T, SEGMENT), D, E), v.dtype)
    last = _changeable(state, (B, H, D, E), v.dtype)
    arrays = pointers(q, k, v, g, rate, weight, last, y, kept)
    loops.recurrence_forward(WIDE[v.dtype], kind, *arrays, B * H, T, D, E)
    return y, last, kept


def _backward(kind, dy, dlast, q, k, v, g, rate, weight, state, kept):
    (B, H, T, D), E = q.shape, v.shape[-1]
    dq, dk, dv, dg, drate, dweight = (
        None if x is None else empty(x.shape, x.dtype) for x in (q, k, v, g, rate, weight)
    )
    dstate = _changeable(dlast, (B, H, D, E), v.dtype)
    arrays = pointers(dy, q, k, v, g, rate, weight, kept, dstate, dq, dk, dv, dg, drate, dweight)
    loops.recurrence_backward(WIDE[v.dtype], kind, *arrays, B * H, T, D, E)
    return dq, dk, dv, dg, drate, dweight, None if state is None else dstate


def _changeable(state, shape, dtype):
    """A copy of a state, or zeros, that the loops run on with."""
    if state is None:
        return zeros(shape, dtype)
    copy = empty(shape, dtype)
    copy[...] = state
    return copy
