"""Cross-entropy, alone and behind the last linear layer: kernels/cross_entropy.wgsl and kernels/cross_entropy_backward.wgsl."""

from __future__ import annotations

from ..layout import blocks
from ..replacing import replaced
from .launching import empty, kernel
from .products import linear_forward
from .softmax import LOWEST
from .storage import full

__all__ = "cross_entropy_forward cross_entropy_backward linear_cross_entropy".split()

FILE = "cross_entropy.wgsl"


def _sizes(logits, ignore_index):
    """n, V and the target to ignore, by the names that the kernels give them."""
    return {"n": logits.shape[0], "V": logits.shape[1], "ignore": ignore_index}


def _count(logits, targets, sizes):
    """How many targets are not ignored: float32 (1), on the device."""
    count = empty(logits, (1,))
    kernel(FILE, "cross_entropy_count")(1, targets=targets, count=count, **sizes, lowest=LOWEST)
    return count


def cross_entropy_forward(logits, targets, ignore_index=-1):
    sizes = _sizes(logits, ignore_index)
    n = sizes["n"]
    losses, logsumexp = empty(logits, (n,)), empty(logits, (n,))
    if logits.size:
        run = kernel(FILE, "cross_entropy_forward")
        run(n, logits=logits, targets=targets, losses=losses, logsumexp=logsumexp, **sizes, lowest=LOWEST)
    return _mean(losses, _count(logits, targets, sizes), sizes), logsumexp


def _mean(losses, count, sizes):
    loss = empty(losses, ())
    kernel(FILE, "cross_entropy_mean")(1, losses_read=losses, count_read=count, loss=loss, **sizes, lowest=LOWEST)
    return loss


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    sizes = _sizes(logits, ignore_index)
    dlogits = empty(logits, logits.shape)  # (n, V)
    if logits.size:
        given = {"logits": logits, "targets": targets, "logsumexp": logsumexp, "dloss": dloss}
        count = _count(logits, targets, sizes)
        run = kernel("cross_entropy_backward.wgsl", "cross_entropy_backward")
        run(blocks(logits.size), **given, count=count, dlogits=dlogits, **sizes)
    return dlogits


def linear_cross_entropy(x, weight, bias, targets, ignore_index=-1, needs_grad=True):
    logits = linear_forward(x, weight, bias)  # (n, K), (V, K) -> (n, V)
    if not needs_grad:
        return cross_entropy_forward(logits, targets, ignore_index)[0], None
    if replaced(FILE, "cross_entropy_forward") or replaced("cross_entropy_backward.wgsl", "cross_entropy_backward"):
        loss, logsumexp = cross_entropy_forward(logits, targets, ignore_index)
        return loss, cross_entropy_backward(full((), 1.0), logits, targets, logsumexp, ignore_index)
    sizes = _sizes(logits, ignore_index)
    losses, count = empty(logits, (sizes["n"],)), _count(logits, targets, sizes)
    if logits.size:  # dlogits are written over the logits, the largest array of a step
        run = kernel(FILE, "cross_entropy_fused")
        run(sizes["n"], logits=logits, targets=targets, count_read=count, row_losses=losses, **sizes, lowest=LOWEST)
    return _mean(losses, count, sizes), logits
