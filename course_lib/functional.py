"""One differentiable function for each fused operation: the device's forward and backward, put on the tape.

Nothing is computed here; the device's table does that, and `course_lib/devices/contract.py` writes down what each op
takes and gives. Letters as there: B batch, T time, S time of the keys, C channels, H heads, G key-value heads, D head
size, V vocabulary, F hidden width; `*n` stands for any leading axes. Every tensor is on the device of the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib import autograd
from course_lib.devices.layout import axis_index
from course_lib.tensor import Tensor, record, shapes, tensor_from_array


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x (*n, K) @ weight (N, K) transposed + bias (N) -> (*n, N)."""
    ops, a, w = x.ops, x.array(), weight.array()
    has_bias = bias is not None
    y = ops.linear_forward(a, w, bias.array() if has_bias else None)  # (*n, K) -> (*n, N)
    inputs = (x, weight, bias) if has_bias else (x, weight)
    return record("linear", inputs, y, _linear_gradients(inputs, a, w), saved=(x, weight))


def _linear_gradients(inputs: tuple[Tensor, ...], a, w):
    """dy -> the gradients of a linear layer's inputs, x, weight and perhaps bias; of x alone where the others are frozen.

    a, w: the arrays of x and weight that the forward pass read, not asked for again: of a view that would be another copy."""
    ops, bias = inputs[0].ops, inputs[2:]
    if any(tensor.requires_grad for tensor in inputs[1:]):
        return lambda dy: ops.linear_backward(dy, a, w, bool(bias))[: len(inputs)]
    return lambda dy: (ops.linear_backward_input(dy, a, w), *[None] * len(inputs[1:]))


def embedding(table: Tensor, indices) -> Tensor:
    """Rows of table (V, C) picked by indices (*n) -> (*n, C). Raises IndexError for an index outside 0..V-1."""
    ops, rows = table.ops, table.shape[0]
    picks = index_array(indices, table)
    y = ops.embedding_forward(table.array(), picks)
    return record("embedding", (table,), y, lambda dy: (ops.embedding_backward(dy, picks, rows),))


def layernorm(x: Tensor, weight: Tensor, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Each row of x (*n, C) to mean 0 and variance 1, then times weight (C) plus bias (C). (Ba et al. 2016)"""
    ops, a, w, has_bias = x.ops, x.array(), weight.array(), bias is not None
    y, mean, rstd = ops.layernorm_forward(a, w, bias.array() if has_bias else None, eps)
    inputs = (x, weight, bias) if has_bias else (x, weight)
    return record("layernorm", inputs, y,
                  lambda dy: ops.layernorm_backward(dy, a, w, mean, rstd, has_bias)[: len(inputs)],
                  saved=(x, weight))  # fmt: skip


def residual_layernorm(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor | None = None,
                       eps: float = 1e-5) -> tuple[Tensor, Tensor]:  # fmt: skip
    """layernorm(x + residual), and the sum itself, in one pass: (y (*n, C), total (*n, C))."""
    ops, w, has_bias = x.ops, weight.array(), bias is not None
    y, total, mean, rstd = ops.residual_layernorm_forward(
        x.array(), residual.array(), w, bias.array() if has_bias else None, eps
    )
    inputs = (x, residual, weight, bias) if has_bias else (x, residual, weight)

    def backward(dy, dtotal):
        if dy is None:  # only the sum was used
            return (dtotal, dtotal) + (None,) * (len(inputs) - 2)
        dx, dweight, dbias = ops.residual_layernorm_backward(dy, dtotal, total, w, mean, rstd, has_bias)
        return (dx, dx, dweight, dbias)[: len(inputs)]

    return record("residual_layernorm", inputs, (y, total), backward, saved=(weight,))


def rmsnorm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Each row of x (*n, C) divided by its root mean square, times weight (C). (Zhang and Sennrich 2019)"""
    ops, a, w = x.ops, x.array(), weight.array()
    y, rstd = ops.rmsnorm_forward(a, w, eps)
    return record("rmsnorm", (x, weight), y, lambda dy: ops.rmsnorm_backward(dy, a, w, rstd), saved=(x, weight))


def gelu(x: Tensor) -> Tensor:
    """GELU in its tanh form, elementwise. (Hendrycks and Gimpel 2016)"""
    ops, a = x.ops, x.array()
    return record("gelu", (x,), ops.gelu_forward(a), lambda dy: (ops.gelu_backward(dy, a),), saved=(x,))


def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """gelu(x + bias), x (*n, F), bias (F), in one pass."""
    ops, a, b = x.ops, x.array(), bias.array()
    y = ops.bias_gelu_forward(a, b)
    return record("bias_gelu", (x, bias), y, lambda dy: ops.bias_gelu_backward(dy, a, b), saved=(x, bias))


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """gelu(x (*n, K) @ weight (F, K) transposed + bias (F)) -> (*n, F), where the device can in one launch."""
    ops, a, w, b = x.ops, x.array(), weight.array(), bias.array()
    y, kept = ops.linear_gelu_forward(a, w, b)
    return record("linear_gelu", (x, weight, bias), y, lambda dy: ops.linear_gelu_backward(dy, a, w, b, kept),
                  saved=(x, weight, bias))  # fmt: skip


def swiglu(x: Tensor) -> Tensor:
    """silu(first half) * second half of the last axis, (*n, 2F) -> (*n, F). (Shazeer 2020)"""
    ops, a = x.ops, x.array()
    return record("swiglu", (x,), ops.swiglu_forward(a), lambda dy: (ops.swiglu_backward(dy, a),), saved=(x,))


def softmax(x: Tensor, causal: bool = False) -> Tensor:
    """Softmax over the last axis. causal: in x (..., T, S), row t sees columns 0 .. S - T + t."""
    ops = x.ops
    y = ops.softmax_forward(x.array(), causal)
    return record("softmax", (x,), y, lambda dy: (ops.softmax_backward(dy, y),))


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of x (B, T, H, D) by cos and sin (T, D/2): element i is rotated with i + D/2. (Su et al. 2021)"""
    ops, c, s = x.ops, cos.array(), sin.array()
    return record("rope", (x,), ops.rope_forward(x.array(), c, s), lambda dy: (ops.rope_backward(dy, c, s),))


def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> Tensor:
    """softmax(q k^T / sqrt(D)) v for each head: q (B, T, H, D), k and v (B, S, G, D) -> (B, T, H, D).

    H is a multiple of G: consecutive query heads have one key-value head. causal: query t sees keys 0 .. S - T + t.
    (Vaswani et al. 2017; Ainslie et al. 2023 for grouped-query attention; Dao et al. 2022 for the saved logsumexp)
    """
    ops, a, b, c = q.ops, q.array(), k.array(), v.array()
    y, logsumexp = ops.attention_forward(a, b, c, causal)
    return record("attention", (q, k, v), y,
                  lambda dy: ops.attention_backward(dy, a, b, c, y, logsumexp, causal),
                  saved=(q, k, v))  # fmt: skip


def convolution(x: Tensor, taps: Tensor) -> Tensor:
    """Each channel alone: y_t = sum over j of taps_j x_(t + j), x (B, T + K - 1, C), taps (K, C) -> y (B, T, C)."""
    ops, a, w = x.ops, x.array(), taps.array()
    return record("convolution", (x, taps), ops.convolution_forward(a, w),
                  lambda dy: ops.convolution_backward(dy, a, w), saved=(x, taps))  # fmt: skip


# Linear recurrences: with state (B, H, D, E) or None, which is zeros -> y (B, H, T, E) and the state after the last step


def gated_linear_attention(q: Tensor, k: Tensor, v: Tensor, g: Tensor, state: Tensor | None = None):
    """A state that decays by e^g, then gains k v^T, and is read by q: q, k, g (B, H, T, D), v (B, H, T, E).
    (Yang et al. 2024)"""
    return _recurrence("gated_linear_attention", (q, k, v, g), state)


def gated_delta(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor | None = None):
    """The same, but k writes only what v differs by from what is stored under k, times beta (B, H, T). (Kimi Linear 2025)"""
    return _recurrence("gated_delta", (q, k, v, g, beta), state)


def state_space(q: Tensor, k: Tensor, v: Tensor, g: Tensor, gamma: Tensor, weight: Tensor, state: Tensor | None = None):
    """One decay for a head, g (B, H, T); k v^T counts gamma (B, H, T) at its own step and weight (B, H, T) later.
    (Dao and Gu 2024; Lahoti et al. 2026)"""
    return _recurrence("state_space", (q, k, v, g, gamma, weight), state)


def _recurrence(name: str, inputs: tuple[Tensor, ...], state: Tensor | None) -> tuple[Tensor, Tensor]:
    ops, arrays = inputs[0].ops, [x.array() for x in inputs]
    first = None if state is None else state.array()
    y, last, kept = getattr(ops, f"{name}_forward")(*arrays, first)
    inputs = inputs if state is None else (*inputs, state)

    def backward(dy, dlast):
        dy = ops.zeros(y.shape, y.dtype) if dy is None else dy  # only the last state was used
        return getattr(ops, f"{name}_backward")(dy, dlast, *arrays, first, kept)[: len(inputs)]

    return record(name, inputs, (y, last), backward, saved=inputs)


def cross_entropy(logits: Tensor, targets, ignore_index: int = -1) -> Tensor:
    """Mean of -log softmax(logits)[target] in nats: logits (n, V), targets (n) -> (). Targets of `ignore_index` do not count."""
    if logits.ndim != 2:
        raise ValueError(f"cross_entropy needs logits (n, V); it got {logits.shape}. Flatten with reshape(-1, V).")
    ops, a, wanted = logits.ops, logits.array(), index_array(targets, logits)
    if tuple(wanted.shape) != logits.shape[:1]:  # what the op would say does not say it so plainly
        raise ValueError(
            f"cross_entropy got logits {logits.shape} and targets {tuple(wanted.shape)}: one target per row."
        )
    loss, logsumexp = ops.cross_entropy_forward(a, wanted, ignore_index)
    return record("cross_entropy", (logits,), loss,
                  lambda dy: (ops.cross_entropy_backward(dy, a, wanted, logsumexp, ignore_index),),
                  saved=(logits,))  # fmt: skip


def linear_cross_entropy(
    x: Tensor, weight: Tensor, bias: Tensor | None, targets, ignore_index: int = -1, weights=None
) -> Tensor:
    """cross_entropy(linear(x (n, K), weight (V, K), bias (V)), targets (n)) -> (), with one array of n V numbers in use.

    The gradient of the logits is made with the loss, while they are at hand, and overwrites them. It is that of a loss whose
    own gradient is 1; the upstream gradient multiplies its results, which are far smaller than the logits.
    weights: float (n) or None, how much each row counts in the gradient. The loss is the mean of all alike, to compare.
    """
    ops, a, w, has_bias = x.ops, x.array(), weight.array(), bias is not None
    inputs = (x, weight, bias) if has_bias else (x, weight)
    needs_grad = autograd.recording() and any(tensor.requires_grad for tensor in inputs)
    gradients_of = _linear_gradients(inputs, a, w)
    loss, dlogits = ops.linear_cross_entropy(
        a, w, bias.array() if has_bias else None, index_array(targets, x), ignore_index, needs_grad
    )
    if weights is not None and dlogits is not None:
        rows = weights.array() if isinstance(weights, Tensor) else ops.from_numpy(np.asarray(weights, a.dtype))  # (n,)
        dlogits = ops.multiply(dlogits, ops.view(rows, (x.shape[0], 1), 0), out=dlogits)

    def backward(dy):
        return tuple(None if one is None else ops.multiply(one, dy, out=one) for one in gradients_of(dlogits))

    return record("linear_cross_entropy", inputs, loss, backward, saved=(x, weight))


def dropout(x: Tensor, probability: float, random, site: int) -> Tensor:
    """Zero each element with `probability`, divide the rest by 1 - probability. random: device array (seed low, seed high,
    step); site: the number of this dropout in the model. The mask is not kept: the backward draws the same bits again."""
    ops = x.ops
    y = ops.dropout_forward(x.array(), probability, random, site)
    return record("dropout", (x,), y, lambda dy: (ops.dropout_backward(dy, probability, random, site),))


def where(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Elements of a where the condition holds, of b elsewhere; the three are broadcast."""
    ops, chosen = a.ops, condition.array()
    shape = shapes.broadcast_shape(shapes.broadcast_shape(condition.shape, a.shape), b.shape)
    a, b = a.broadcast_to(shape), b.broadcast_to(shape)

    def backward(dy):
        nothing = ops.zeros((), dy.dtype)
        return ops.where(chosen, dy, nothing), ops.where(chosen, nothing, dy)

    return record("where", (a, b), ops.where(chosen, a.array(), b.array()), backward)


def maximum(a: Tensor, b: Tensor | float) -> Tensor:
    """The larger of the two, elementwise. Where they are equal each gets half of the gradient."""
    b = b if isinstance(b, Tensor) else tensor_from_array(a.ops.full((), b, a.dtype), a.ops)
    shape = shapes.broadcast_shape(a.shape, b.shape)
    a, b = a.broadcast_to(shape), b.broadcast_to(shape)
    ops, x, z = a.ops, a.array(), b.array()

    def backward(dy):
        ties = ops.multiply(ops.cast(ops.equal(x, z), dy.dtype), 0.5)
        return tuple(
            ops.multiply(dy, ops.add(ops.cast(ops.greater(own, other), dy.dtype), ties))
            for own, other in ((x, z), (z, x))
        )

    return record("maximum", (a, b), ops.maximum(x, z), backward, saved=(a, b))


def concatenate(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Joined along one axis; all other lengths must be equal."""
    axis = axis_index("concatenate", axis, tensors[0].ndim)
    ops = tensors[0].ops
    y = ops.concatenate([tensor.array() for tensor in tensors], axis)
    lengths = [tensor.shape[axis] for tensor in tensors]

    def backward(dy):
        whole = tensor_from_array(dy, ops)
        return tuple(part.array() for part in split(whole, lengths, axis))

    return record("concatenate", tensors, y, backward)


def split(x: Tensor, lengths: Sequence[int], axis: int = -1) -> tuple[Tensor, ...]:
    """Parts of the given lengths along one axis."""
    axis = axis_index("split", axis, x.ndim)
    if sum(lengths) != x.shape[axis]:
        raise ValueError(
            f"split got lengths {tuple(lengths)} for an axis of length {x.shape[axis]}: they must add up to it."
        )
    ops, array = x.ops, x.array()
    strides = shapes.contiguous_strides(x.shape)
    sizes = [(*x.shape[:axis], length, *x.shape[axis + 1 :]) for length in lengths]
    starts = np.cumsum([0, *lengths[:-1]])
    parts = tuple(
        ops.strided_copy(array, shape, strides, int(start) * strides[axis])
        for shape, start in zip(sizes, starts, strict=True)
    )

    def backward(*gradients):
        filled = [ops.zeros(s, array.dtype) if dy is None else dy for dy, s in zip(gradients, sizes, strict=True)]
        return (ops.concatenate(filled, axis),)

    return record("split", (x,), parts, backward)


def index_array(indices, like: Tensor):
    """Indices (a Tensor or anything NumPy takes) as an integer array on the device of `like`."""
    if isinstance(indices, Tensor):
        return indices.array()
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"Indices and targets must be integers; these are {indices.dtype}.")
    return like.ops.from_numpy(np.ascontiguousarray(indices if indices.dtype == np.int32 else indices.astype(np.int64)))
