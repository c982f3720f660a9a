"""The linear recurrences in their other two forms, in NumPy: chunkwise, and parallel over all steps. For reading and for tests.

The forms agree to rounding. Recurrent: T steps, one after the other (recurrences.py). Parallel: one product of (T, T) scores, as
attention has it, but without softmax. Chunkwise: parallel within chunks of `chunk` steps, recurrent from chunk to chunk, so that
the work grows with T and still consists of products of matrices.

A form takes q, k (B, H, T, D), v (B, H, T, E), g (B, H, T, D) or, with one decay for all channels, (B, H, T, 1), beta (B, H, T)
or None (gated linear attention), state (B, H, D, E) or None; it gives y (B, H, T, E) and the last state (B, H, D, E).
"""

from __future__ import annotations

import numpy as np


def decays(g):
    """e^(g_(s+1) + ... + g_t) for reader t and writer s: (B, H, T, D) -> (B, H, T, T, D); 0 where s comes after t."""
    T = g.shape[2]
    r = np.arange(T)
    between = (r > r[:, None]) & (r <= r[:, None, None])  # (T, T, T): step r lies after s, and not after t
    sums = np.einsum("tsr,bhrd->bhtsd", between.astype(g.dtype), g)  # (B, H, T, T, D)
    return np.where(np.tri(T, dtype=bool)[:, :, None], np.exp(sums), 0)


def scores(decay, a, b):
    """Sum over d of a_t b_s decay_ts: (B, H, T, T, D or 1), twice (B, H, T, D) -> (B, H, T, T)"""
    return np.einsum("bhtsd,bhtd,bhsd->bhts", np.broadcast_to(decay, (*decay.shape[:-1], a.shape[-1])), a, b)


def written(k, v, g, beta, state, decay):
    """What each step adds under its key, (B, H, T, E): v itself, or by the delta rule what is missing, all steps at once.

    u_t = beta_t (v_t - what is read with k_t), and what is read there depends on the u before it: a triangular system.
    """
    if beta is None:
        return v
    strict = np.tril(scores(decay, k, k), -1)  # (B, H, T, T): what k_t reads of what an earlier step wrote
    system = np.eye(v.shape[2], dtype=v.dtype) + beta[..., None] * strict  # (B, H, T, T)
    there = (k * np.exp(np.cumsum(g, axis=2))) @ state  # (B, H, T, E): what it reads of the state before
    return np.linalg.solve(system, beta[..., None] * (v - there))  # (B, H, T, E)


def parallel(q, k, v, g, beta=None, state=None):
    """All steps at once."""
    (B, H, _, D), E = q.shape, v.shape[-1]
    state = np.zeros((B, H, D, E), q.dtype) if state is None else state
    decay = decays(g)  # (B, H, T, T, D)
    u = written(k, v, g, beta, state, decay)  # (B, H, T, E)
    from_start = np.exp(np.cumsum(g, axis=2))  # (B, H, T, D)
    y = (q * from_start) @ state + scores(decay, q, k) @ u  # (B, H, T, E)
    to_end = decay[:, :, -1]  # (B, H, T, D): from each step to the last
    last = from_start[:, :, -1, :, None] * state + (k * to_end).swapaxes(-1, -2) @ u  # (B, H, D, E)
    return y, last


def chunked(q, k, v, g, beta=None, state=None, chunk=16):
    """Chunk by chunk; the last may be shorter."""
    ys = []
    for start in range(0, q.shape[2], chunk):
        steps = (slice(None), slice(None), slice(start, start + chunk))
        y, state = parallel(q[steps], k[steps], v[steps], g[steps], None if beta is None else beta[steps], state)
        ys.append(y)
    return np.concatenate(ys, axis=2), state


def state_space_parallel(q, k, v, g, gamma, weight, state=None):
    """All steps of the state space at once: q, k, v and state as above; g, gamma, weight (B, H, T)."""
    y, last = parallel(q, k * weight[..., None], v, g[..., None], None, state)
    now = (gamma - weight) * (q * k).sum(axis=-1)  # (B, H, T): only the diagonal of the mask is another
    return y + now[..., None] * v, last


def state_space_chunked(q, k, v, g, gamma, weight, state=None, chunk=16):
    """Chunk by chunk; the last may be shorter."""
    y, last = chunked(q, k * weight[..., None], v, g[..., None], None, state, chunk)
    now = (gamma - weight) * (q * k).sum(axis=-1)  # (B, H, T)
    return y + now[..., None] * v, last


def trapezoid(dt, rate):
    """gamma and weight (B, H, T) of Mamba-3's rule, from dt and lambda (`rate`) (B, H, T); the last step has no next one yet.

    To go on after it, add ((1 - rate) dt) of the next step times k v^T of the last one to the last state.
    """
    gamma = rate * dt
    weight = gamma.copy()
    weight[:, :, :-1] += ((1 - rate) * dt)[:, :, 1:]
    return gamma, weight
