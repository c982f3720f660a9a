"""Cross-entropy: kernels/cross_entropy.wgsl."""

from __future__ import annotations

from ..checks import fit
from ..gpu.launching import blocks, check_float32, check_size
from .launching import empty, kernel
from .selections import check_indices
from .softmax import LOWEST

__all__ = "cross_entropy_forward cross_entropy_backward".split()

FILE = "cross_entropy.wgsl"


def _check(op, logits, targets, ignore_index):
    sizes = fit(op, "logits (n, V), targets (n)", logits, targets)
    check_float32(op, logits)
    check_size(op, logits.size)
    check_indices(op, "target", targets, sizes["V"], ignore_index)
    return {"n": sizes["n"], "V": sizes["V"], "ignore": ignore_index, "lowest": LOWEST}


def cross_entropy_forward(logits, targets, ignore_index=-1):
    sizes = _check("cross_entropy_forward", logits, targets, ignore_index)
    n = sizes["n"]
    losses, logsumexp, loss = empty(logits, (n,)), empty(logits, (n,)), empty(logits, ())
    if logits.size:
        run = kernel(FILE, "cross_entropy_forward")
        run(n, logits=logits, targets=targets, losses=losses, logsumexp=logsumexp, **sizes)
    kernel(FILE, "cross_entropy_mean")(1, of_rows=losses, targets=targets, loss=loss, **sizes)
    return loss, logsumexp


def cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index=-1):
    sizes = _check("cross_entropy_backward", logits, targets, ignore_index)
    fit("cross_entropy_backward", "dloss (), logits (n, V), logsumexp (n)", dloss, logits, logsumexp)
    check_float32("cross_entropy_backward", dloss, logsumexp)
    dlogits, kept = empty(logits, logits.shape), empty(logits, (1,))  # (n, V)
    if logits.size:
        kernel(FILE, "cross_entropy_count")(1, targets=targets, loss=kept, **sizes)
        run = kernel(FILE, "cross_entropy_backward")
        given = {"logits": logits, "targets": targets, "logsumexps": logsumexp, "dloss": dloss, "kept": kept}
        run(blocks(logits.size), **given, dlogits=dlogits, **sizes)
    return dlogits
