"""The contract as data: of each op its arguments, their shapes and dtypes, and its results, a line or two for each.

`TABLE` is what a person reads and what checking.py checks by: an op of any device, or a learner's in its place, is given only
what its line allows. Where that is no plain pattern of shapes, a function of rules.py says the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .rules import RULES

TABLE = """
How a line is read
------------------
    name(x (*n, K), weight (N, K), bias (N) or None, indices (*n) int below V, eps, causal=True) -> y (*n, N)

A letter is the size of an axis, the same wherever it stands in a line; 2F is twice F and D/2 half of D; *n is any number of
leading axes, and (...) any shape. After the shape comes what the elements are:

    (nothing)   floating point, float32 or float64; a device may have float32 alone
    number      that, or whole numbers or bool; real: whole numbers only on a device that has float64 too
    any         whatever the device can hold
    int         int32 or int64; "below V": an index from 0 to V - 1, or IndexError is raised
    bool int32 uint32

Arrays of one op that are floating point, number, real or any are all of one dtype. "or a number": a Python number too, which
takes the dtype of the array; "each": a list of such arrays. `out=` is an array of the result's shape and dtype, which is written
and returned.

Letters: B batch, T time of the queries, S time of the keys, C channels, H heads, G key-value heads (H is a multiple of G),
D head size, E that of the values where it is another, V vocabulary, F hidden width, K inner length of a product, n any number of
leading axes flattened; of quantised weights J groups of 32 along K, W words.

Storage
-------
    empty zeros(shape, dtype="float32") -> x
    full(shape, value, dtype="float32") -> x
    copy(x (...) any) -> y (...)
    cast(x (...) any, dtype) -> y (...)         new arrays, always
    from_numpy(array) -> x                      always a copy; keeps the dtype
    to_numpy(x) -> array                        may share memory with x: read it, do not write it
    view(x (...) any, shape, offset=0) -> y     the elements from `offset` on, as `shape`; shares memory if the device can
    strided_copy(x (...) any, shape, strides, offset=0, out=None) -> y
        contiguous copy of a view: element i is x.flat[offset + sum(i * strides)]; strides may be 0 (broadcast) or negative
    strided_write(x (...) any, values (...) any, strides, offset=0, add=False)
        the reverse, in place: that view of x becomes (or gains) `values`; no two elements of the view may be the same of x
    concatenate(arrays (...) any each, axis) -> y
    synchronize()                               returns when everything asked for is done

Elementwise, with NumPy's broadcasting
--------------------------------------
    add subtract multiply maximum(a (...) number or a number, b (...) number or a number, out=None) -> y
    divide power(a (...) real or a number, b (...) real or a number, out=None) -> y
    negative(x (...) number, out=None) -> y
    exp log tanh sqrt sin cos(x (...) real, out=None) -> y
    equal not_equal less less_equal greater greater_equal(a (...) number or a number, b (...) number or a number) -> y
    where(condition (...) bool, a (...) number or a number, b (...) number or a number, out=None) -> y

Reductions and selections (`axis`: None for all, an int or a tuple; negative counts from the end)
-------------------------
    sum max(x (...) number, axis=None, keepdims=False) -> y
    argmax(x (...) number, axis=-1) -> y        int64; the first where several are equal
    gather(x (R, ...) any, indices (*I) int below R) -> y (*I, ...)
    scatter_add(updates (*I, ...) number, indices (*I) int below rows, rows) -> y (rows, ...)
        sums the updates of each row, in the order of I
    matmul(a (..., N, K), b (..., K, M), transpose_a=False, transpose_b=False, out=None) -> y (..., N, M)
        transposes swap the last two axes of what is given; leading axes broadcast

Fused forward and backward. `dx` is the gradient of `x`, with its shape; several results are a tuple
--------------------------
    linear_forward(x (*n, K), weight (N, K), bias (N) or None) -> y (*n, N)
    linear_backward(dy (*n, N), x (*n, K), weight (N, K), has_bias) -> dx (*n, K), dweight (N, K), dbias (N) or None
    linear_int8_forward(x (*n, K), words (N, W) uint32, scales (N), bias (N) or None) -> y (*n, N)
        by the weight (N, K) that is scales[m] * code[m, k], codes -128 .. 127; four to a word, the first in its lowest bits
    linear_int4_forward(x (*n, K), words (N, 4J) uint32, scales (N, J), zeros (N, J) or None, bias (N) or None) -> y (*n, N)
        by the weight scales[m, j] * (code[m, k] - zeros[m, j]), j = k // 32, codes 0 .. 15, eight to a word; zeros None: 8
    embedding_forward(table (V, C), indices (*n) int below V) -> y (*n, C)
    embedding_backward(dy (*n, C), indices (*n) int below rows, rows) -> dtable (rows, C)
    layernorm_forward(x (*n, C), weight (C), bias (C) or None, eps) -> y (*n, C), mean (*n), rstd (*n)
        rstd = 1 / sqrt(variance + eps)
    layernorm_backward(dy (*n, C), x (*n, C), weight (C), mean (*n), rstd (*n), has_bias)
        -> dx (*n, C), dweight (C), dbias (C) or None
    residual_layernorm_forward(x (*n, C), residual (*n, C), weight (C), bias (C) or None, eps)
        -> y (*n, C), total (*n, C), mean (*n), rstd (*n)      total = x + residual
    residual_layernorm_backward(dy (*n, C), dtotal (*n, C) or None, total (*n, C), weight (C), mean (*n), rstd (*n), has_bias)
        -> dx (*n, C), dweight (C), dbias (C) or None          dx is the gradient of x and of residual alike
    rmsnorm_forward(x (*n, C), weight (C), eps) -> y (*n, C), rstd (*n)
    rmsnorm_backward(dy (*n, C), x (*n, C), weight (C), rstd (*n)) -> dx (*n, C), dweight (C)
    gelu_forward(x (*n)) -> y (*n)              tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    gelu_backward(dy (*n), x (*n)) -> dx (*n)
    bias_gelu_forward(x (*n, F), bias (F)) -> y (*n, F)
    bias_gelu_backward(dy (*n, F), x (*n, F), bias (F)) -> dx (*n, F), dbias (F)
    swiglu_forward(x (*n, 2F)) -> y (*n, F)     silu(gate) * up, gate = x[..., :F], up = x[..., F:]
    swiglu_backward(dy (*n, F), x (*n, 2F)) -> dx (*n, 2F)
    softmax_forward(x (*n, S), causal=False) -> y (*n, S)
        over the last axis; causal: x is (..., T, S), and row t sees columns 0 .. S - T + t
    softmax_backward(dy (*n, S), y (*n, S)) -> dx (*n, S)
    rope_forward(x (B, T, H, D), cos (T, D/2), sin (T, D/2)) -> y (B, T, H, D)      element i is rotated with element i + D/2
    rope_backward(dy (B, T, H, D), cos (T, D/2), sin (T, D/2)) -> dx (B, T, H, D)
    attention_forward(q (B, T, H, D), k (B, S, G, D), v (B, S, G, D), causal=True) -> y (B, T, H, D), logsumexp (B, H, T)
        scale 1/sqrt(D); head h reads key-value head h // (H / G);
        causal: query t sees keys 0 .. S - T + t (so S > T continues a cache)
    attention_backward(dy (B, T, H, D), q (B, T, H, D), k (B, S, G, D), v (B, S, G, D), y (B, T, H, D), logsumexp (B, H, T),
                       causal=True) -> dq (B, T, H, D), dk (B, S, G, D), dv (B, S, G, D)
    gated_linear_attention_forward(q (B, H, T, D), k (B, H, T, D), v (B, H, T, E), g (B, H, T, D), state (B, H, D, E) or None)
        -> y (B, H, T, E), last (B, H, D, E), kept
        at each step the state becomes diag(e^g) state + k v^T, and y = state^T q; from zeros if it is None; last: after all steps
    gated_linear_attention_backward(dy (B, H, T, E), dlast (B, H, D, E) or None, q (B, H, T, D), k (B, H, T, D),
                                    v (B, H, T, E), g (B, H, T, D), state (B, H, D, E) or None, kept)
        -> dq (B, H, T, D), dk (B, H, T, D), dv (B, H, T, E), dg (B, H, T, D), dstate (B, H, D, E) or None
        kept: from the same device's forward, here and below
    gated_delta_forward(q (B, H, T, D), k (B, H, T, D), v (B, H, T, E), g (B, H, T, D), beta (B, H, T),
                        state (B, H, D, E) or None) -> y (B, H, T, E), last (B, H, D, E), kept
        decayed = diag(e^g) state; the state becomes decayed + beta k (v - decayed^T k)^T, and y = state^T q
    gated_delta_backward(dy (B, H, T, E), dlast (B, H, D, E) or None, q (B, H, T, D), k (B, H, T, D), v (B, H, T, E),
                         g (B, H, T, D), beta (B, H, T), state (B, H, D, E) or None, kept)
        -> dq (B, H, T, D), dk (B, H, T, D), dv (B, H, T, E), dg (B, H, T, D), dbeta (B, H, T), dstate (B, H, D, E) or None
    state_space_forward(q (B, H, T, D), k (B, H, T, D), v (B, H, T, E), g (B, H, T), gamma (B, H, T), weight (B, H, T),
                        state (B, H, D, E) or None) -> y (B, H, T, E), last (B, H, D, E), kept
        y = (e^g state + gamma k v^T)^T q; the state becomes e^g state + weight k v^T
    state_space_backward(dy (B, H, T, E), dlast (B, H, D, E) or None, q (B, H, T, D), k (B, H, T, D), v (B, H, T, E),
                         g (B, H, T), gamma (B, H, T), weight (B, H, T), state (B, H, D, E) or None, kept)
        -> dq (B, H, T, D), dk (B, H, T, D), dv (B, H, T, E), dg (B, H, T), dgamma (B, H, T), dweight (B, H, T),
           dstate (B, H, D, E) or None
    convolution_forward(x (B, S, C), taps (K, C)) -> y (B, T, C)
        each channel alone: y_t = sum over j of taps_j x_(t + j), T = S - K + 1
    convolution_backward(dy (B, T, C), x (B, S, C), taps (K, C)) -> dx (B, S, C), dtaps (K, C)
    cross_entropy_forward(logits (n, V), targets (n) int below V or ignore_index, ignore_index=-1) -> loss (), logsumexp (n)
        nats, mean over the targets that are not ignored (nan if all are)
    cross_entropy_backward(dloss (), logits (n, V), targets (n) int below V or ignore_index, logsumexp (n), ignore_index=-1)
        -> dlogits (n, V)
    dropout_forward(x (*n), probability, random (3) uint32, site) -> y (*n)
    dropout_backward(dy (*n), probability, random (3) uint32, site) -> dx (*n)

Several in one (composed.py says of which; where one of those was replaced, by `overlay` or by a kernel, its replacement runs)
--------------
    linear_backward_input(dy (*n, N), x (*n, K), weight (N, K)) -> dx (*n, K)        of linear_backward; the weight is frozen
    linear_gelu_forward(x (*n, K), weight (F, K), bias (F)) -> y (*n, F), kept      gelu(x weight^T + bias)
    linear_gelu_backward(dy (*n, F), x (*n, K), weight (F, K), bias (F), kept) -> dx (*n, K), dweight (F, K), dbias (F)
        kept: from the same device's forward
    linear_cross_entropy(x (n, K), weight (V, K), bias (V) or None, targets (n) int below V or ignore_index,
                         ignore_index=-1, needs_grad=True) -> loss (), dlogits (n, V) or None
        of logits = x weight^T + bias; dlogits, for a dloss of 1, if needs_grad
    cache_append(k (B, 1, G, D), v (B, 1, G, D), k_cache (B, N, G, D), v_cache (B, N, G, D), length (1) int32)
        in place: row length[0], below N, of both caches
    cache_attention(q (B, 1, H, D), k_cache (B, N, G, D), v_cache (B, N, G, D), length (1) int32) -> y (B, 1, H, D)
        over rows 0 .. length[0]: what came before, and the row just appended
    paged_append(k (n, G, D), v (n, G, D), k_pages (P, N, G, D), v_pages (P, N, G, D), slots (n) int32 below P*N)
        in place: token i goes to slot slots[i], row s % N of page s // N; no two tokens to one slot
    paged_gather(pages (P, N, G, D), table (M) int32 below P, count) -> rows (count, G, D)
        rows 0 .. count - 1 of a text whose j-th row is row j % N of page table[j // N]
    paged_attention_forward(q (R, H, D), k_pages (P, N, G, D), v_pages (P, N, G, D), tables (R, M) int32 below P,
                            positions (R) int32 below M*N) -> y (R, H, D)
        one query for each text: it sees rows 0 .. positions[r] of the text with the block table tables[r] (Kwon et al. 2023)
    paged_append_int8(k (n, G, D), v (n, G, D), k_pages (P, N, G, W) uint32, v_pages (P, N, G, W) uint32,
                      slots (n) int32 below P*N)
    paged_attention_int8_forward(q (R, H, D), k_pages (P, N, G, W) uint32, v_pages (P, N, G, W) uint32,
                                 tables (R, M) int32 below P, positions (R) int32 below M*N) -> y (R, H, D)
        the same two with D numbers of a token and head as W = ceil(D/4) + 1 words (packing.py): codes of 8 bits, and their scale

Random bits are Philox4x32-10 (Salmon et al. 2011), the same on every device. `random` is a device array of three uint32:
seed low, seed high, step; `site` is an int that tells one dropout from another. Key (seed low, seed high), counter
(i // 4, 0, step, site); element i takes word i % 4 and is kept if word >= probability * 2^32, then divided by
1 - probability.

Optimiser (what changes from step to step is read from small device arrays, so that a step can be captured as a graph)
---------
    global_norm(arrays (...) each) -> norm (1)  sqrt of the sum of all squares (summed in float64 or blockwise)
    adamw_step(parameters (...) each, gradients (...) each, first_moments (...) each, second_moments (...) each,
               settings (3), norm (1) or None, *, beta1, beta2, eps, weight_decay, max_norm)
        in place on parameters and moments
        settings: learning rate, 1 - beta1^t, 1 - beta2^t, in the parameters' dtype. weight_decay: one number per parameter.
        With a norm, gradients count as multiplied by min(1, max_norm / (norm + 1e-6)). (Loshchilov and Hutter 2019,
        in PyTorch's order: decay first, then the step with eps added to sqrt(v / correction2).)
"""


@dataclass(frozen=True)
class Argument:
    """One argument of an op, or one of its results."""

    name: str
    shape: str | None = None  # "*n, K"; None: not an array
    kind: str = ""  # what the elements are, as in "How a line is read"
    optional: bool = False  # may be None
    number: bool = False  # may be a Python number
    each: bool = False  # a list of arrays
    below: str = ""  # of indices: the letter or the argument that they stay below
    default: str = ""  # as Python text
    keyword: bool = False  # only by name


@dataclass(frozen=True)
class Op:
    """A line of the table."""

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[Argument, ...]
    rule: Callable | None = None  # what the pattern does not say
    reads: tuple[str, ...] = ()  # arguments besides arrays that the rule looks at

    @property
    def arrays(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.shape is not None and not argument.each]

    @property
    def lists(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.each]


# Reading the table

LINE = re.compile(r"^    ([a-z]\w*(?: \w+)*)\(", re.MULTILINE)
ARGUMENT = re.compile(r"(\w+)(?: \(([^)]*)\))?(?: (number|real|any|int32|int|uint32|bool))?(?: below ([\w*]+))?(.*)")


def _split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _argument(text: str, keyword: bool) -> Argument:
    text, _, default = text.partition("=")
    name, shape, kind, below, rest = ARGUMENT.fullmatch(text).groups()
    return Argument(
        name, shape, kind or "", "None" in rest, "number" in rest, "each" in rest, below or "", default, keyword
    )


def _close(text: str, at: int) -> int:
    """Where the bracket that was opened before `at` closes."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def read(table: str) -> dict[str, Op]:
    """Ops by name, of a text with a line for each."""
    found = {}
    for line in LINE.finditer(table):
        end = _close(table, line.end())
        arrow = re.match(r"\s*-> (.*)", table[end:])
        results = arrow[1].partition("  ")[0] if arrow else ""
        parts = _split(" ".join(table[line.end() : end - 1].split()))
        star = parts.index("*") if "*" in parts else len(parts)
        arguments = tuple(_argument(part, i > star) for i, part in enumerate(parts) if part != "*")
        for name in line[1].split():
            rule, reads = RULES.get(name, (None, ()))
            found[name] = Op(name, arguments, tuple(_argument(part, False) for part in _split(results)), rule, reads)
    return found


OPS = read(TABLE)
del OPS["name"]  # the example
