"""The linear recurrences in chunks, written with other ops: what a device runs that has no kernel of its own for them.

A chunk of C steps is a few products of matrices, and only from chunk to chunk is there a loop. With G_t the sum of the chunk's
log decays up to step t, and S the state before the chunk:

    y_t = (q_t e^G_t) S + sum over s <= t of A_ts u_s         A_ts = sum over d of q_t k_s e^(G_t - G_s)
    S'  = e^G_C S + sum over s of (k_s e^(G_C - G_s)) u_s^T

Gated linear attention writes u = v (Yang et al. 2024a, section 4.2). The delta rule writes what v differs by from what is there:
u_t = beta_t (v_t - (k_t e^G_t) S - sum over s < t of L_ts u_s), a triangular system: U = X diag(beta) (V - (K e^G) S), with
X = (I + diag(beta) L)^-1. That is the WY form: all chunks find X at once, before any state is known (Yang et al. 2024b, section
3.2; Kimi Linear 2025, section 3).

No exponent is above 0, so nothing overflows however strong the decay is; and each is a sum of its own, since a difference of two
long sums would lose digits. `kept` are the states before each chunk, (N, B, H, D, E).
Letters beside the contract's: C steps of a chunk, N chunks. Reference: devices/reference/recurrences.py.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from .layout import blocks

CHUNK = 16  # steps of a chunk where each channel has its own decay: C C D exponentials
SCALAR_CHUNK = 64  # where a head has one decay: C C of them
LOWEST = float("-inf")


def gated_linear_attention_forward(t, q, k, v, g, state):
    return _forward(t, _chunk_products(t, q, k, v, g, None), state)


def gated_linear_attention_backward(t, dy, dlast, q, k, v, g, state, kept):
    dq, dk, dv, dg, _, dstate = _backward(t, _chunk_products(t, q, k, v, g, None), dy, dlast, kept)
    return dq, dk, dv, dg, None if state is None else dstate


def gated_delta_forward(t, q, k, v, g, beta, state):
    return _forward(t, _chunk_products(t, q, k, v, g, beta), state)


def gated_delta_backward(t, dy, dlast, q, k, v, g, beta, state, kept):
    *gradients, dstate = _backward(t, _chunk_products(t, q, k, v, g, beta), dy, dlast, kept)
    return *gradients, None if state is None else dstate


def _chunk_products(t, q, k, v, g, beta) -> SimpleNamespace:
    """What each chunk can compute before the states are known."""
    c = in_chunks(t, q, k, v, g, CHUNK)
    N, B, H, C, D = c.G.shape
    c.A = _scores(t, c.decay, c.q, c.k)  # (N, B, H, C, C)
    c.from_q, c.from_k = t.multiply(c.q, c.from_start), t.multiply(c.k, c.from_start)  # (N, B, H, C, D)
    c.k_to_end = t.multiply(c.k, c.to_end)  # (N, B, H, C, D)
    c.over_chunk = t.view(t.exp(c.end), (N, B, H, D, 1))
    c.beta = None
    if beta is not None:
        c.beta = t.view(chunked(t, beta, C), (N, B, H, C, 1))
        c.L = t.multiply(_scores(t, c.decay, c.k, c.k), c.strict)  # (N, B, H, C, C)
        c.X = _inverse(t, t.multiply(c.L, c.beta))  # (N, B, H, C, C)
        c.W = t.matmul(c.X, t.multiply(c.from_k, c.beta))  # (N, B, H, C, D)
    return c


def in_chunks(t, q, k, v, g, most) -> SimpleNamespace:
    """q, k and v in chunks of `most` steps at most, and the sums of the log decays g (B, H, T, D), or (B, H, T, 1)."""
    T = q.shape[2]
    C = min(most, T)
    c = SimpleNamespace(T=T, C=C, q=chunked(t, q, C), k=chunked(t, k, C), v=chunked(t, v, C))
    c.lower = t.from_numpy(np.tri(C, dtype=q.dtype))  # (C, C)
    c.strict = t.from_numpy(np.tri(C, k=-1, dtype=q.dtype))
    g = chunked(t, g, C)  # (N, B, H, C, D)
    c.G = t.matmul(c.lower, g)  # (N, B, H, C, D)
    c.end = last_step(t, c.G)  # (N, B, H, 1, D)
    c.from_start, c.to_end = t.exp(c.G), decays_to_end(t, g)  # (N, B, H, C, D)
    c.decay = decays(t, g)  # (N, B, H, C, C, D)
    return c


def decays(t, g):
    """e^(g_(s+1) + ... + g_t) of steps t and s: (N, B, H, C, D) -> (N, B, H, C, C, D); 1 where t = s, 0 where t < s."""
    *lead, C, D = g.shape
    r = np.arange(C)
    between = (r > r[:, None]) & (r <= r[:, None, None])  # (C, C, C): of t, s and r
    sums = t.matmul(t.from_numpy(between.reshape(C * C, C).astype(g.dtype)), g)  # (N, B, H, C C, D)
    seen = t.from_numpy(np.tri(C, dtype=bool)[:, :, None])  # (C, C, 1)
    return t.exp(t.where(seen, t.view(sums, (*lead, C, C, D)), LOWEST))


def decays_to_end(t, g):
    """e^(g_(s+1) + ... + g_C) of each step s: (N, B, H, C, D) -> (N, B, H, C, D)"""
    C = g.shape[-2]
    return t.exp(t.matmul(t.from_numpy(np.tri(C, k=-1, dtype=g.dtype).T.copy()), g))


def _inverse(t, L):
    """(I + L)^-1 for L (..., C, C) that is 0 on the diagonal and above.

    The inverses of neighbouring diagonal blocks are merged into one of twice the size, until there is one. Its inverse below the
    diagonal is -P^-1 L Q^-1, of a lower block P and an upper one Q. Unlike a series of powers it adds nothing up that cancels.
    """
    C = L.shape[-1]
    index = np.arange(C)
    X, size = t.from_numpy(np.eye(C, dtype=L.dtype)), 1
    while size < C:
        row, column = index[:, None] // size, index[None, :] // size
        below = t.from_numpy(((row == column + 1) & (row % 2 == 1)).astype(L.dtype))  # (C, C)
        X = t.subtract(X, t.matmul(t.matmul(X, t.multiply(L, below)), X))
        size *= 2
    return X


def _scores(t, decay, a, b):
    """Sum over d of a_t b_s e^(G_t - G_s): decay (N, B, H, C, C, D), a and b (N, B, H, C, D) -> (N, B, H, C, C)"""
    return t.sum(t.multiply(t.multiply(decay, _rows(t, a)), _columns(t, b)), axis=-1)


def _rows(t, x):
    """(..., C, D) -> (..., C, 1, D)"""
    return t.view(x, (*x.shape[:-1], 1, x.shape[-1]))


def _columns(t, x):
    """(..., C, D) -> (..., 1, C, D)"""
    return t.view(x, (*x.shape[:-2], 1, *x.shape[-2:]))


def _forward(t, c, state):
    S, states = start(t, c, state), []
    U = c.v if c.beta is None else t.matmul(c.X, t.multiply(c.v, c.beta))  # (N, B, H, C, E)
    for n in range(c.v.shape[0]):
        states.append(S)
        u = at(t, U, n)  # (B, H, C, E)
        if c.beta is not None:
            u = t.subtract(u, t.matmul(at(t, c.W, n), S))
        S = t.add(t.multiply(at(t, c.over_chunk, n), S), t.matmul(at(t, c.k_to_end, n), u, transpose_a=True))
    kept = stacked(t, states)  # (N, B, H, D, E)
    if c.beta is not None:
        U = t.subtract(U, t.matmul(c.W, kept))
    y = t.add(t.matmul(c.from_q, kept), t.matmul(c.A, U))  # (N, B, H, C, E)
    return joined(t, y, c.T), S, kept


def _backward(t, c, dy, dlast, S):
    dy = chunked(t, dy, c.C)  # (N, B, H, C, E)
    error = c.v if c.beta is None else t.subtract(c.v, t.matmul(c.from_k, S))  # (N, B, H, C, E)
    U = error if c.beta is None else t.matmul(c.X, t.multiply(error, c.beta))
    dU = t.matmul(c.A, dy, transpose_a=True)
    along = t.matmul(c.from_q, dy, transpose_a=True)  # (N, B, H, D, E): into the state before each chunk
    if c.beta is not None:
        along = t.subtract(along, t.matmul(c.W, dU, transpose_a=True))
    dS, ends = start(t, c, dlast), []
    for n in reversed(range(c.v.shape[0])):
        ends.append(dS)
        before = t.add(at(t, along, n), t.multiply(at(t, c.over_chunk, n), dS))
        if c.beta is not None:
            du = t.matmul(at(t, c.k_to_end, n), dS)  # (B, H, C, E)
            before = t.subtract(before, t.matmul(at(t, c.W, n), du, transpose_a=True))
        dS = before
    dend = stacked(t, ends[::-1])  # (N, B, H, D, E): of the state after each chunk

    dU = t.add(dU, t.matmul(c.k_to_end, dend))  # (N, B, H, C, E)
    dA = t.multiply(t.matmul(dy, U, transpose_b=True), c.lower)  # (N, B, H, C, C)
    dq, dk = _of_scores(t, c.decay, dA, c.q, c.k)  # of k: as what is read, at step s
    dq = t.add(dq, t.multiply(t.matmul(dy, S, transpose_b=True), c.from_start))
    into_end = t.multiply(t.matmul(U, dend, transpose_b=True), c.to_end)  # (N, B, H, C, D)
    dk = t.add(dk, into_end)
    dbeta, dv = None, dU
    dG = t.subtract(t.multiply(c.q, dq), t.multiply(c.k, dk))  # e^(G_t - G_s): what reads gains, what is read loses
    if c.beta is not None:
        dR = t.matmul(c.X, dU, transpose_a=True)  # of diag(beta) error
        dL = t.negative(t.multiply(t.matmul(dR, U, transpose_b=True), c.strict))  # of diag(beta) L
        dbeta = t.add(
            t.sum(t.multiply(dR, error), axis=-1, keepdims=True), t.sum(t.multiply(dL, c.L), axis=-1, keepdims=True)
        )  # (N, B, H, C, 1)
        dv = t.multiply(dR, c.beta)
        reading, read = _of_scores(t, c.decay, t.multiply(dL, c.beta), c.k, c.k)
        reading = t.subtract(reading, t.multiply(t.matmul(dv, S, transpose_b=True), c.from_start))
        dk = t.add(dk, t.add(reading, read))
        dG = t.add(dG, t.multiply(c.k, t.subtract(reading, read)))
        dbeta = joined(t, t.view(dbeta, dbeta.shape[:-1]), c.T)
    dend_G = t.add(
        t.sum(t.multiply(c.k, into_end), axis=-2, keepdims=True),
        t.multiply(t.exp(c.end), t.view(t.sum(t.multiply(S, dend), axis=-1), c.end.shape)),
    )  # (N, B, H, 1, D)
    dg = t.add(t.matmul(c.lower, dG, transpose_a=True), dend_G)  # a decay acts on all steps from its own on
    dq, dk, dv, dg = (joined(t, x, c.T) for x in (dq, dk, dv, dg))
    return dq, dk, dv, dg, dbeta, dS


def _of_scores(t, decay, dA, a, b):
    """The gradients of a and b in `_scores`, (N, B, H, C, D) each."""
    weighted = t.multiply(decay, t.view(dA, (*dA.shape, 1)))  # (N, B, H, C, C, D)
    da = t.sum(t.multiply(weighted, _columns(t, b)), axis=-2)
    return da, t.sum(t.multiply(weighted, _rows(t, a)), axis=-3)


# Chunks: (B, H, T, ...) -> (N, B, H, C, ...), so that those of one n lie together; zeros fill the last one up.


def _strides(shape) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))


def chunked(t, x, C):
    B, H, T, *rest = x.shape
    N = blocks(T, C)
    if T < N * C:  # a step of zeros decays nothing and writes nothing
        padded = t.zeros((B, H, N * C, *rest), x.dtype)
        t.strided_write(padded, x, _strides(padded.shape))
        x = padded
    b, h, step, *inner = _strides(x.shape)
    return t.strided_copy(x, (N, B, H, C, *rest), (C * step, b, h, step, *inner))


def joined(t, x, T):
    """The reverse, without what was filled up: (N, B, H, C, ...) -> (B, H, T, ...)"""
    N, B, H, C, *rest = x.shape
    n, b, h, step, *inner = _strides(x.shape)
    whole = t.strided_copy(x, (B, H, N, C, *rest), (b, h, n, step, *inner))
    if T == N * C:
        return t.view(whole, (B, H, T, *rest))
    return t.strided_copy(whole, (B, H, T, *rest), _strides((B, H, N * C, *rest)))


def at(t, x, n):
    """Chunk n: (N, B, H, ...) -> (B, H, ...)"""
    shape = x.shape[1:]
    return t.view(x, shape, n * int(np.prod(shape)))


def stacked(t, arrays):
    return t.concatenate([t.view(x, (1, *x.shape)) for x in arrays], 0)


def last_step(t, x):
    """(N, B, H, C, D) -> (N, B, H, 1, D)"""
    *lead, C, D = x.shape
    return t.strided_copy(x, (*lead, 1, D), _strides(x.shape), (C - 1) * D)


def start(t, c, state):
    _, B, H, _, D = c.k.shape
    return t.zeros((B, H, D, c.v.shape[-1]), c.v.dtype) if state is None else t.copy(state)
