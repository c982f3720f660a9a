"""Cross-entropy: kernels/cross_entropy.cu and kernels/cross_entropy_backward.cu."""

from __future__ import annotations

from . import configuration
from .launching import THREADS, TYPES, blocks, empty, is_host, kernel

__all__ = "cross_entropy_forward cross_entropy_backward".split()

FILE = "cross_entropy.cu"


def cross_entropy_forward(logits, targets, ignore_index=-1):
    n, V = logits.shape
    losses, logsumexp = empty(logits, (n,)), empty(logits, (n,))
    if logits.size:
        lanes = configuration.cross_entropy_lanes(is_host(logits))
        run = kernel(FILE, f"cross_entropy_forward<{TYPES[targets.dtype.name]}, {lanes}>")
        run((blocks(n * lanes),), (THREADS,), (logits, targets, losses, logsumexp, n, V, ignore_index))
    return _mean(losses, _count(targets, ignore_index)), logsumexp


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    n, V = logits.shape
    dlogits = empty(logits, logits.shape)  # (n, V)
    if logits.size:
        kept = _count(targets, ignore_index)
        run = kernel("cross_entropy_backward.cu", f"cross_entropy_backward<{TYPES[targets.dtype.name]}>")
        run((n, blocks(V)), (THREADS,), (dloss, logits, targets, logsumexp, kept, dlogits, V, ignore_index))
    return dlogits


def cross_entropy_fused(dloss, logits, targets, ignore_index=-1, in_place=False):
    """(loss (), dlogits (n, V)) in one pass over the logits, for a dloss () that is known beforehand (1 in training).

    in_place: dlogits are written over the logits, which saves an array of their size.
    """
    n, V = logits.shape
    losses, logsumexp, kept = empty(logits, (n,)), empty(logits, (n,)), _count(targets, ignore_index)
    dlogits = logits if in_place else empty(logits, logits.shape)
    if logits.size:
        lanes = configuration.cross_entropy_lanes(is_host(logits))
        run = kernel(FILE, f"cross_entropy_fused<{TYPES[targets.dtype.name]}, {lanes}>")
        run(
            (blocks(n * lanes),), (THREADS,),
            (logits, targets, dloss, kept, losses, logsumexp, dlogits, n, V, ignore_index),
        )  # fmt: skip
    return _mean(losses, kept), dlogits


def cross_entropy_of_logsumexp(logits, logsumexp, targets, ignore_index=-1):
    """loss () where the logsumexp (n) is known already: of each row of logits one number is read."""
    n, V = logits.shape
    losses = empty(logits, (n,))
    if n:
        run = kernel(FILE, f"cross_entropy_losses<{TYPES[targets.dtype.name]}>")
        run((blocks(n),), (THREADS,), (logits, targets, logsumexp, losses, n, V, ignore_index))
    return _mean(losses, _count(targets, ignore_index))


def _count(targets, ignore_index):
    """How many targets are not ignored: int32 (1), on the device."""
    kept = empty(targets, (1,), "int32")
    run = kernel(FILE, f"cross_entropy_count<{TYPES[targets.dtype.name]}>")
    run((1,), (THREADS,), (targets, kept, targets.size, ignore_index))
    return kept


def _mean(losses, kept):
    loss = empty(losses, ())
    kernel(FILE, "cross_entropy_mean")((1,), (THREADS,), (losses, kept, loss, losses.size))
    return loss
