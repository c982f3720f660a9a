"""Ops that are several others in one, written with the others. Contract: contract.py.

A device that has nothing better runs these, and a device that has a kernel for the whole runs them where one of the parts was
replaced: they look their parts up in the table at each call, so whatever stands there now is reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

from . import composed_recurrences, composed_state_space, packing
from .checks import joined_shape


def linear_backward_input(t, dy, x, weight):
    return t.linear_backward(dy, x, weight, False)[0]  # (*n, K)


def linear_gelu_forward(t, x, weight, bias):
    pre = t.linear_forward(x, weight, None)  # (*n, K), (F, K) -> (*n, F)
    return t.bias_gelu_forward(pre, bias), pre


def linear_gelu_backward(t, dy, x, weight, bias, kept):
    dpre, dbias = t.bias_gelu_backward(dy, kept, bias)  # (*n, F), (F)
    dx, dweight, _ = t.linear_backward(dpre, x, weight, False)  # (*n, K), (F, K)
    return dx, dweight, dbias


def linear_cross_entropy(t, x, weight, bias, targets, ignore_index=-1, needs_grad=True):
    logits = t.linear_forward(x, weight, bias)  # (n, K), (V, K) -> (n, V)
    loss, logsumexp = t.cross_entropy_forward(logits, targets, ignore_index)
    if not needs_grad:
        return loss, None
    one = t.full((), 1.0, logits.dtype)
    return loss, t.cross_entropy_backward(one, logits, targets, logsumexp, ignore_index)


def concatenate(t, arrays, axis):
    axis, shape = joined_shape(arrays, axis)
    result = t.empty(shape, arrays[0].dtype)
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    start = 0
    for array in arrays:
        t.strided_write(result, array, strides, start * strides[axis])
        start += array.shape[axis]
    return result


def convolution_forward(t, x, taps):
    K, T = taps.shape[0], x.shape[1] - taps.shape[0] + 1
    if T == 1:  # to write a token: one product in the place of K
        return t.sum(t.multiply(x, taps), axis=1, keepdims=True)
    y = None
    for j in range(K):
        part = t.multiply(_from_step(t, x, j, T), _tap(t, taps, j))  # (B, T, C)
        y = part if y is None else t.add(y, part, out=y)
    return y


def convolution_backward(t, dy, x, taps):
    _, S, C = x.shape
    dx, dtaps = t.zeros(x.shape, x.dtype), []
    for j in range(taps.shape[0]):
        t.strided_write(dx, t.multiply(dy, _tap(t, taps, j)), (S * C, C, 1), j * C, add=True)
        dtaps.append(t.sum(t.multiply(dy, _from_step(t, x, j, dy.shape[1])), axis=(0, 1)))  # (C)
    return dx, t.view(t.concatenate(dtaps, 0), taps.shape)


def _from_step(t, x, first, T):
    """T steps of x (B, S, C), as a copy."""
    B, S, C = x.shape
    return t.strided_copy(x, (B, T, C), (S * C, C, 1), first * C)


def _tap(t, taps, j):
    return t.view(taps, taps.shape[1:], j * taps.shape[1])  # (C)


def cache_append(t, k, v, k_cache, v_cache, length):
    row = k.shape[2] * k.shape[3]  # numbers of one position
    strides = (k_cache.shape[1] * row, row, k.shape[3], 1)
    for new, cache in ((k, k_cache), (v, v_cache)):
        t.strided_write(cache, new, strides, int(t.to_numpy(length)[0]) * row)


def cache_attention(t, q, k_cache, v_cache, length):
    B, N, G, D = k_cache.shape
    S = int(t.to_numpy(length)[0]) + 1
    strides = (N * G * D, G * D, D, 1)
    k, v = (
        t.view(cache, (B, S, G, D)) if B == 1 else t.strided_copy(cache, (B, S, G, D), strides)
        for cache in (k_cache, v_cache)
    )  # fmt: skip
    return t.attention_forward(q, k, v)[0]


def paged_append(t, k, v, k_pages, v_pages, slots):
    _, G, D = k.shape
    for new, pages in ((k, k_pages), (v, v_pages)):
        for i, slot in enumerate(t.to_numpy(slots).tolist()):
            t.strided_write(pages, t.view(new, (G, D), i * G * D), (D, 1), slot * G * D)


def paged_gather(t, pages, table, count):
    P, N, G, D = pages.shape
    whole = t.gather(t.view(pages, (P, N * G * D)), table)  # (M, N G D)
    return t.view(whole, (count, G, D))


def _attend_row(t, q, r, k, v, y):
    """Row r of y (R, H, D): what query r finds in k and v (1, S, G, D)."""
    R, H, D = q.shape
    of_text, _ = t.attention_forward(t.view(q, (1, 1, H, D), r * H * D), k, v)
    t.strided_write(y, of_text, (R * H * D, H * D, D, 1), r * H * D)


def paged_attention_forward(t, q, k_pages, v_pages, tables, positions):
    y, M = t.empty(q.shape, q.dtype), tables.shape[1]
    G, D = k_pages.shape[2:]
    for r, position in enumerate(t.to_numpy(positions).tolist()):
        S = position + 1
        table = t.view(tables, (M,), r * M)
        k, v = (t.view(t.paged_gather(pages, table, S), (1, S, G, D)) for pages in (k_pages, v_pages))
        _attend_row(t, q, r, k, v, y)
    return y


def paged_append_int8(t, k, v, k_pages, v_pages, slots):
    G, W = k_pages.shape[2:]
    for new, pages in ((k, k_pages), (v, v_pages)):
        words = t.from_numpy(packing.pack_rows(t.to_numpy(new)))  # (n, G, W)
        for i, slot in enumerate(t.to_numpy(slots).tolist()):
            t.strided_write(pages, t.view(words, (G, W), i * G * W), (W, 1), slot * G * W)


def paged_attention_int8_forward(t, q, k_pages, v_pages, tables, positions):
    D, (N, G, _) = q.shape[2], k_pages.shape[1:]
    y, numbers = t.empty(q.shape, q.dtype), t.to_numpy(tables)
    for r, position in enumerate(t.to_numpy(positions).tolist()):
        S, pages = position + 1, t.from_numpy(numbers[r, : position // N + 1])
        words = [t.to_numpy(t.gather(array, pages)) for array in (k_pages, v_pages)]  # (M, N, G, W)
        rows = [packing.unpack_rows(x.reshape(-1, G, x.shape[-1])[:S], D).astype(q.dtype) for x in words]  # (S, G, D)
        k, v = (t.view(t.from_numpy(x), (1, S, G, D)) for x in rows)
        _attend_row(t, q, r, k, v, y)
    return y


# Each with the parts whose replacement counts.
_GELU = "linear_forward linear_backward bias_gelu_forward bias_gelu_backward"
WHOLES: dict[Callable, str] = {
    linear_backward_input: "linear_backward",
    linear_gelu_forward: _GELU,
    linear_gelu_backward: _GELU,
    linear_cross_entropy: "linear_forward cross_entropy_forward cross_entropy_backward",
    concatenate: "",
    convolution_forward: "",
    convolution_backward: "",
    cache_append: "",
    cache_attention: "attention_forward",
    composed_recurrences.gated_linear_attention_forward: "",
    composed_recurrences.gated_linear_attention_backward: "",
    composed_recurrences.gated_delta_forward: "",
    composed_recurrences.gated_delta_backward: "",
    composed_state_space.state_space_forward: "",
    composed_state_space.state_space_backward: "",
    paged_append: "",
    paged_gather: "",
    paged_attention_forward: "attention_forward paged_gather",
    paged_append_int8: "",
    paged_attention_int8_forward: "attention_forward",
}
PARTS = {whole.__name__: frozenset(parts.split()) for whole, parts in WHOLES.items()}


def compose(table: SimpleNamespace) -> dict[str, Callable]:
    """Every op of this page, made of those of a table."""
    return {whole.__name__: partial(whole, table) for whole in WHOLES}
