"""Devices: for each machine that can compute, one table of plain functions, with one contract for all.

`ops("cpu")` gives a table; `ops("cpu").gelu_forward(x)` runs an op. Tensors, autograd and modules stand above and know no
device; a device knows no Tensor. Everything a device must do is written on this page, once.

Arrays
------
An array is whatever the device computes with (a NumPy array, a CuPy array, a WebGPU buffer). It has `.shape` (tuple),
`.dtype` (a NumPy dtype) and `.size`, and it is contiguous, in row-major order. Views (transpose, slice, broadcast) are
the Tensor's business: it keeps shape, strides and offset, all counted in elements, over a flat buffer. Ops return new
arrays; those marked [out] take `out=`, an array of the result's shape and dtype (it may be one of the inputs, unless the
op is a matmul or a copy). Ops compute in the dtype of their floating-point inputs, float32 or float64; a Python number
takes the array's dtype. Indices and targets are int32 or int64. Shapes that do not fit raise ValueError naming both, indices
outside raise IndexError, but for one case: while a step is captured as a CUDA graph, and when it is replayed, nobody looks at
its values. An index outside of a table then gives zeros and adds nothing, a target outside of the vocabulary loses nothing
(embedding.cu, cross_entropy.cu); gather and scatter_add are not for such a step.

Letters: B batch, T time of the queries, S time of the keys, C channels, H heads, G key-value heads (H is a multiple of G),
D head size, V vocabulary, F hidden width, K inner length of a product, n any number of leading axes flattened.

Storage
-------
    empty(shape, dtype="float32")  zeros(shape, dtype)  full(shape, value, dtype)     new arrays
    copy(x)  cast(x, dtype)                           new arrays, always
    from_numpy(array) -> x                            always a copy; keeps the dtype
    to_numpy(x) -> array                              may share memory with x: read it, do not write it
    view(x, shape, offset=0)                          the elements from `offset` on, as `shape`; shares memory if the device can
    strided_copy(x, shape, strides, offset=0) [out]   contiguous copy of a view: element i is x.flat[offset + sum(i * strides)];
                                                      strides may be 0 (broadcast) or negative
    strided_write(x, values, strides, offset=0, add=False)   the reverse, in place: that view of x becomes (or gains) `values`;
                                                      no two elements of the view may be the same element of x
    concatenate(arrays, axis)
    synchronize()                                     returns when everything asked for is done

Elementwise, NumPy's broadcasting, `b` may be a number (so may `a`, where `b` is an array)
-----------
    add subtract multiply divide power maximum (a, b) [out]      negative exp log tanh sqrt (x) [out]
    equal not_equal less less_equal greater greater_equal (a, b) -> bool      where(condition, a, b) [out]

Reductions and selections (`axis`: None for all, an int or a tuple; negative counts from the end)
-------------------------
    sum(x, axis=None, keepdims=False)  max(x, axis=None, keepdims=False)
    argmax(x, axis=-1) -> int64, the first where several are equal
    gather(x (R, ...), indices (*I)) -> (*I, ...)     rows of x; an index outside 0..R-1 raises IndexError
    scatter_add(updates (*I, ...), indices (*I), rows) -> (rows, ...)    sums the updates of each row, in the order of I
    matmul(a (..., N, K), b (..., K, M), transpose_a=False, transpose_b=False) -> (..., N, M) [out]
                                                      transposes swap the last two axes of what is given; leading axes broadcast

Fused forward and backward. `dx` is the gradient of `x`, with its shape; `-> a, b` returns a tuple
--------------------------
    linear_forward(x (*n, K), weight (N, K), bias (N) or None) -> y (*n, N)
    linear_backward(dy, x, weight, has_bias) -> dx, dweight, dbias (None without bias)
    embedding_forward(table (V, C), indices (*n)) -> y (*n, C)
    embedding_backward(dy, indices, rows) -> dtable (rows, C)
    layernorm_forward(x (*n, C), weight (C), bias (C) or None, eps) -> y, mean (*n), rstd (*n)   rstd = 1 / sqrt(variance + eps)
    layernorm_backward(dy, x, weight, mean, rstd, has_bias) -> dx, dweight, dbias
    residual_layernorm_forward(x, residual, weight, bias, eps) -> y, total, mean, rstd              total = x + residual
    residual_layernorm_backward(dy, dtotal or None, total, weight, mean, rstd, has_bias) -> dx, dweight, dbias
                                                      dx is the gradient of x and of residual alike
    rmsnorm_forward(x (*n, C), weight (C), eps) -> y, rstd        rmsnorm_backward(dy, x, weight, rstd) -> dx, dweight
    gelu_forward(x) -> y                              gelu_backward(dy, x) -> dx
                                                      tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    bias_gelu_forward(x (*n, F), bias (F)) -> y       bias_gelu_backward(dy, x, bias) -> dx, dbias
    swiglu_forward(x (*n, 2F)) -> y (*n, F)           swiglu_backward(dy, x) -> dx
                                                      silu(gate) * up, gate = x[..., :F], up = x[..., F:]
    softmax_forward(x (..., T, S), causal=False) -> y over the last axis; causal: row t sees columns 0 .. S - T + t
    softmax_backward(dy, y) -> dx
    rope_forward(x (B, T, H, D), cos (T, D/2), sin (T, D/2)) -> y      element i turns with element i + D/2
    rope_backward(dy, cos, sin) -> dx
    attention_forward(q (B, T, H, D), k (B, S, G, D), v (B, S, G, D), causal=True) -> y (B, T, H, D), logsumexp (B, H, T)
                                                      scale 1/sqrt(D); head h reads key-value head h // (H / G);
                                                      causal: query t sees keys 0 .. S - T + t (so S > T continues a cache)
    attention_backward(dy, q, k, v, y, logsumexp, causal=True) -> dq, dk, dv
    cross_entropy_forward(logits (n, V), targets (n), ignore_index=-1) -> loss (), logsumexp (n)
                                                      nats, mean over the targets that are not ignored (nan if all are)
    cross_entropy_backward(dloss (), logits, targets, logsumexp, ignore_index=-1) -> dlogits
    dropout_forward(x, probability, random, site) -> y            dropout_backward(dy, probability, random, site) -> dx

Several in one (composed.py says of which; where one of those was replaced, by `overlay` or by a kernel, its replacement runs)
--------------
    linear_gelu_forward(x (*n, K), weight (F, K), bias (F)) -> y (*n, F), kept           gelu(x weight^T + bias)
    linear_gelu_backward(dy, x, weight, bias, kept) -> dx, dweight, dbias                 kept: from the same device's forward
    linear_cross_entropy(x (n, K), weight (V, K), bias (V) or None, targets (n), ignore_index=-1, needs_grad=True)
        -> loss (), dlogits (n, V) or None            of logits = x weight^T + bias; dlogits, for a dloss of 1, if needs_grad
    cache_append(k (B, 1, G, D), v (B, 1, G, D), k_cache (B, N, G, D), v_cache (B, N, G, D), length (1))
                                                      in place: row length[0], below N, of both caches; length: int32
    cache_attention(q (B, 1, H, D), k_cache (B, N, G, D), v_cache (B, N, G, D), length (1)) -> y (B, 1, H, D)
                                                      over rows 0 .. length[0]: what came before, and the row just appended

Random bits are Philox4x32-10 (Salmon et al. 2011), the same on every device. `random` is a device array of three uint32:
seed low, seed high, step; `site` is an int that tells one dropout from another. Key (seed low, seed high), counter
(i // 4, 0, step, site); element i takes word i % 4 and is kept if word >= probability * 2^32, then divided by
1 - probability.

Optimiser (what changes from step to step is read from small device arrays, so that a step can be captured as a graph)
---------
    global_norm(arrays) -> (1)                        sqrt of the sum of all squares (summed in float64 or blockwise)
    adamw_step(parameters, gradients, first_moments, second_moments, settings (3), norm (1) or None, *,
               beta1, beta2, eps, weight_decay, max_norm)         in place on parameters and moments (lists of arrays)
        settings: learning rate, 1 - beta1^t, 1 - beta2^t, in the parameters' dtype. weight_decay: one number per parameter.
        With a norm, gradients count as multiplied by min(1, max_norm / (norm + 1e-6)). (Loshchilov and Hutter 2019,
        in PyTorch's order: decay first, then the step with eps added to sqrt(v / correction2).)

Training in bfloat16
--------------------
    with computing("cpu", "bfloat16"):                linear layers multiply in bfloat16 and sum in float32, on devices that can
                                                      (the GPU's attention too); arrays stay float32

Adding a device: write `devices/NAME.py` with a function `table()` that returns a dict of these names, list it in `LOADERS`
below, and run `tests/test_ops.py`, which tries every op on every device.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType, SimpleNamespace

from . import composed

# Modules whose `table()` builds the device; `available()` says whether this machine has it. One that multiplies bfloat16 has
# `computing(kind, copies, backward)` too, and `Copies(weights)` if it keeps what it rounds. One that can replay a step as a
# whole has `CapturedStep(work)`.
LOADERS = {name: f"course_lib.devices.{name}" for name in ("reference", "cpu", "simulator", "cuda", "webgpu")}

_tables: dict[str, SimpleNamespace] = {}
_overlays: list[Overlay] = []  # the newest stands last
_covered: dict[tuple[str, str], Callable] = {}  # (device, op) -> the device's own function, once something lay on it


def available_devices() -> list[str]:
    """Names of the devices that this machine can compute on, in the order of `LOADERS`."""
    found = []
    for name in LOADERS:
        available = getattr(_module(name), "available", None)
        if available is None or available():
            found.append(name)
    return found


def ops(name: str) -> SimpleNamespace:
    """The table of functions of device `name`, loaded on first use. Raises ValueError for a name that is not known."""
    if name not in _tables:
        table = composed.complete(SimpleNamespace(name=name, **_module(name).table()))
        _tables[name] = table
        for active in _overlays:
            active.lay_on(table)
        _settle(table)
    return _tables[name]


def _module(name: str) -> ModuleType:
    if name not in LOADERS:
        raise ValueError(f"There is no device named {name!r}. Choose one of: {', '.join(LOADERS)}.")
    return importlib.import_module(LOADERS[name])


def computing(name: str, kind: str, copies=None, backward: bool = False) -> AbstractContextManager:
    """Inside the `with` block device `name` multiplies in `kind`, "float32" or "bfloat16"; one that cannot, in float32.

    copies: of `rounded_copies`. backward: whether each forward pass in the block has a backward pass.
    """
    own = getattr(_module(name), "computing", None)
    return nullcontext() if own is None else own(kind, copies, backward)


def rounded_copies(name: str, weights: list):
    """Where device `name` keeps bfloat16 copies of weights (arrays) from one product to the next; None if it does not."""
    own = getattr(_module(name), "Copies", None)
    return None if own is None else own(weights)


def captured_step(name: str, work: Callable[..., tuple]):
    """`work` as one launch, on a device that can capture it (gpu/capture.py says what that asks of it); else None."""
    own = getattr(_module(name), "CapturedStep", None)
    return None if own is None else own(work)


class Overlay:
    """One op replaced by another function, on one device or on all, until `remove()` or the end of a `with` block."""

    def __init__(self, name: str, function: Callable, device: str | None):
        self.name, self.function, self.device = name, function, device

    def covers(self, table: SimpleNamespace) -> bool:
        return self.device in (None, table.name)

    def lay_on(self, table: SimpleNamespace) -> None:
        if not self.covers(table):
            return
        if not hasattr(table, self.name):
            raise ValueError(f"Device {table.name!r} has no op named {self.name!r}: check the spelling.")
        _covered.setdefault((table.name, self.name), getattr(table, self.name))
        setattr(table, self.name, self.function)

    def remove(self) -> None:
        """Put back what stands below: the newest of the overlays that are left, or the device's own op."""
        if self not in _overlays:
            return
        _overlays.remove(self)
        for table in _tables.values():
            if self.covers(table):
                left = [o.function for o in _overlays if o.name == self.name and o.covers(table)]
                setattr(table, self.name, left[-1] if left else _covered[table.name, self.name])
                _settle(table)

    def __enter__(self) -> Overlay:
        return self

    def __exit__(self, *exception) -> None:
        self.remove()


def _settle(table: SimpleNamespace) -> None:
    """An op that is several others in one must reach what lies on those: then it is made of them, else it is the device's."""
    laid = {active.name for active in _overlays if active.covers(table)}
    for name, made_of_parts in composed.compose(table).items():
        if name not in laid:
            own = _covered.setdefault((table.name, name), getattr(table, name))
            setattr(table, name, made_of_parts if laid & composed.PARTS[name] else own)


def overlay(name: str, function: Callable, device: str | None = None) -> Overlay:
    """Put `function` in the place of op `name` at once, on `device` or on every device; returns a handle to undo it."""
    new = Overlay(name, function, device)
    if device is not None or not _tables:
        ops(device or "reference")  # a misspelt name is refused now rather than at the first use
    for table in _tables.values():
        new.lay_on(table)
    _overlays.append(new)
    for table in _tables.values():
        _settle(table)
    return new
