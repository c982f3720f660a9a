"""Tensor parallel: each layer cut over the ranks, for models that fit on no single device. (Shoeybi et al. 2019, "Megatron-LM",
section 3)

Attention is cut by heads and the MLP by hidden units. The first matrix of each is cut by rows of its weight (outputs), so a rank
goes on alone through attention or activation ("column parallel", for the paper writes x A); the second is cut by columns, inputs,
so each rank has a part of every sum ("row parallel"), and one all_reduce puts the sums together. So a block needs two all_reduces
forward and two backward, where the gradients of its input meet. Embedding, norms and head stay whole on every rank.

Limits: the ranks must divide heads and hidden units. For inference and losses with gradients; no optimiser keeps the
parameters that stay whole the same, but equal gradients on all ranks do.
"""

from __future__ import annotations

import copy

import numpy as np

from course_lib import functional, nn
from course_lib.model import GPT, MLP, Attention
from course_lib.parallel.communicator import Communicator
from course_lib.tensor import Tensor, record


def split(model: GPT, communicator: Communicator) -> GPT:
    """This rank's part of a model: it gives the logits and losses of the whole one, if all ranks call it with the same input.

    What is not cut is shared with `model`. Raises ValueError where the ranks do not divide heads or hidden units.
    """
    config, size = model.config, communicator.size
    config.needs_attention("Tensor parallel")
    if config.heads % size or config.hidden % size or (config.kv_heads % size and size % config.kv_heads):
        raise ValueError(
            f"{size} ranks cannot share a model of {config.heads} heads, {config.kv_heads} key-value heads and {config.hidden} "
            "hidden units: choose a number that divides all of them."
        )
    part = copy.copy(model)
    part.blocks = [copy.copy(block) for block in model.blocks]
    for block in part.blocks:
        block.attention = SplitAttention(block.attention, communicator)
        block.mlp = SplitMLP(block.mlp, communicator)
    return part


class SplitAttention(Attention):
    """The heads of one rank. Key-value heads that are fewer than the ranks are copied to those whose queries read them."""

    def __init__(self, whole: Attention, communicator: Communicator):
        rank, size, d = communicator.rank, communicator.size, whole.head_size
        h, g = whole.heads, whole.kv_heads
        self.heads, self.kv_heads = h // size, max(1, g // size)
        self.head_size, self.context, self.communicator = d, whole.context, communicator
        q = np.arange(rank * self.heads * d, (rank + 1) * self.heads * d)  # rows of the weight
        first = rank * g // size
        k = h * d + np.arange(first * d, (first + self.kv_heads) * d)
        self.qkv = rows_of(whole.qkv, np.concatenate([q, k, k + g * d]))
        self.out = RowParallel(whole.out, q, communicator)

    def forward(self, x: Tensor, *others) -> Tensor:
        return super().forward(entered(x, self.communicator), *others)


class SplitMLP(MLP):
    """The hidden units of one rank."""

    def __init__(self, whole: MLP, communicator: Communicator):
        hidden = whole.down.weight.shape[1]
        units = np.arange(hidden // communicator.size) + communicator.rank * (hidden // communicator.size)
        both = [units, units + hidden] if whole.activation == "swiglu" else [units]
        self.activation, self.communicator = whole.activation, communicator
        self.up = rows_of(whole.up, np.concatenate(both))
        self.down = RowParallel(whole.down, units, communicator)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(entered(x, self.communicator))


def rows_of(whole: nn.Linear, rows: np.ndarray) -> nn.Linear:
    """Some outputs of a linear layer: column parallel."""
    part = copy.copy(whole)
    part.weight = nn.parameter(whole.weight.numpy()[rows], whole.weight.device, whole.weight.dtype)
    if whole.bias is not None:
        part.bias = nn.parameter(whole.bias.numpy()[rows], whole.weight.device, whole.weight.dtype)
    return part


class RowParallel(nn.Module):
    """A linear layer of which each rank has some inputs: x (*n, K / size) -> (*n, N), summed over the ranks.

    The bias is added after the sum: each rank adding it before would add it as many times as there are ranks.
    """

    def __init__(self, whole: nn.Linear, columns: np.ndarray, communicator: Communicator):
        self.weight = nn.parameter(whole.weight.numpy()[:, columns], whole.weight.device, whole.weight.dtype)
        self.bias, self.communicator = whole.bias, communicator

    def forward(self, x: Tensor) -> Tensor:
        y = summed(functional.linear(x, self.weight), self.communicator)  # (*n, N)
        return y if self.bias is None else y + self.bias


def entered(x: Tensor, communicator: Communicator) -> Tensor:
    """x itself; backward adds up the gradients that it gets on all ranks. (f of the paper)"""
    return record("entered", (x,), x.array(), lambda dy: (_all_reduce(dy, x.ops, communicator),))


def summed(x: Tensor, communicator: Communicator) -> Tensor:
    """The sum of x over all ranks; its gradient is the same for each. (g of the paper)"""
    return record("summed", (x,), _all_reduce(x.array(), x.ops, communicator), lambda dy: (dy,))


def _all_reduce(array, ops, communicator: Communicator):
    if communicator.arrays is np:
        return ops.from_numpy(communicator.all_reduce(ops.to_numpy(array)))
    return communicator.all_reduce(array)
