"""Linear recurrences, one step after the other: a state (D, E) for each head is decayed, written and read at every position.

All three read y_t = S_t^T q_t and differ in how the state S_t comes from the one before it:

    gated linear attention   S_t = diag(e^g_t) S_(t-1) + k_t v_t^T
                             (Yang et al. 2024, "Gated linear attention transformers", section 4)
    gated delta rule         S_t = (I - beta_t k_t k_t^T) diag(e^g_t) S_(t-1) + beta_t k_t v_t^T
                             (Kimi Linear 2025, section 3, equation 1, KDA; with one decay for all channels Gated DeltaNet,
                             Yang et al. 2025; with g = 0 DeltaNet, Schlag et al. 2021)
    state space              S_t = e^g_t S_(t-1) + weight_t k_t v_t^T, where q, k, v are C, B, x of the papers, and what step t
                             writes is read at once with another weight, gamma_t   (Dao and Gu 2024, Mamba-2, section 3)

Mamba-2 has g = dt A and gamma = weight = dt. Mamba-3 (Lahoti et al. 2026, section 3.1, equation 5) has a trapezoidal rule:
h_t = e^g_t h_(t-1) + (1 - lambda_t) dt_t e^g_t B_(t-1) x_(t-1) + lambda_t dt_t B_t x_t. The second term writes once more what
step t - 1 wrote. So gamma_t = lambda_t dt_t, and for all that comes later weight_t = gamma_t + (1 - lambda_(t+1)) dt_(t+1).
Its rotation of the state is one of q and k by angles from the data (section 3.2.2, proposition 4), which the layer does before
the op (state_space.py). Left out: steps that write several pairs of k and v at once (section 3.3).

`kept` of a forward are the states before each step, (T, B, H, D, E): these forms are for reading and small arrays. The chunked
and the parallel forms stand in recurrence_forms.py.
"""

from __future__ import annotations

import numpy as np

__all__ = """
    gated_linear_attention_forward gated_linear_attention_backward gated_delta_forward gated_delta_backward
    state_space_forward state_space_backward
""".split()


def _start(q, v, state):
    """y (B, H, T, E) to fill, a state (B, H, D, E) to change, and states (T, B, H, D, E) to keep."""
    B, H, T, D = q.shape
    E = v.shape[-1]
    S = np.zeros((B, H, D, E), q.dtype) if state is None else state.copy()
    return np.empty((B, H, T, E), q.dtype), S, np.empty((T, B, H, D, E), q.dtype)


def _end(q, v, dlast):
    """The gradient of the last state (B, H, D, E), and what runs through the steps from the last to the first."""
    dS = np.zeros((*q.shape[:2], q.shape[-1], v.shape[-1]), q.dtype) if dlast is None else dlast.copy()
    return dS, reversed(range(q.shape[2]))


def _outer(a, b):
    """(B, H, D), (B, H, E) -> (B, H, D, E)"""
    return a[..., :, None] * b[..., None, :]


def _read(S, a):
    """S^T a: (B, H, D, E), (B, H, D) -> (B, H, E)"""
    return np.einsum("bhde,bhd->bhe", S, a)


def _back(S, b):
    """S b: (B, H, D, E), (B, H, E) -> (B, H, D)"""
    return np.einsum("bhde,bhe->bhd", S, b)


def gated_linear_attention_forward(q, k, v, g, state):
    y, S, kept = _start(q, v, state)
    for t in range(q.shape[2]):
        kept[t] = S
        S = np.exp(g[:, :, t, :, None]) * S + _outer(k[:, :, t], v[:, :, t])  # (B, H, D, E)
        y[:, :, t] = _read(S, q[:, :, t])  # (B, H, E)
    return y, S, kept


def gated_linear_attention_backward(dy, dlast, q, k, v, g, state, kept):
    dq, dk, dv, dg = (np.empty_like(x) for x in (q, k, v, g))
    dS, steps = _end(q, v, dlast)
    for t in steps:
        decay = np.exp(g[:, :, t, :, None])  # (B, H, D, 1)
        decayed = decay * kept[t]  # (B, H, D, E)
        S = decayed + _outer(k[:, :, t], v[:, :, t])
        dS = dS + _outer(q[:, :, t], dy[:, :, t])  # (B, H, D, E)
        dq[:, :, t] = _back(S, dy[:, :, t])
        dk[:, :, t], dv[:, :, t] = _back(dS, v[:, :, t]), _read(dS, k[:, :, t])
        dg[:, :, t] = (dS * decayed).sum(axis=-1)  # (B, H, D)
        dS = decay * dS
    return dq, dk, dv, dg, None if state is None else dS


def gated_delta_forward(q, k, v, g, beta, state):
    y, S, kept = _start(q, v, state)
    for t in range(q.shape[2]):
        kept[t] = S
        S = np.exp(g[:, :, t, :, None]) * S  # (B, H, D, E), decayed first
        error = v[:, :, t] - _read(S, k[:, :, t])  # (B, H, E): what is stored under the key k is not v by so much
        S = S + _outer(k[:, :, t], beta[:, :, t, None] * error)
        y[:, :, t] = _read(S, q[:, :, t])  # (B, H, E)
    return y, S, kept


def gated_delta_backward(dy, dlast, q, k, v, g, beta, state, kept):
    dq, dk, dv, dg, dbeta = (np.empty_like(x) for x in (q, k, v, g, beta))
    dS, steps = _end(q, v, dlast)
    for t in steps:
        decay = np.exp(g[:, :, t, :, None])  # (B, H, D, 1)
        decayed = decay * kept[t]  # (B, H, D, E)
        error = v[:, :, t] - _read(decayed, k[:, :, t])  # (B, H, E)
        written = beta[:, :, t, None] * error  # (B, H, E)
        S = decayed + _outer(k[:, :, t], written)
        dS = dS + _outer(q[:, :, t], dy[:, :, t])  # (B, H, D, E)
        dq[:, :, t] = _back(S, dy[:, :, t])
        dwritten = _read(dS, k[:, :, t])  # (B, H, E)
        derror = beta[:, :, t, None] * dwritten
        dbeta[:, :, t] = (dwritten * error).sum(axis=-1)
        dv[:, :, t] = derror
        dk[:, :, t] = _back(dS, written) - _back(decayed, derror)
        dS = dS - _outer(k[:, :, t], derror)  # the error is minus the old state, read with k
        dg[:, :, t] = (dS * decayed).sum(axis=-1)  # (B, H, D)
        dS = decay * dS
    return dq, dk, dv, dg, dbeta, None if state is None else dS


def state_space_forward(q, k, v, g, gamma, weight, state):
    y, S, kept = _start(q, v, state)
    for t in range(q.shape[2]):
        kept[t] = S
        S = np.exp(g[:, :, t, None, None]) * S  # (B, H, D, E)
        new = _outer(k[:, :, t], v[:, :, t])
        y[:, :, t] = _read(S + gamma[:, :, t, None, None] * new, q[:, :, t])  # (B, H, E)
        S = S + weight[:, :, t, None, None] * new
    return y, S, kept


def state_space_backward(dy, dlast, q, k, v, g, gamma, weight, state, kept):
    dq, dk, dv, dg, dgamma, dweight = (np.empty_like(x) for x in (q, k, v, g, gamma, weight))
    dS, steps = _end(q, v, dlast)
    for t in steps:
        decay = np.exp(g[:, :, t, None, None])  # (B, H, 1, 1)
        decayed = decay * kept[t]  # (B, H, D, E)
        new, read = _outer(k[:, :, t], v[:, :, t]), _outer(q[:, :, t], dy[:, :, t])  # (B, H, D, E)
        now, later = gamma[:, :, t, None, None], weight[:, :, t, None, None]
        dq[:, :, t] = _back(decayed + now * new, dy[:, :, t])
        dgamma[:, :, t], dweight[:, :, t] = (read * new).sum(axis=(-1, -2)), (dS * new).sum(axis=(-1, -2))
        dnew = now * read + later * dS  # (B, H, D, E)
        dk[:, :, t], dv[:, :, t] = _back(dnew, v[:, :, t]), _read(dnew, k[:, :, t])
        dS = dS + read
        dg[:, :, t] = (dS * decayed).sum(axis=(-1, -2))
        dS = decay * dS
    return dq, dk, dv, dg, dgamma, dweight, None if state is None else dS
