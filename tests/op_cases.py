"""What `test_ops.py` tries: every op of the contract with inputs of awkward sizes.

A case runs on any device. `run(table, *inputs)` gives the op's outputs and, for an op with a backward, a function from
the gradients of the first outputs to the gradients of the first floating-point inputs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.devices.packing import pack_rows


@dataclass(frozen=True)
class Draw:
    """An input array: its shape, and how to draw it."""

    shape: tuple[int, ...]
    make: Callable[[np.random.Generator], np.ndarray]


def normal(shape: tuple, mean: float = 0.0, deviation: float = 1.0) -> Draw:
    return Draw(shape, lambda random: mean + deviation * random.normal(size=shape))


def uniform(shape: tuple, low: float, high: float) -> Draw:
    return Draw(shape, lambda random: random.uniform(low, high, size=shape))


def integers(shape: tuple, end: int, dtype: str = "int64") -> Draw:
    """0 .. end - 1"""
    return Draw(shape, lambda random: np.asarray(random.integers(0, end, size=shape), dtype))


def fixed(values) -> Draw:
    return Draw(np.shape(values), lambda random: np.array(values))


@dataclass(frozen=True)
class Case:
    op: str
    sizes: str
    run: Callable
    inputs: tuple
    tolerance: float  # how much harder than usual the arithmetic is

    def __str__(self) -> str:
        return f"{self.op}-{self.sizes}"

    def generator(self, number: int = 0) -> np.random.Generator:
        return np.random.default_rng([zlib.crc32(str(self).encode()), number])

    def make_inputs(self) -> list:
        """Floats are exact in float32, so that every dtype starts from the same values."""
        random = self.generator()
        values = [np.asarray(value.make(random)) if isinstance(value, Draw) else value for value in self.inputs]
        return [exact(value) if is_float(value) else value for value in values]

    def make_gradients(self, outputs: list) -> list:
        """A random gradient for each output."""
        random = self.generator(1)
        return [exact(random.normal(size=np.shape(y))) for y in outputs]


def is_float(value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def exact(array: np.ndarray) -> np.ndarray:
    return np.asarray(array, np.float32).astype(np.float64)


def on_device(table, value, dtype):
    """A NumPy array as an array of the device, floats in `dtype`; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return table.from_numpy(value.astype(dtype) if is_float(value) else value)


CASES: list[Case] = []


def case(op: str, run: Callable, *inputs, note: str = "", tolerance: float = 1.0) -> None:
    """Add a case. An input is a Draw, a shape (a normal array), or a value that is passed on (a number, None)."""
    drawn = tuple(normal(value) if isinstance(value, tuple) else value for value in inputs)
    words = ["x".join(map(str, v.shape)) or "scalar" if isinstance(v, Draw) else str(v).lower() for v in drawn]
    sizes = "-".join(filter(None, [",".join(words), note]))
    CASES.append(Case(op, sizes, run, drawn, tolerance))


def plain(op: str, **options) -> Callable:
    """An op without a backward."""
    return lambda table, *inputs: ([getattr(table, op)(*inputs, **options)], None)


# Elementwise

UNARY = ("negative", "exp", "log", "tanh", "sqrt", "sin", "cos")
BINARY = ("add", "subtract", "multiply", "divide", "power", "maximum")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

for op in UNARY:
    for shape in ((), (1,), (3, 37), (70001,)):
        case(op, plain(op), uniform(shape, 0.1, 5))
case("negative", plain("negative"), (37,), note="signs")
case("tanh", plain("tanh"), fixed([-1e4, -50.0, -9.5, -1.0, -1e-4, 0.0, 1e-4, 1.0, 9.5, 50.0, 1e4]), note="far")
case("exp", plain("exp"), fixed([-1e4, -80.0, -1.0, -1e-6, 0.0, 1e-6, 1.0]), note="far")
for op in ("sin", "cos"):  # beside each multiple of a quarter turn, where one of them is almost 0
    case(
        op,
        plain(op),
        fixed([n * np.pi / 2 + d for n in (-70, -3, -2, -1, 0, 1, 2, 3, 70) for d in (-1e-3, 1e-3)]),
        note="far",
    )
case("exp", plain("exp"), fixed([40.0, 80.0]), note="large", tolerance=10)

for op in BINARY:
    for a, b in (
        ((5, 7), (5, 7)), ((4, 1, 7), (3, 1)), ((3,), (2, 5, 3)), ((), (2, 3)), ((1, 1), (1,)), ((259, 130), (130,)),
        ((129, 1), (1, 131)), ((2, 65, 33), (2, 65, 1)), ((70001,), (70001,)),
    ):  # fmt: skip
        case(op, plain(op), uniform(a, 0.1, 3), uniform(b, 0.1, 3))
    case(op, plain(op), (3, 5), 2)
    case(op, plain(op), 1.5, uniform((3, 5), 0.1, 3))
for exponent in (-1, 0, 2, 3, 4.0):  # of negative numbers too
    case("power", plain("power"), (37,), exponent)
case("power", plain("power"), uniform((37,), 0, 3), 0.5)
for op in COMPARISONS:
    for a, b in (((41,), (41,)), ((5, 1), (3, 1, 7))):
        case(op, plain(op), integers(a, 3, "float64"), integers(b, 3, "float64"))
    case(op, plain(op), integers((41,), 3, "float64"), 1)
    case(op, plain(op), integers((41,), 3), integers((41,), 3), note="int64")
for condition, a, b in (((5, 7), (5, 7), (5, 7)), ((5, 1), (7,), (3, 1, 1)), ((), (2,), (2,))):
    case("where", plain("where"), integers(condition, 2, "bool"), a, b)
case("where", plain("where"), integers((4, 9), 2, "bool"), (9,), 0.0)

# Reductions and selections

for op in ("sum", "max"):
    for shape, axis in (
        ((), None), ((1,), 0), ((37,), None), ((3, 5, 70), None), ((3, 5, 70), 0), ((3, 5, 70), 1), ((3, 5, 70), -1),
        ((3, 5, 70), (0, 1)), ((3, 5, 70), (0, -1)), ((2, 3, 5, 7), (1, 2)), ((2, 3, 5, 7), (3, 0, 1)),
        ((1, 1, 1), (0, 2)), ((513, 1), 0), ((1, 513), 0), ((100003,), None), ((20001, 3), 0),
    ):  # fmt: skip
        case(op, plain(op, axis=axis), shape, note=f"axis={axis}".replace(" ", ""))
    case(op, plain(op, axis=(0, 2), keepdims=True), (3, 5, 7), note="axis=(0,2)-keepdims")
    case(op, plain(op, keepdims=True), (3, 5), note="keepdims")
case("max", plain("max", axis=-1), fixed([[-np.inf, -np.inf], [-np.inf, 1], [2, 1]]), note="infinite")
for shape, axis in (((1,), -1), ((5, 1), -1), ((1, 70), -1), ((3, 5, 70), 1), ((3, 5, 70), 0), ((3, 5, 700), -1)):
    case("argmax", plain("argmax", axis=axis), shape, note=f"axis={axis}")
    case("argmax", plain("argmax", axis=axis), integers(shape, 3, "float64"), note=f"axis={axis}-ties")

for rows, inner, index_shape, kind in (
    (1, (1,), (1,), "int64"), (7, (), (4, 3), "int64"), (50, (37,), (5, 13), "int32"), (9, (2, 3), (31,), "int64"),
    (300, (129,), (2, 65), "int64"), (5, (33,), (), "int32"), (40, (33,), (3, 130), "int32"), (700, (), (1025,), "int64"),
    (1, (2, 3), (257,), "int64"),
):  # fmt: skip
    index = integers(index_shape, rows, kind)
    case("gather", plain("gather"), (rows, *inner), index, note=kind)
    case("scatter_add", plain("scatter_add"), (*index_shape, *inner), index, rows, note=kind)

for a, b in (
    ((1, 1), (1, 1)), ((1, 37), (37, 1)), ((37, 1), (1, 29)), ((37, 53), (53, 29)), ((1, 130), (130, 67)),
    ((129, 65), (65, 1)), ((131, 260), (260, 70)), ((5, 37, 17), (5, 17, 9)), ((2, 1, 5, 7), (3, 7, 4)),
    ((4, 3, 8), (8, 5)), ((3, 8), (2, 8, 5)),
):  # fmt: skip
    for ta in (False, True):
        for tb in (False, True):
            given_a = (*a[:-2], a[-1], a[-2]) if ta else a
            given_b = (*b[:-2], b[-1], b[-2]) if tb else b
            case("matmul", plain("matmul", transpose_a=ta, transpose_b=tb), given_a, given_b, note="NT"[ta] + "NT"[tb])

# Fused ops: forward and backward


def linear(t, x, weight, bias):
    return [t.linear_forward(x, weight, bias)], lambda dy: t.linear_backward(dy, x, weight, bias is not None)


def linear_input(t, dy, x, weight):
    return [t.linear_backward_input(dy, x, weight)], None


for n, K, N in (
    ((), 5, 3),
    ((1,), 1, 1),
    ((7,), 37, 1),
    ((1,), 64, 33),
    ((3, 5), 37, 29),
    ((2, 33), 130, 65),
    ((131,), 3, 257),
):
    case("linear", linear, (*n, K), (N, K), (N,))
    case("linear", linear, (*n, K), (N, K), None)
    case("linear_backward_input", linear_input, (*n, N), (*n, K), (N, K))


def embedding(t, table, indices):
    rows = table.shape[0]
    return [t.embedding_forward(table, indices)], lambda dy: [t.embedding_backward(dy, indices, rows)]


for V, C, n, kind in (
    (1, 1, (1,), "int64"),
    (50, 37, (3, 11), "int32"),
    (500, 130, (2, 65), "int64"),
    (3, 64, (200,), "int64"),
):
    case("embedding", embedding, (V, C), integers(n, V, kind), note=kind)

EPS = 1e-5


def layernorm(t, x, weight, bias):
    y, mean, rstd = t.layernorm_forward(x, weight, bias, EPS)
    return [y, mean, rstd], lambda dy: t.layernorm_backward(dy, x, weight, mean, rstd, bias is not None)


def residual_layernorm(t, x, residual, weight, bias):
    y, total, mean, rstd = t.residual_layernorm_forward(x, residual, weight, bias, EPS)

    def backward(dy, dtotal):
        dx, *rest = t.residual_layernorm_backward(dy, dtotal, total, weight, mean, rstd, bias is not None)
        return dx, dx, *rest

    return [y, total, mean, rstd], backward


def residual_layernorm_last(t, x, residual, weight, bias):
    """The last one of a network: nothing else reads `total`."""
    outputs, backward = residual_layernorm(t, x, residual, weight, bias)
    return outputs, lambda dy: backward(dy, None)


def rmsnorm(t, x, weight):
    y, rstd = t.rmsnorm_forward(x, weight, EPS)
    return [y, rstd], lambda dy: t.rmsnorm_backward(dy, x, weight, rstd)


# Two elements of a normalised row are +1 and -1 whatever x is, but for eps: x must be as small as that to have a gradient.
SMALL = 0.003
ROWS = [((), 5), ((1,), 1), ((1,), 37), ((5,), 2), ((2, 3), 64), ((3, 11), 37), ((129,), 130), ((2, 2), 1025)]
for n, C in ROWS:
    x = normal((*n, C), deviation=SMALL if C <= 2 else 1.0)
    for bias in ((C,), None):
        case("layernorm", layernorm, x, (C,), bias)
        case("residual_layernorm", residual_layernorm, x, x, (C,), bias)
        case("residual_layernorm", residual_layernorm_last, x, x, (C,), bias, note="last")
    case("rmsnorm", rmsnorm, x, (C,))
# A variance computed as mean(x^2) - mean(x)^2 loses 4 digits more than this allows.
case("layernorm", layernorm, normal((3, 65), mean=300), (65,), (65,), note="far-from-zero", tolerance=30)
case("layernorm", layernorm, fixed(np.full((4, 33), 0.5)), (33,), (33,), note="constant-rows")
case("rmsnorm", rmsnorm, fixed(np.zeros((4, 33))), (33,), note="zero-rows")


def gelu(t, x):
    return [t.gelu_forward(x)], lambda dy: [t.gelu_backward(dy, x)]


def bias_gelu(t, x, bias):
    return [t.bias_gelu_forward(x, bias)], lambda dy: t.bias_gelu_backward(dy, x, bias)


def swiglu(t, x):
    return [t.swiglu_forward(x)], lambda dy: [t.swiglu_backward(dy, x)]


FAR = [0.0, 1e-6, 0.5, 3.0, 6.0, 9.0, 12.0, 30.0, 90.0, 1e4]
FAR = np.array([-value for value in FAR] + FAR)
for shape in ((1,), (37,), (3, 5, 7), (257, 33), (70001,)):
    case("gelu", gelu, shape)
for n, F in ROWS:
    case("bias_gelu", bias_gelu, (*n, F), (F,))
    case("swiglu", swiglu, (*n, 2 * F))
case("gelu", gelu, fixed(FAR), note="far")
case("swiglu", swiglu, fixed(np.stack([FAR, np.ones(20)], axis=-1)), note="far")
# A hand-written exp fails somewhere between the first exponent that is too small for a normal float32 (-87.3) and the last
# that is not zero (-103.3), or between -708 and -745 in float64: so every quarter is tried.
APART = np.concatenate([np.arange(0, 130, 0.25), np.arange(690, 760, 0.25)])
case("swiglu", swiglu, fixed(np.concatenate([APART, -APART, np.ones(2 * APART.size)])), note="every-exponent")


def softmax(t, x):
    y = t.softmax_forward(x)
    return [y], lambda dy: [t.softmax_backward(dy, y)]


def softmax_causal(t, x):
    y = t.softmax_forward(x, causal=True)
    return [y], lambda dy: [t.softmax_backward(dy, y)]


for shape in ((5,), (1, 1), (37, 1), (1, 37), (2, 3, 65), (129, 130), (3, 1025)):
    case("softmax", softmax, shape)
for shape in ((1, 1), (1, 37), (37, 37), (2, 3, 5, 65), (3, 130, 130)):
    case("softmax", softmax_causal, shape, note="causal")
case("softmax", softmax, normal((3, 37), mean=1e4, deviation=30), note="large", tolerance=10)


case("softmax", softmax, fixed(-APART[None]), note="every-exponent")


def rope(t, x, cos, sin):
    return [t.rope_forward(x, cos, sin)], lambda dy: [t.rope_backward(dy, cos, sin)]


for B, T, H, D in ((1, 1, 1, 2), (2, 37, 3, 32), (1, 65, 2, 64), (2, 5, 1, 128), (1, 9, 2, 10)):
    case("rope", rope, (B, T, H, D), uniform((T, D // 2), -1, 1), uniform((T, D // 2), -1, 1))


def attention(causal):
    def run(t, q, k, v):
        y, logsumexp = t.attention_forward(q, k, v, causal=causal)
        return [y, logsumexp], lambda dy: t.attention_backward(dy, q, k, v, y, logsumexp, causal=causal)

    return run


def attention_case(B, T, S, H, G, D, causal=True, size=1.0, tolerance=1.0):
    note = "-".join(["causal"] * causal + ["large"] * (size > 1))
    q, k, v = normal((B, T, H, D), deviation=size), (B, S, G, D), (B, S, G, D)
    case("attention", attention(causal), q, k, v, note=note, tolerance=tolerance)


attention_case(1, 1, 1, 1, 1, 32)
attention_case(2, 37, 37, 3, 3, 32)
attention_case(1, 65, 65, 2, 2, 64)
attention_case(1, 33, 33, 2, 2, 128)
attention_case(1, 130, 130, 1, 1, 64)
attention_case(2, 37, 37, 6, 2, 32)  # three query heads share a key-value head
attention_case(1, 33, 33, 4, 1, 64)  # all of them do
attention_case(2, 17, 50, 6, 2, 64)  # a cache of 33, then 17 new queries
attention_case(1, 5, 130, 2, 2, 128)
attention_case(1, 3, 1025, 2, 1, 64)
attention_case(3, 1, 70, 4, 2, 32)  # one query: a step of generation
attention_case(2, 1, 70, 2, 2, 64, causal=False)
attention_case(2, 37, 37, 2, 2, 32, causal=False)
attention_case(1, 19, 70, 4, 2, 64, causal=False)
attention_case(1, 70, 19, 2, 1, 32, causal=False)  # more queries than keys
attention_case(2, 13, 13, 2, 1, 10)
attention_case(1, 9, 9, 2, 2, 1)
attention_case(2, 37, 37, 2, 2, 64, size=60.0, tolerance=20)  # exp(score) alone would overflow


# Linear recurrences


def recurrence(name):
    def run(t, *inputs):
        y, last, kept = getattr(t, f"{name}_forward")(*inputs)
        backward = getattr(t, f"{name}_backward")
        return [y, last], lambda dy, dlast: list(backward(dy, dlast, *inputs, kept))

    return run


def unit(shape: tuple) -> Draw:
    """Rows of length 1, as the delta rule wants its keys."""

    def make(random):
        x = random.normal(size=shape)
        return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))

    return Draw(shape, make)


def recurrence_cases(B, H, T, D, E, carried=True, weakest=-3.0, note="", tolerance=2.0):
    state = (B, H, D, E) if carried else None
    q, v, g = (B, H, T, D), (B, H, T, E), uniform((B, H, T, D), weakest, 0)
    rates, scalars = uniform((B, H, T), 0, 1), uniform((B, H, T), weakest, 0)
    options = {"note": note, "tolerance": tolerance}
    case("gated_linear_attention", recurrence("gated_linear_attention"), q, unit(q), v, g, state, **options)
    case("gated_delta", recurrence("gated_delta"), q, unit(q), v, g, rates, state, **options)
    case(
        "state_space",
        recurrence("state_space"),
        q,
        unit(q),
        v,
        scalars,
        rates,
        uniform((B, H, T), 0, 1),
        state,
        **options,
    )


recurrence_cases(2, 3, 1, 32, 32)  # a step of generation
recurrence_cases(2, 2, 37, 32, 64)
recurrence_cases(1, 1, 33, 128, 128, carried=False)
recurrence_cases(1, 3, 19, 10, 7)
recurrence_cases(1, 1, 70, 16, 16, weakest=-0.01, note="slow", tolerance=5)
recurrence_cases(1, 2, 40, 32, 32, weakest=-200.0, note="forgets")  # e^200 would overflow


def convolution(t, x, taps):
    return [t.convolution_forward(x, taps)], lambda dy: list(t.convolution_backward(dy, x, taps))


for shape, K in (((1, 4, 1), 4), ((2, 9, 5), 4), ((3, 70, 33), 3), ((1, 6, 130), 1), ((2, 300, 40), 7)):
    case("convolution", convolution, shape, (K, shape[2]))


def cross_entropy(ignore_index=-1):
    def run(t, logits, targets):
        loss, logsumexp = t.cross_entropy_forward(logits, targets, ignore_index)
        return [loss, logsumexp], lambda dloss: [
            t.cross_entropy_backward(dloss, logits, targets, logsumexp, ignore_index)
        ]

    return run


def cross_entropy_case(n, V, ignored=0.0, ignore_index=-1, kind="int64", size=3.0, note="", tolerance=1.0):
    def targets(random):
        drawn = random.integers(0, V, size=n)
        return np.where(random.random(n) < ignored, ignore_index, drawn).astype(kind)

    note = "-".join(filter(None, [kind, f"ignore{ignore_index}" if ignored else "", note]))
    inputs = normal((n, V), deviation=size), Draw((n,), targets)
    case("cross_entropy", cross_entropy(ignore_index), *inputs, note=note, tolerance=tolerance)


cross_entropy_case(1, 1)
cross_entropy_case(1, 37)
cross_entropy_case(37, 2, kind="int32")
cross_entropy_case(33, 517)
cross_entropy_case(65, 130, ignored=0.4)
cross_entropy_case(65, 130, ignored=0.4, ignore_index=-100, kind="int32")
cross_entropy_case(65, 5, ignored=0.4, ignore_index=3, note="a-class")
cross_entropy_case(5, 37, size=1000.0, note="large", tolerance=20)
logits = fixed(np.stack([np.zeros(APART.size), -APART], axis=-1))
case("cross_entropy", cross_entropy(), logits, fixed(np.ones(APART.size, np.int64)), note="every-exponent")


def linear_gelu(t, x, weight, bias):
    y, kept = t.linear_gelu_forward(x, weight, bias)
    return [y], lambda dy: t.linear_gelu_backward(dy, x, weight, bias, kept)


for n, K, F in (((), 5, 3), ((1,), 1, 1), ((7,), 37, 1), ((3, 5), 37, 29), ((2, 33), 65, 130), ((131,), 3, 257)):
    case("linear_gelu", linear_gelu, (*n, K), (F, K), (F,))


def linear_cross_entropy(ignore_index=-1):
    def run(t, x, weight, bias, targets):
        loss, dlogits = t.linear_cross_entropy(x, weight, bias, targets, ignore_index)
        return [loss, dlogits], None

    return run


for n, K, V, bias, kind in (
    (1, 1, 1, True, "int64"), (1, 5, 37, False, "int32"), (65, 37, 130, True, "int64"), (7, 64, 517, False, "int64"),
    (37, 3, 2, True, "int32"),
):  # fmt: skip
    targets = integers((n,), V, kind)
    case("linear_cross_entropy", linear_cross_entropy(), (n, K), (V, K), (V,) if bias else None, targets, note=kind)
    ignored = integers((n,), V, kind)
    case("linear_cross_entropy", linear_cross_entropy(V - 1), (n, K), (V, K), (V,) if bias else None, ignored,
         note=f"{kind}-ignore{V - 1}") if V > 2 else None  # fmt: skip


def dropout(t, x, probability, random, site):
    y = t.dropout_forward(x, probability, random, site)
    return [y], lambda dy: [t.dropout_backward(dy, probability, random, site)]


for shape, probability in (((1,), 0.5), ((3, 37), 0.1), ((2, 5, 13), 0.0), ((70001,), 0.2), ((5, 2), 0.99)):
    case("dropout", dropout, shape, probability, integers((3,), 2**32, "uint32"), 7)


# Optimiser


def global_norm(t, *arrays):
    return [t.global_norm(list(arrays))], None


case("global_norm", global_norm, (1,))
case("global_norm", global_norm, (3, 37), (1,), (130,), (70001,))


def adamw(clip):
    def run(t, *arrays):
        """Three steps; the inputs are copied, since the op works in place."""
        count = len(arrays) // 2
        parameters = [t.copy(array) for array in arrays[:count]]
        gradients = arrays[count:]
        moments = [[t.zeros(p.shape, p.dtype) for p in parameters] for _ in range(2)]
        for step in range(1, 4):
            settings = np.array([0.01 / step, 1 - 0.9**step, 1 - 0.95**step])
            norm = t.global_norm(gradients) if clip else None
            t.adamw_step(
                parameters, gradients, *moments, on_device(t, settings, arrays[0].dtype), norm,
                beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=[0.1, 0.0, 0.3][:count], max_norm=clip,
            )  # fmt: skip
        return [*parameters, *moments[0], *moments[1]], None

    return run


for clip, note in ((None, "unclipped"), (1.0, "clipped"), (1e4, "clip-not-reached")):
    case("adamw", adamw(clip), *[(3, 37), (130,), (70001,)] * 2, note=note)
    case("adamw", adamw(clip), (1,), (1,), note=note)


# Quantised weights


def words(rows: int, count: int) -> Draw:
    return integers((rows, count), 2**32, "uint32")


def zeros(rows: int, groups: int) -> Draw:
    return Draw((rows, groups), lambda random: random.integers(0, 16, size=(rows, groups)).astype(float))


for n, K, N in (
    ((), 5, 3),
    ((1,), 1, 1),
    ((7,), 37, 1),
    ((1,), 64, 33),
    ((3, 5), 37, 29),
    ((2, 33), 130, 65),
    ((1,), 384, 257),
):
    groups = -(-K // 32)
    case("linear_int8_forward", plain("linear_int8_forward"), (*n, K), words(N, -(-K // 4)), (N,), (N,))
    case("linear_int8_forward", plain("linear_int8_forward"), (*n, K), words(N, -(-K // 4)), (N,), None)
    case("linear_int4_forward", plain("linear_int4_forward"), (*n, K), words(N, 4 * groups), (N, groups), None, (N,))
    case(
        "linear_int4_forward",
        plain("linear_int4_forward"),
        (*n, K),
        words(N, 4 * groups),
        (N, groups),
        zeros(N, groups),
        None,
    )


# Keys and values in pages


def paged_append(t, k, v, k_pages, v_pages, slots, op="paged_append"):
    """The pages are copied, since the op works in place."""
    pages = [t.copy(array) for array in (k_pages, v_pages)]
    getattr(t, op)(k, v, *pages, slots)
    return pages, None


def paged_append_int8(t, *given):
    return paged_append(t, *given, op="paged_append_int8")


def slots(n: int, count: int) -> Draw:
    """n of `count` slots, no two the same."""
    return Draw((n,), lambda random: random.permutation(count)[:n].astype(np.int32))


for P, N, H, G, D, R, M in (
    (1, 1, 1, 1, 1, 1, 1), (5, 3, 6, 2, 10, 2, 3), (9, 8, 3, 3, 64, 3, 4), (12, 5, 4, 1, 128, 4, 7), (40, 8, 6, 2, 32, 2, 33),
):  # fmt: skip
    pages, n = (P, N, G, D), (P * N + 1) // 2
    case("paged_append", paged_append, (n, G, D), (n, G, D), pages, pages, slots(n, P * N))
    for count in sorted({1, M * N - N // 2}):
        case("paged_gather", plain("paged_gather"), pages, integers((M,), P, "int32"), count)
    tables, positions = integers((R, M), P, "int32"), integers((R,), M * N, "int32")
    in_words = Draw(pages, lambda random, pages=pages: pack_rows(random.normal(size=pages)))
    case("paged_append_int8", paged_append_int8, (n, G, D), (n, G, D), in_words, in_words, slots(n, P * N))
    given = in_words, in_words, tables, positions
    case("paged_attention_int8_forward", plain("paged_attention_int8_forward"), (R, H, D), *given)
    case("paged_attention_forward", plain("paged_attention_forward"), (R, H, D), pages, pages, tables, positions)
