"""Mixed precision: products and attention that multiply in bfloat16 on tensor cores where their Precision says so.

What comes in is rounded to bfloat16, sums are kept in float32, and what goes out is float32 again. So weights, gradients,
norms, softmax, loss and optimiser are float32 throughout. Each weight is a float32 master; a training run keeps a bfloat16
copy of it as well (precision.py), which AdamW writes as it changes the master, and elsewhere it is rounded when it is used.
(Micikevicius et al. 2018, "Mixed precision training"; bfloat16 has the exponent of float32, so that no loss scaling is
needed: Kalamkar et al. 2019.) Arrays that are bfloat16 already are left to products.py and attention.py.
"""

from __future__ import annotations

import math

from . import attention, optimiser, products, recurrences, reductions
from .launching import empty
from .precision import Precision
from .storage import from_bfloat16, to_bfloat16


class MixedPrecision:
    """The ops of a device whose products multiply in what `precision` says."""

    OPS = """
        linear_forward linear_backward linear_backward_input attention_forward attention_backward gated_linear_attention_forward
        gated_delta_forward state_space_forward adamw_step
    """.split()

    def __init__(self, precision: Precision):
        self.precision = precision

    def linear_forward(self, x, weight, bias):
        if not self.precision.is_mixed(x, weight):
            return products.linear_forward(x, weight, bias)
        y = empty(x, (*x.shape[:-1], weight.shape[0]))  # (*n, N), float32: the sums as they are
        products.linear_into(y, self.precision.cast_and_save(x), self.precision.weight(weight), bias)
        return y

    def linear_backward(self, dy, x, weight, has_bias):
        if not self.precision.is_mixed(dy, x, weight):
            return products.linear_backward(dy, x, weight, has_bias)
        (N, K), n = weight.shape, math.prod(x.shape[:-1])
        rows, dx, dweight = to_bfloat16(dy).reshape(n, N), empty(x, (n, K)), empty(x, (N, K))
        products.matmul(rows, self.precision.weight(weight), out=dx)  # (n, N) (N, K) -> (n, K)
        # (n, N)^T (n, K) -> (N, K)
        products.matmul(rows, self.precision.saved_cast(x).reshape(n, K), transpose_a=True, out=dweight)
        dbias = reductions.sum(dy.reshape(n, N), axis=0) if has_bias else None  # (n, N) -> (N)
        return dx.reshape(x.shape), dweight, dbias

    def linear_backward_input(self, dy, x, weight):
        if not self.precision.is_mixed(dy, x, weight):
            return products.linear_backward_input(dy, x, weight)
        (N, K), n = weight.shape, math.prod(x.shape[:-1])
        dx = empty(x, (n, K))
        products.matmul(to_bfloat16(dy).reshape(n, N), self.precision.weight(weight), out=dx)  # (n, N) (N, K) -> (n, K)
        return dx.reshape(x.shape)

    def linear_gelu(self, x, weight, bias):
        """y = gelu(pre), pre = x weight^T + bias, both (*n, N) and float32."""
        if not self.precision.is_mixed(x, weight):
            return products.linear_gelu(x, weight, bias)
        y, pre = (empty(x, (*x.shape[:-1], weight.shape[0])) for _ in range(2))
        products.linear_gelu_into(y, pre, self.precision.cast_and_save(x), self.precision.weight(weight), bias)
        return y, pre

    def linear_logsumexp(self, x, weight, bias):
        """logits (*n, N) = x weight^T + bias and their logsumexp (*n), both float32."""
        if not self.precision.is_mixed(x, weight):
            return products.linear_logsumexp(x, weight, bias)
        logits = empty(x, (*x.shape[:-1], weight.shape[0]))
        return logits, products.linear_logsumexp_into(logits, to_bfloat16(x), self.precision.weight(weight), bias)

    def attention_forward(self, q, k, v, causal=True):
        single = q.shape[1] == 1  # a single query is bound by memory, not by products
        if single or not self.precision.is_mixed(q, k, v):
            return attention.attention_forward(q, k, v, causal)
        rounded, logsumexp = attention.attention_forward(*map(self.precision.cast_and_save, (q, k, v)), causal)
        y = from_bfloat16(rounded)
        self.precision.save(y, rounded)
        return y, logsumexp

    def attention_backward(self, dy, q, k, v, y, logsumexp, causal=True):
        if not self.precision.is_mixed(dy, q, k, v, y):
            return attention.attention_backward(dy, q, k, v, y, logsumexp, causal)
        saved = map(self.precision.saved_cast, (q, k, v, y))
        gradients = attention.attention_backward(to_bfloat16(dy), *saved, logsumexp, causal)
        return tuple(map(from_bfloat16, gradients))

    # Of a recurrence only the forward pass: its backward computes in float32, from the states that the forward kept.

    def gated_linear_attention_forward(self, q, k, v, g, state):
        return recurrences.gated_linear_attention_forward(q, k, v, g, state, self.precision.is_mixed(q, k, v))

    def gated_delta_forward(self, q, k, v, g, beta, state):
        return recurrences.gated_delta_forward(q, k, v, g, beta, state, self.precision.is_mixed(q, k, v))

    def state_space_forward(self, q, k, v, g, gamma, weight, state):
        return recurrences.state_space_forward(q, k, v, g, gamma, weight, state, self.precision.is_mixed(q, k, v))

    def adamw_step(
        self, parameters, gradients, first_moments, second_moments, settings, norm, *,
        beta1, beta2, eps, weight_decay, max_norm,
    ):  # fmt: skip
        # A weight that products read in bfloat16 has a rounded copy, which the same launch makes anew.
        kept = self.precision.copies
        optimiser.adamw_step(
            parameters, gradients, first_moments, second_moments, settings, norm, beta1=beta1, beta2=beta2, eps=eps,
            weight_decay=weight_decay, max_norm=max_norm, copies=kept and [kept.made(p) for p in parameters],
        )  # fmt: skip
