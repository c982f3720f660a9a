"""What stands in a block where another has attention: a linear recurrence, whose state has one size however long the text is.

The layer of Kimi Linear (2025, section 4; Yang et al. 2024 and 2025 before it): queries, keys and values pass a short causal
convolution, queries and keys are brought to length 1; decay, output gate and beta come from the input; what is read from the
state is normalised head by head, gated, and projected. Changed: GELU, for which there are kernels, follows the convolution in the
place of SiLU; the output gate is SiLU, as in gated linear attention (Yang et al. 2024, section 4.4), in the place of a sigmoid;
and the size of a channel's decay is set by its bias alone, without another factor for each head.
"""

from __future__ import annotations

import numpy as np

from course_lib import functional, nn
from course_lib.tensor import Tensor, tensor_from_array

TAPS = 4  # of the convolution: a step and the three before it
SLOWEST, FASTEST = 1e-3, 0.1  # decay of a channel in a step, at first (Gu and Dao 2023, section 3.6)


class Recurrent(nn.Module):
    """(B, T, C) -> (B, T, C). kind: "linear" (gated linear attention) or "delta" (the gated delta rule).

    A cache is a list, empty at first, then [state (B, H, D, D), the last TAPS - 1 rows that the convolution saw, tokens read].
    """

    def __init__(self, kind: str, config, std: float, rng: np.random.Generator | None = None, **made):
        rng = rng or np.random.default_rng()
        c, h, d = config.channels, config.heads, config.head_size
        self.kind, self.heads, self.head_size, self.eps = kind, h, d, config.eps
        self.qkv = nn.Linear(c, 3 * h * d, False, rng=rng, **made)
        self.taps = nn.parameter(
            rng.normal(0.0, TAPS**-0.5, (TAPS, 1, 3 * h * d)), **made
        )  # the last is of the step itself
        self.low = nn.Linear(c, 2 * d + h * (kind == "delta"), config.bias, rng=rng, **made)
        self.decay, self.gate = nn.Linear(d, h * d, True, rng=rng, **made), nn.Linear(d, h * d, False, rng=rng, **made)
        self.decay.bias = nn.parameter(slow(h * d, rng), **made)
        self.stacks = {"qkv.weight": (h * d,) * 3, "low.weight": (d, d, h) if kind == "delta" else (d, d)}
        self.norm = nn.RMSNorm(d, config.eps, **made)
        self.out = nn.Linear(h * d, c, config.bias, rng=rng, **{**made, "std": std})

    @staticmethod
    def weights_of(kind: str, c: int, heads: int) -> int:
        """Weights that are multiplied with every token."""
        d = c // heads
        return c * 3 * c + TAPS * 3 * c + c * (2 * d + heads * (kind == "delta")) + 2 * d * c + c * c

    @staticmethod
    def parameter_count_of(kind: str, c: int, heads: int, bias: bool) -> int:
        """All parameters."""
        d = c // heads
        biases = c + bias * (2 * d + heads * (kind == "delta") + c)
        return Recurrent.weights_of(kind, c, heads) + biases + d

    def forward(self, x: Tensor, rotation, cache: list | None) -> Tensor:
        h, d = self.heads, self.head_size
        state, rows, length = cache or (None, None, 0)
        qkv, rows = convolved(self.qkv(x), self.taps, rows)  # (B, T, 3 C), (B, 3, 3 C)
        q, k, v = (by_head(part, h) for part in functional.split(functional.gelu(qkv), (h * d,) * 3))  # (B, H, T, D)
        q, k = unit(q, d**-0.5), unit(k)
        low, gate, *rates = functional.split(self.low(x), (d, d, h) if self.kind == "delta" else (d, d))
        g = by_head(-softplus(self.decay(low)), h)  # (B, H, T, D)
        if self.kind == "delta":
            y, state = functional.gated_delta(q, k, v, g, sigmoid(rates[0]).transpose(0, 2, 1), state)
        else:
            y, state = functional.gated_linear_attention(q, k, v, g, state)
        if cache is not None:
            cache[:] = [state, rows * 1.0, length + x.shape[1]]  # a copy of the rows: a view would keep all that x was
        return self.out(gated(self.norm, y, self.gate(gate)))


def slow(count: int, rng: np.random.Generator) -> np.ndarray:
    """What softplus makes a decay from SLOWEST to FASTEST of: its inverse."""
    return np.log(np.expm1(np.exp(rng.uniform(np.log(SLOWEST), np.log(FASTEST), count))))


def by_head(x: Tensor, heads: int) -> Tensor:
    """(B, T, C) -> (B, H, T, D)"""
    b, t, c = x.shape
    return x.reshape(b, t, heads, c // heads).transpose(0, 2, 1, 3)


def gated(norm: nn.RMSNorm, y: Tensor, gate: Tensor) -> Tensor:
    """What the heads read from their states, y (B, H, T, D), normalised head by head and gated: gate (B, T, C) -> (B, T, C)"""
    y = norm(y.transpose(0, 2, 1, 3)).reshape(*gate.shape)  # (B, T, C)
    return functional.swiglu(functional.concatenate([gate, y], axis=-1))


def convolved(x: Tensor, taps: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
    """y_t = sum over j of taps_j x_(t - TAPS + 1 + j), each channel alone -> y (B, T, C), and the last TAPS - 1 rows for what
    comes next. x (B, T, C), taps (TAPS, 1, C), before (B, TAPS - 1, C): the rows before x, or None for zeros."""
    b, t, c = x.shape
    if before is None:
        before = filled(x, (b, TAPS - 1, c), 0.0)
    rows = functional.concatenate([before, x], axis=1)  # (B, TAPS - 1 + T, C)
    return functional.convolution(rows, taps.reshape(TAPS, c)), rows[:, t:]


def unit(x: Tensor, length: float = 1.0, eps: float = 1e-6) -> Tensor:
    """Rows of x (..., D) brought to a length."""
    d = x.shape[-1]
    return functional.rmsnorm(x, filled(x, (d,), length * d**-0.5), eps)  # RMSNorm gives rows of length sqrt(D)


def filled(like: Tensor, shape: tuple[int, ...], value: float) -> Tensor:
    """A tensor of one value, of `like`'s dtype: made on its device, since a graph of launches takes nothing from the host."""
    return tensor_from_array(like.ops.full(shape, value, like.dtype), like.ops)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e^-x), in the form that does not overflow."""
    return (x * 0.5).tanh() * 0.5 + 0.5


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x), where e^x would overflow too."""
    positive = functional.maximum(x, 0.0)
    return positive + ((x - positive * 2.0).exp() + 1.0).log()  # max(x, 0) + log(1 + e^-|x|)
