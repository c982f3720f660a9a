"""Linear recurrences: kernels/linear_recurrence.cu, in chunks; a forward may run on tensor cores, linear_recurrence_bf16.cu."""

from __future__ import annotations

from . import attention_tiles
from .launching import blocks, empty, kernel

__all__ = """
    gated_linear_attention_forward gated_linear_attention_backward gated_delta_forward gated_delta_backward
    state_space_forward state_space_backward
""".split()

FILE, TENSOR_FILE = "linear_recurrence.cu", "linear_recurrence_bf16.cu"
LINEAR, DELTA, STATE_SPACE = range(3)
STEPS, COLUMNS, THREADS = 16, 32, 128  # of a chunk, of a block, as in the kernels
TENSOR_COLUMNS, TENSOR_LARGEST = 64, 64  # of a block on tensor cores; D of its largest head


def gated_linear_attention_forward(q, k, v, g, state, tensor_cores=False):
    y, last, states, _ = _forward(LINEAR, q, k, v, g, None, None, state, tensor_cores)
    return y, last, states


def gated_linear_attention_backward(dy, dlast, q, k, v, g, state, kept):
    dq, dk, dv, dg, _, _, dstate = _backward(LINEAR, dy, dlast, q, k, v, g, None, None, state, kept, v)
    return dq, dk, dv, dg, dstate


def gated_delta_forward(q, k, v, g, beta, state, tensor_cores=False):
    y, last, states, errors = _forward(DELTA, q, k, v, g, beta, None, state, tensor_cores)
    return y, last, (states, errors)


def gated_delta_backward(dy, dlast, q, k, v, g, beta, state, kept):
    dq, dk, dv, dg, dbeta, _, dstate = _backward(DELTA, dy, dlast, q, k, v, g, beta, None, state, *kept)
    return dq, dk, dv, dg, dbeta, dstate


def state_space_forward(q, k, v, g, gamma, weight, state, tensor_cores=False):
    y, last, states, _ = _forward(STATE_SPACE, q, k, v, g, gamma, weight, state, tensor_cores)
    return y, last, states


def state_space_backward(dy, dlast, q, k, v, g, gamma, weight, state, kept):
    return _backward(STATE_SPACE, dy, dlast, q, k, v, g, gamma, weight, state, kept, v)


def _forward(kind, q, k, v, g, rate, weight, state, tensor_cores):
    """y, the last state, the state before each chunk (B, H, N, D, E), and the errors (B, H, T, E) of the delta rule."""
    (B, H, T, D), E = q.shape, v.shape[-1]
    y, last, states = empty(v, v.shape), empty(v, (B, H, D, E)), empty(v, (B, H, blocks(T, STEPS), D, E))
    errors = empty(v, v.shape) if kind == DELTA else None
    given = (q, k, v, g, rate, weight, state, y, last, states, errors, T, D, E)
    if tensor_cores and T > 1 and D <= TENSOR_LARGEST:  # one step is bound by memory, not by products
        run = kernel(TENSOR_FILE, f"recurrence_bf16_forward<{kind}, {attention_tiles.head(D)}>")
        run((blocks(E, TENSOR_COLUMNS), B * H), (THREADS,), given)
    else:
        _kernel("forward", kind, D)((blocks(E, COLUMNS), B * H), (THREADS,), given)
    return y, last, states, errors


def _backward(kind, dy, dlast, q, k, v, g, rate, weight, state, states, written):
    (B, H, T, D), E = q.shape, v.shape[-1]
    dends, dv = empty(v, states.shape), empty(v, v.shape)
    dwritten = empty(v, v.shape) if kind == DELTA else None
    dstate = None if state is None else empty(v, state.shape)
    run = _kernel("backward_states", kind, D)
    run(
        (blocks(E, COLUMNS), B * H),
        (THREADS,),
        (dy, dlast, q, k, g, rate, weight, dends, dv, dwritten, dstate, T, D, E),
    )
    dq, dk, dg, drate, dweight = (None if x is None else empty(x, x.shape) for x in (q, k, g, rate, weight))
    run = _kernel("backward_chunks", kind, D)
    given = (dy, q, k, written, g, rate, weight, states, dends, dv, dwritten, dq, dk, dg, drate, dweight, T, D, E)
    run((blocks(T, STEPS), B * H), (THREADS,), given)
    return dq, dk, dv, dg, drate, dweight, dstate


def _kernel(name: str, kind: int, D: int):
    if D > attention_tiles.LARGEST_HEAD:
        raise ValueError(
            f"A recurrence on this device takes heads of at most {attention_tiles.LARGEST_HEAD} numbers, but D is {D}."
        )
    return kernel(FILE, f"recurrence_{name}<{kind}, {attention_tiles.head(D)}>")
