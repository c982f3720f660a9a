"""Mixed precision: with choices.compute = "bfloat16", products and attention multiply in bfloat16 on tensor cores.

What comes in is rounded to bfloat16, sums are kept in float32, and what goes out is float32 again. So weights, gradients,
norms, softmax, loss and optimiser are float32 throughout. Each weight is a float32 master; a training run keeps a bfloat16
copy of it as well (`Copies`), which AdamW writes as it changes the master, and elsewhere it is rounded when it is used.
(Micikevicius et al. 2018, "Mixed precision training"; bfloat16 has the exponent of float32, so that no loss scaling is
needed: Kalamkar et al. 2019.) Arrays that are bfloat16 already are left to products.py and attention.py.
"""

from __future__ import annotations

import math

import numpy as np

from ..checks import fit
from . import attention, choices, products, reductions
from .launching import empty
from .storage import from_bfloat16, to_bfloat16

__all__ = "linear_forward linear_backward attention_forward attention_backward".split()


class Copies:
    """bfloat16 copies: of some weights, each made when a product first asks for it, and of what comes into a product, from its
    forward pass to its backward.

    As long as they are in `choices.computing(...)` nothing but adamw_step may change the weights.
    """

    def __init__(self, weights):
        self._weights = {id(weight): weight for weight in weights}  # kept, so that no other array gets their id
        self._copies: dict = {}
        self._inputs: dict = {}  # id -> (the array, its copy)

    def of(self, weight):
        """Its copy; None for an array that is not one of the weights."""
        if id(weight) in self._weights and id(weight) not in self._copies:
            self._copies[id(weight)] = to_bfloat16(weight, lasting=True)
        return self.made(weight)

    def made(self, weight):
        """Its copy if there is one already, else None."""
        return self._copies.get(id(weight))

    def keep(self, x, copy) -> None:
        """Hold the copy of an input until `taken` asks for it."""
        self._inputs[id(x)] = x, copy

    def taken(self, x):
        """The copy of an input, which is held no longer; None if there is none."""
        return self._inputs.pop(id(x), (x, None))[1]

    def forget(self) -> None:
        """Hold no inputs: those of a step that came to no backward pass."""
        self._inputs.clear()


def _first(x):
    """An input of a forward pass, rounded."""
    copy = to_bfloat16(x)
    if choices.keeping:
        choices.copies.keep(x, copy)
    return copy


def _again(x):
    """The same in the backward pass."""
    copy = choices.copies and choices.copies.taken(x)
    return to_bfloat16(x) if copy is None else copy


def _rounded(weight):
    copy = choices.copies and choices.copies.of(weight)
    return to_bfloat16(weight) if copy is None else copy


def _mixed(*arrays) -> bool:
    return choices.compute == "bfloat16" and all(array.dtype == np.float32 for array in arrays)


def linear_forward(x, weight, bias):
    if not _mixed(x, weight):
        return products.linear_forward(x, weight, bias)
    sizes = fit("linear_forward", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    y = empty(x, (*x.shape[:-1], sizes["N"]))  # (*n, N), float32: the sums as they are
    products.linear_into(y, _first(x), _rounded(weight), bias)
    return y


def linear_backward(dy, x, weight, has_bias):
    if not _mixed(dy, x, weight):
        return products.linear_backward(dy, x, weight, has_bias)
    sizes = fit("linear_backward", "dy (*n, N), x (*n, K), weight (N, K)", dy, x, weight)
    N, K, n = sizes["N"], sizes["K"], math.prod(x.shape[:-1])
    rows, dx, dweight = to_bfloat16(dy).reshape(n, N), empty(x, (n, K)), empty(x, (N, K))
    products.matmul(rows, _rounded(weight), out=dx)  # (n, N) (N, K) -> (n, K)
    products.matmul(rows, _again(x).reshape(n, K), transpose_a=True, out=dweight)  # (n, N)^T (n, K) -> (N, K)
    dbias = reductions.sum(dy.reshape(n, N), axis=0) if has_bias else None  # (n, N) -> (N)
    return dx.reshape(x.shape), dweight, dbias


def linear_gelu(x, weight, bias):
    """y = gelu(pre), pre = x weight^T + bias, both (*n, N) and float32."""
    if not _mixed(x, weight):
        return products.linear_gelu(x, weight, bias)
    sizes = fit("linear_gelu_forward", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    y, pre = (empty(x, (*x.shape[:-1], sizes["N"])) for _ in range(2))
    products.linear_gelu_into(y, pre, _first(x), _rounded(weight), bias)
    return y, pre


def linear_logsumexp(x, weight, bias):
    """logits (*n, N) = x weight^T + bias and their logsumexp (*n), both float32."""
    if not _mixed(x, weight):
        return products.linear_logsumexp(x, weight, bias)
    sizes = fit("linear_logsumexp", "x (*n, K), weight (N, K), bias (N)", x, weight, bias)
    logits = empty(x, (*x.shape[:-1], sizes["N"]))
    return logits, products.linear_logsumexp_into(logits, to_bfloat16(x), _rounded(weight), bias)


def attention_forward(q, k, v, causal=True):
    if not _mixed(q, k, v) or q.shape[1] == 1:  # a single query is bound by memory, not by products
        return attention.attention_forward(q, k, v, causal)
    rounded, logsumexp = attention.attention_forward(*map(_first, (q, k, v)), causal)
    y = from_bfloat16(rounded)
    if choices.keeping:
        choices.copies.keep(y, rounded)
    return y, logsumexp


def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    if not _mixed(dy, q, k, v, y):
        return attention.attention_backward(dy, q, k, v, y, logsumexp, causal)
    gradients = attention.attention_backward(to_bfloat16(dy), *map(_again, (q, k, v, y)), logsumexp, causal)
    return tuple(map(from_bfloat16, gradients))
