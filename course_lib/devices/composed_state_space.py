"""The state-space recurrence in chunks, written with other ops: composed_recurrences.py with one decay for all channels.

With one decay the scores are a product of matrices and a mask: A = (Q K^T) * M, with M_ts = e^(G_t - G_s) weight_s for s < t, and
gamma_t on the diagonal. That is the 1-semiseparable mask of Dao and Gu (2024, section 5), in chunks (section 6); another diagonal
is all that Mamba-3's trapezoidal rule changes in it.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from .composed_recurrences import SCALAR_CHUNK, at, chunked, in_chunks, joined, stacked, start


def _chunk_products(t, q, k, v, g, gamma, weight) -> SimpleNamespace:
    """What each chunk can compute before the states are known."""
    c = in_chunks(t, q, k, v, t.view(g, (*g.shape, 1)), SCALAR_CHUNK)  # G and all that comes of it end in an axis of 1
    N, B, H, C, _ = c.G.shape
    c.gamma, c.weight = (t.view(chunked(t, x, C), (N, B, H, C, 1)) for x in (gamma, weight))
    c.eye = t.from_numpy(np.eye(C, dtype=q.dtype))
    c.decay = t.multiply(t.view(c.decay, (N, B, H, C, C)), c.strict)
    c.mask = t.add(t.multiply(c.decay, t.view(c.weight, (N, B, H, 1, C))), t.multiply(c.eye, c.gamma))
    c.products = t.matmul(c.q, c.k, transpose_b=True)  # (N, B, H, C, C)
    c.A = t.multiply(c.products, c.mask)
    c.from_q = t.multiply(c.q, c.from_start)  # (N, B, H, C, D)
    c.k_to_end = t.multiply(c.k, t.multiply(c.weight, c.to_end))  # (N, B, H, C, D)
    c.over_chunk = t.exp(c.end)  # (N, B, H, 1, 1)
    return c


def state_space_forward(t, q, k, v, g, gamma, weight, state):
    c = _chunk_products(t, q, k, v, g, gamma, weight)
    S, states = start(t, c, state), []
    written = t.matmul(c.k_to_end, c.v, transpose_a=True)  # (N, B, H, D, E)
    for n in range(c.v.shape[0]):
        states.append(S)
        S = t.add(t.multiply(at(t, c.over_chunk, n), S), at(t, written, n))
    kept = stacked(t, states)  # (N, B, H, D, E)
    y = t.add(t.matmul(c.from_q, kept), t.matmul(c.A, c.v))  # (N, B, H, C, E)
    return joined(t, y, c.T), S, kept


def state_space_backward(t, dy, dlast, q, k, v, g, gamma, weight, state, kept):
    c, S = _chunk_products(t, q, k, v, g, gamma, weight), kept
    dy = chunked(t, dy, c.C)  # (N, B, H, C, E)
    along = t.matmul(c.from_q, dy, transpose_a=True)  # (N, B, H, D, E)
    dS, ends = start(t, c, dlast), []
    for n in reversed(range(c.v.shape[0])):
        ends.append(dS)
        dS = t.add(at(t, along, n), t.multiply(at(t, c.over_chunk, n), dS))
    dend = stacked(t, ends[::-1])  # (N, B, H, D, E): of the state after each chunk

    dA = t.matmul(dy, c.v, transpose_b=True)  # (N, B, H, C, C)
    dproducts, dmask = t.multiply(dA, c.mask), t.multiply(dA, c.products)
    dfrom_q, dk_to_end = t.matmul(dy, S, transpose_b=True), t.matmul(c.v, dend, transpose_b=True)  # (N, B, H, C, D)
    dq = t.add(t.matmul(dproducts, c.k), t.multiply(dfrom_q, c.from_start))
    dk = t.add(t.matmul(dproducts, c.q, transpose_a=True), t.multiply(dk_to_end, t.multiply(c.weight, c.to_end)))
    dv = t.add(t.matmul(c.A, dy, transpose_a=True), t.matmul(c.k_to_end, dend))

    unweighted = t.multiply(dmask, c.decay)  # (N, B, H, C, C), 0 on the diagonal
    read = t.sum(t.multiply(dk_to_end, t.multiply(c.k, c.to_end)), axis=-1)  # (N, B, H, C)
    dweight = t.add(t.sum(unweighted, axis=-2), read)  # (N, B, H, C)
    dgamma = t.sum(t.multiply(dmask, c.eye), axis=-1)
    N, B, H, C = read.shape
    weight = t.view(c.weight, (N, B, H, C))
    ends_G = t.multiply(read, weight)  # (N, B, H, C): through e^(G_C - G_s)
    rows = t.sum(t.multiply(unweighted, t.view(c.weight, (N, B, H, 1, C))), axis=-1)
    dG = t.add(rows, t.sum(t.multiply(dfrom_q, c.from_q), axis=-1))
    dG = t.subtract(dG, t.multiply(dweight, weight))
    dend_G = t.add(
        t.sum(ends_G, axis=-1, keepdims=True),
        t.view(t.multiply(t.exp(c.end), t.sum(t.multiply(S, dend), axis=(-1, -2), keepdims=True)), (N, B, H, 1)),
    )  # (N, B, H, 1)
    dg = t.matmul(c.lower, t.view(dG, (N, B, H, C, 1)), transpose_a=True)  # a decay acts on all steps from its own on
    dg = t.add(t.view(dg, (N, B, H, C)), dend_G)
    gradients = (joined(t, x, c.T) for x in (dq, dk, dv, dg, dgamma, dweight))
    return *gradients, None if state is None else dS
