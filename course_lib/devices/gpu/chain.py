"""Linear layers with what follows them in one launch: GELU behind the MLP's first matrix, the loss behind the head.

The last thing that a product does with its sums is the first thing that would be done with its result (include/epilogues.cuh).
Each op here does without kernels of other files; where a learner has put one of their own in the place of one of those, the op
is made of its parts again (devices/composed.py), so that the learner's kernel is launched.
"""

from __future__ import annotations

from types import SimpleNamespace

from .. import composed
from . import fused, loss, mixed
from .launching import empty, replaced, zeros
from .storage import fill

__all__ = "linear_gelu_forward linear_gelu_backward linear_cross_entropy".split()


def linear_gelu_forward(x, weight, bias):
    if _bias_gelu_is_theirs():
        return composed.linear_gelu_forward(_parts(x), x, weight, bias)
    return mixed.linear_gelu(x, weight, bias)


def linear_gelu_backward(dy, x, weight, bias, kept):
    if _bias_gelu_is_theirs():
        return composed.linear_gelu_backward(_parts(x), dy, x, weight, bias, kept)
    nothing = zeros(bias, bias.shape)  # what was kept has the bias already
    return composed.linear_gelu_backward(_parts(x), dy, x, weight, nothing, kept)


def linear_cross_entropy(x, weight, bias, targets, ignore_index=-1, slope=True):
    if replaced("cross_entropy.cu", "cross_entropy_forward") or replaced(
        "cross_entropy_backward.cu", "cross_entropy_backward"
    ):
        return composed.linear_cross_entropy(_parts(x), x, weight, bias, targets, ignore_index, slope)
    if not slope:
        logits, logsumexp = mixed.linear_logsumexp(x, weight, bias)
        return loss.cross_entropy_of_logsumexp(logits, logsumexp, targets, ignore_index), None
    logits = mixed.linear_forward(x, weight, bias)  # (n, V), and then dlogits in the same place
    one = fill(empty(logits, ()), 1.0)
    return loss.cross_entropy_fused(one, logits, targets, ignore_index, in_place=True)


def _bias_gelu_is_theirs() -> bool:
    return replaced("bias_gelu.cu", "bias_gelu_forward", "bias_gelu_backward")


def _parts(like) -> SimpleNamespace:
    """The ops that those of this page are made of, on the device where `like` lies."""
    return SimpleNamespace(
        full=lambda shape, value, dtype: fill(empty(like, shape, dtype), value),
        linear_forward=mixed.linear_forward,
        linear_backward=mixed.linear_backward,
        bias_gelu_forward=fused.bias_gelu_forward,
        bias_gelu_backward=fused.bias_gelu_backward,
        cross_entropy_forward=loss.cross_entropy_forward,
        cross_entropy_backward=loss.cross_entropy_backward,
    )
