"""Cross-entropy of logits against target indices, in nats."""

from __future__ import annotations

import numpy as np

from ..checks import check_range, fit

__all__ = "cross_entropy_forward cross_entropy_backward".split()


def _kept(op, logits, targets, ignore_index):
    """The rows whose target counts."""
    sizes = fit(op, "logits (n, V), targets (n)", logits, targets)
    rows = np.flatnonzero(targets != ignore_index)  # (kept)
    if rows.size:
        check_range(op, "target", int(targets[rows].min()), int(targets[rows].max()), sizes["V"])
    return rows


def cross_entropy_forward(logits, targets, ignore_index=-1):
    rows = _kept("cross_entropy_forward", logits, targets, ignore_index)
    largest = logits.max(axis=-1, keepdims=True)  # (n, 1)
    logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True)))[:, 0]  # (n)
    losses = logsumexp[rows] - logits[rows, targets[rows]]  # (kept): -log of the target's probability
    loss = losses.mean() if rows.size else np.nan
    return np.asarray(loss, logits.dtype), logsumexp


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    rows = _kept("cross_entropy_backward", logits, targets, ignore_index)
    fit("cross_entropy_backward", "dloss (), logits (n, V), logsumexp (n)", dloss, logits, logsumexp)
    dlogits = np.zeros_like(logits)  # (n, V); an ignored row stays 0
    dlogits[rows] = np.exp(logits[rows] - logsumexp[rows, None])  # softmax ...
    dlogits[rows, targets[rows]] -= 1  # ... minus one-hot
    return dlogits * (dloss / max(1, rows.size))
