"""Cross-entropy of logits against target indices, in nats."""

from __future__ import annotations

import numpy as np

__all__ = "cross_entropy_forward cross_entropy_backward".split()


def cross_entropy_forward(logits, targets, ignore_index=-1):
    rows = np.flatnonzero(targets != ignore_index)  # (kept): whose target counts
    largest = logits.max(axis=-1, keepdims=True)  # (n, 1)
    logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True)))[:, 0]  # (n)
    losses = logsumexp[rows] - logits[rows, targets[rows]]  # (kept): -log of the target's probability
    loss = losses.mean() if rows.size else np.nan
    return np.asarray(loss, logits.dtype), logsumexp


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    rows = np.flatnonzero(targets != ignore_index)  # (kept)
    dlogits = np.zeros_like(logits)  # (n, V); an ignored row stays 0
    dlogits[rows] = np.exp(logits[rows] - logsumexp[rows, None])  # softmax ...
    dlogits[rows, targets[rows]] -= 1  # ... minus one-hot
    return dlogits * (dloss / max(1, rows.size))
