"""Epilogue fusion: a linear layer with what follows it in one launch, GELU after the MLP's first matrix, the loss after the head.

The last thing that a product does with its sums is the first thing that would be done with its result (include/epilogues.cuh).
Each op here does without kernels of other files; where a learner has put one of their own in the place of one of those, the op
is made of its parts again (devices/composed.py), so that the learner's kernel is launched.
"""

from __future__ import annotations

from types import SimpleNamespace

from .. import composed
from ..replacing import replaced
from . import fused, loss
from .launching import empty, zeros
from .mixed import MixedPrecision
from .storage import fill


class EpilogueFusion:
    """The fused ops of a device with the products of `mixed`."""

    OPS = "linear_gelu_forward linear_gelu_backward linear_cross_entropy".split()

    def __init__(self, mixed: MixedPrecision):
        self.mixed = mixed

    def linear_gelu_forward(self, x, weight, bias):
        if _bias_gelu_is_replaced():
            return composed.linear_gelu_forward(self._parts(x), x, weight, bias)
        return self.mixed.linear_gelu(x, weight, bias)

    def linear_gelu_backward(self, dy, x, weight, bias, kept):
        if _bias_gelu_is_replaced():
            return composed.linear_gelu_backward(self._parts(x), dy, x, weight, bias, kept)
        nothing = zeros(bias, bias.shape)  # what was kept has the bias already
        return composed.linear_gelu_backward(self._parts(x), dy, x, weight, nothing, kept)

    def linear_cross_entropy(self, x, weight, bias, targets, ignore_index=-1, needs_grad=True):
        if replaced("cross_entropy.cu", "cross_entropy_forward") or replaced(
            "cross_entropy_backward.cu", "cross_entropy_backward"
        ):
            return composed.linear_cross_entropy(self._parts(x), x, weight, bias, targets, ignore_index, needs_grad)
        if not needs_grad:
            logits, logsumexp = self.mixed.linear_logsumexp(x, weight, bias)
            return loss.cross_entropy_of_logsumexp(logits, logsumexp, targets, ignore_index), None
        logits = self.mixed.linear_forward(x, weight, bias)  # (n, V), overwritten with dlogits
        one = fill(empty(logits, ()), 1.0)
        return loss.cross_entropy_fused(one, logits, targets, ignore_index, in_place=True)

    def _parts(self, like) -> SimpleNamespace:
        """The ops that those of this class are made of, on the device where `like` lies."""
        return SimpleNamespace(
            full=lambda shape, value, dtype: fill(empty(like, shape, dtype), value),
            linear_forward=self.mixed.linear_forward,
            linear_backward=self.mixed.linear_backward,
            bias_gelu_forward=fused.bias_gelu_forward,
            bias_gelu_backward=fused.bias_gelu_backward,
            cross_entropy_forward=loss.cross_entropy_forward,
            cross_entropy_backward=loss.cross_entropy_backward,
        )


def _bias_gelu_is_replaced() -> bool:
    return replaced("bias_gelu.cu", "bias_gelu_forward", "bias_gelu_backward")
