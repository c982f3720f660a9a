"""The GPT: token embedding, blocks of attention and MLP on a residual stream, a norm, a tied head.

Pre-norm decoder after GPT-2 (Radford et al. 2019), with the options of a modern one: RMSNorm (Zhang and Sennrich 2019),
RoPE (Su et al. 2021), SwiGLU (Shazeer 2020), grouped-query attention (Ainslie et al. 2023), and blocks with a linear recurrence
where others have attention (recurrent.py). The model knows nothing of how it is trained. Each addition to the residual stream is
fused with the norm that reads it next, so blocks hand on a pair: the stream, and the branch that is still to be added to it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial

import numpy as np

from course_lib import functional, key_values, nn
from course_lib.recurrent import Recurrent
from course_lib.state_space import StateSpace
from course_lib.tensor import Tensor, no_grad

# Products with each number of the state in a step: decay, write, read; the delta rule reads what it is to replace, too.
PRODUCTS = {"linear": 3, "delta": 4, "state_space": 3}
MIXERS = "attention", *PRODUCTS


@dataclass
class GPTConfig:
    """Everything that decides the shape of a model."""

    layers: int
    heads: int  # H
    channels: int  # C; D = C / H
    context: int  # T: the longest sequence
    vocab_size: int  # V
    kv_heads: int = 0  # G; 0 means as many as heads
    hidden: int = 0  # F of the MLP; 0 means 4 C
    norm: str = "layernorm"  # or "rmsnorm"
    activation: str = "gelu"  # or "swiglu"
    positions: str = "learned"  # or "rope", or "none"
    mixers: str = "attention"  # of the blocks in turn, again from the first at the end: "delta delta delta attention"
    bias: bool = True  # of linear layers, norms and the head
    head_bias: bool = True  # False: not of the head, as in GPT-2
    dropout: float = 0.0
    eps: float = 1e-5  # of the norms
    rope_base: float = 10000.0

    def __post_init__(self) -> None:
        self.kv_heads = self.kv_heads or self.heads
        self.hidden = self.hidden or 4 * self.channels
        for field in ("layers", "heads", "channels", "context", "vocab_size", "kv_heads", "hidden"):
            if getattr(self, field) < 1:
                raise ValueError(f"GPTConfig: {field} must be at least 1; it is {getattr(self, field)}.")
        for field, choices in (("norm", ("layernorm", "rmsnorm")), ("activation", ("gelu", "swiglu")),
                               ("positions", ("learned", "rope", "none"))):  # fmt: skip
            if getattr(self, field) not in choices:
                raise ValueError(f"GPTConfig: {field} is {getattr(self, field)!r}; it must be one of {choices}.")
        if not self.mixers.split() or set(self.mixers.split()) - set(MIXERS):
            raise ValueError(
                f"GPTConfig: mixers is {self.mixers!r}; it must be words of {', '.join(MIXERS)}, one for each block in turn."
            )
        if self.channels % self.heads or self.heads % self.kv_heads:
            raise ValueError(
                f"GPTConfig: channels {self.channels} must be a multiple of heads {self.heads}, and heads of kv_heads "
                f"{self.kv_heads}."
            )
        if self.head_size % 2 and (self.positions == "rope" or "state_space" in self.mixer_list):
            raise ValueError(
                f"GPTConfig: RoPE and state spaces rotate pairs, so the head size must be even; it is {self.head_size}."
            )

    @property
    def head_size(self) -> int:
        return self.channels // self.heads

    @property
    def mixer_list(self) -> list[str]:
        """What mixes the positions in each block: "attention", or a recurrence."""
        words = self.mixers.split()
        return [words[number % len(words)] for number in range(self.layers)]

    @property
    def unbounded(self) -> bool:
        """Whether the model reads beyond its context: nothing in it grows with the text, nor counts its positions."""
        return "attention" not in self.mixer_list and self.positions == "none"

    def needs_attention(self, what: str) -> None:
        """Raises ValueError where a block has no attention, for what knows no other model."""
        if set(self.mixer_list) != {"attention"}:
            raise ValueError(
                f"{what} knows models whose blocks all have attention; the mixers of this one are {self.mixers!r}."
            )

    @classmethod
    def preset(cls, name: str, **changes) -> GPTConfig:
        """A named configuration, with fields changed at will. Raises ValueError for a name that is not known."""
        if name not in PRESETS:
            raise ValueError(f"There is no preset named {name!r}. Choose one of: {', '.join(PRESETS)}.")
        return cls(**{**PRESETS[name], **changes})

    def to_dict(self) -> dict:
        return dataclasses.asdict(self)

    def parameter_table(self) -> list[tuple[str, int]]:
        """Where the parameters go: (part, count), largest structure first; the counts add up to the model's."""
        c, d, bias, layers = self.channels, self.head_size, int(self.bias), self.layers
        qkv = (self.heads + 2 * self.kv_heads) * d
        recurrent = [kind for kind in self.mixer_list if kind != "attention"]
        attending = layers - len(recurrent)
        up = self.hidden * (2 if self.activation == "swiglu" else 1)
        norm = c * (1 + (bias if self.norm == "layernorm" else 0))
        rows = [("token embedding (also the head)", self.vocab_size * c)]
        if self.positions == "learned":
            rows.append(("position embedding", self.context * c))
        rows += [
            ("attention: queries, keys, values", attending * (c * qkv + bias * qkv)),
            ("attention: output", attending * (self.heads * d * c + bias * c)),
            ("recurrences", sum(_parameters_of(kind, c, self.heads, self.bias) for kind in recurrent)),
            ("MLP: up", layers * (c * up + bias * up)),
            ("MLP: down", layers * (self.hidden * c + bias * c)),
            ("norms", (2 * layers + 1) * norm),
        ]
        rows = [(part, count) for part, count in rows if count]
        return [*rows, ("head bias", self.vocab_size)] if self.bias and self.head_bias else rows

    def flops_per_token(self) -> int:
        """Floating-point operations of forward and backward per token: 6 for each weight of a matmul, 12 C for each key that a
        query sees, on average half the context (Kaplan et al. 2020, section 2.1, with the causal half counted), and 6 for each
        product with a number of a recurrence's state."""
        d, up = self.head_size, self.hidden * (2 if self.activation == "swiglu" else 1)
        weights, other = self.vocab_size * self.channels, 0
        for kind in self.mixer_list:
            weights += self.channels * (up + self.hidden)
            if kind == "attention":
                weights += self.channels * (2 * self.heads + 2 * self.kv_heads) * d  # q, out; k, v
                other += 12 * self.channels * self.context // 2
            else:
                weights += _weights_of(kind, self.channels, self.heads)
                other += 6 * PRODUCTS[kind] * self.channels * d
        return 6 * weights + other


def _parameters_of(kind: str, c: int, heads: int, bias: bool) -> int:
    """All parameters of a recurrence."""
    if kind == "state_space":
        return StateSpace.parameter_count_of(c, heads, bias)
    return Recurrent.parameter_count_of(kind, c, heads, bias)


def _weights_of(kind: str, c: int, heads: int) -> int:
    """Those that are multiplied with every token."""
    return StateSpace.weights_of(c, heads) if kind == "state_space" else Recurrent.weights_of(kind, c, heads)


PRESETS: dict[str, dict] = {
    # Speaks within a minute on a laptop, and trains on the simulator.
    "micro": {"layers": 2, "heads": 2, "channels": 64, "context": 256, "vocab_size": 1024, "positions": "rope"},
    # Readable stories in about three minutes on two cores: many small steps beat few large ones.
    "small": {"layers": 3, "heads": 3, "channels": 96, "context": 192, "vocab_size": 2048, "positions": "rope"},
    # The reference: 12,322,816 parameters.
    "12m": {"layers": 6, "heads": 6, "channels": 384, "context": 256, "vocab_size": 4096},
    # The same size with the four changes of a modern model.
    "modern-12m": {"layers": 6, "heads": 6, "kv_heads": 2, "channels": 384, "hidden": 1216, "context": 256, "vocab_size": 4096,
                       "norm": "rmsnorm", "activation": "swiglu", "positions": "rope", "bias": False},
    # As large, without attention: Kimi delta attention in every block. Its state is of one size however long the text.
    "linear-12m": {"layers": 6, "heads": 6, "channels": 384, "context": 256, "vocab_size": 4096, "positions": "none",
                   "mixers": "delta", "hidden": 1424},
    # Three blocks with a recurrence for each one with attention, which has no positions of its own (Kimi Linear 2025, section 4).
    "hybrid-12m": {"layers": 8, "heads": 5, "channels": 320, "context": 256, "vocab_size": 4096, "positions": "none",
                   "mixers": "delta delta delta attention", "hidden": 1408},
    # NanoEuler (JustVugg 2026): layers, heads, channels, context and vocabulary as published, and the same four changes. It has
    # several heads, to predict some tokens ahead; ours has one, tied, and wider MLPs in their place, up to about its size.
    "116m": {"layers": 16, "heads": 12, "kv_heads": 4, "channels": 768, "hidden": 2368, "context": 512, "vocab_size": 4096,
             "norm": "rmsnorm", "activation": "swiglu", "positions": "rope", "bias": False},
    # GPT-2, the smallest one published: 124,439,808 parameters. Its weights come by `course import gpt2`.
    "gpt2": {"layers": 12, "heads": 12, "channels": 768, "context": 1024, "vocab_size": 50257, "head_bias": False},
}  # fmt: skip


class Attention(nn.Module):
    """Causal self-attention: (B, T, C) -> (B, T, C)."""

    def __init__(self, config: GPTConfig, std: float, **made):
        c, d = config.channels, config.head_size
        self.heads, self.kv_heads, self.head_size, self.context = config.heads, config.kv_heads, d, config.context
        self.qkv = nn.Linear(c, (config.heads + 2 * config.kv_heads) * d, config.bias, **made)
        self.out = nn.Linear(config.heads * d, c, config.bias, **{**made, "std": std})

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor] | None, cache: list | None) -> Tensor:
        b, t, _ = x.shape
        h, g, d = self.heads, self.kv_heads, self.head_size
        q, k, v = functional.split(self.qkv(x), (h * d, g * d, g * d))  # (B, T, H D), twice (B, T, G D)
        q, k, v = q.reshape(b, t, h, d), k.reshape(b, t, g, d), v.reshape(b, t, g, d)
        if rotation is not None:
            q, k = functional.rope(q, *rotation), functional.rope(k, *rotation)
        attend = functional.attention if cache is None else partial(key_values.attend, cache, self.context)
        y = attend(q, k, v)  # (B, T, H, D)
        return self.out(y.reshape(b, t, h * d))


class MLP(nn.Module):
    """Up, an activation, down, at each position alone: (B, T, C) -> (B, T, F) -> (B, T, C)."""

    def __init__(self, config: GPTConfig, std: float, **made):
        self.activation = config.activation
        width = config.hidden * (2 if config.activation == "swiglu" else 1)
        self.up = nn.Linear(config.channels, width, config.bias, **made)
        self.down = nn.Linear(config.hidden, config.channels, config.bias, **{**made, "std": std})

    def forward(self, x: Tensor) -> Tensor:
        if self.activation == "swiglu":
            return self.down(functional.swiglu(self.up(x)))
        if self.up.bias is None:
            return self.down(functional.gelu(self.up(x)))
        return self.down(functional.linear_gelu(x, self.up.weight, self.up.bias))


class Block(nn.Module):
    """stream + attention(norm(stream)), then + mlp(norm(stream)); the last addition is left to the next block or the norm."""

    def __init__(self, config: GPTConfig, number: int, random: nn.RandomBits, **made):
        std = 0.02 / (2 * config.layers) ** 0.5  # GPT-2: each layer adds twice to the stream
        self.norm1, self.norm2 = make_norm(config, **made), make_norm(config, **made)
        kind = config.mixer_list[number]
        layer = {"attention": Attention, "state_space": StateSpace}.get(kind) or partial(Recurrent, kind)
        self.attention = layer(config, std, **made)
        self.mlp = MLP(config, std, **made)
        self.dropout1 = nn.Dropout(config.dropout, random, site=2 * number + 1)
        self.dropout2 = nn.Dropout(config.dropout, random, site=2 * number + 2)

    # region block_forward
    def forward(self, stream: Tensor, branch: Tensor | None, rotation, cache) -> tuple[Tensor, Tensor]:
        if branch is None:
            x = self.norm1(stream)  # (B, T, C)
        else:
            x, stream = self.norm1(branch, stream)
        branch = self.dropout1(self.attention(x, rotation, cache))  # (B, T, C)
        x, stream = self.norm2(branch, stream)
        return stream, self.dropout2(self.mlp(x))

    # endregion


class GPT(nn.Module):
    """model(idx) -> logits (B, T, V); model.loss(idx, targets) -> mean nats per token.

    idx: integers (B, T), T at most `config.context`. seed: of the initial weights, the same on every device.
    """

    def __init__(self, config: GPTConfig, device: str = "cpu", seed: int = 0, dtype: str = "float32"):
        if not isinstance(config, GPTConfig):
            raise TypeError(f"GPT() takes a GPTConfig, as in GPT(GPTConfig.preset('micro')); it got {config!r}.")
        self.config, self.device, self.dtype = config, device, dtype
        self.random = nn.RandomBits(device, seed)
        made = {"rng": np.random.default_rng(seed), "device": device, "dtype": dtype}
        self.tokens = nn.Embedding(config.vocab_size, config.channels, **made)
        self.positions = (
            nn.Embedding(config.context, config.channels, **made) if config.positions == "learned" else None
        )
        self.dropout = nn.Dropout(config.dropout, self.random, site=0)
        self.blocks = [Block(config, number, self.random, **made) for number in range(config.layers)]
        self.norm = make_norm(config, **made)
        biased = config.bias and config.head_bias
        self.head_bias = nn.parameter(np.zeros(config.vocab_size), device, dtype) if biased else None
        self.rotation = rope_tables(config, device, dtype) if config.positions == "rope" else None

    def forward(self, idx, cache: list | None = None) -> Tensor:
        """Logits (B, T, V). cache: from `new_cache`; idx then continues what the cache holds, and is added to it."""
        return self.head(self._final(idx, cache))  # (B, T, C) -> (B, T, V)

    def head(self, x: Tensor) -> Tensor:
        """Logits of what the last norm gives: (*n, C) -> (*n, V), by the token embedding."""
        return functional.linear(x, self.tokens.weight, self.head_bias)

    def _final(self, idx, cache: list | None = None) -> Tensor:
        idx = idx if hasattr(idx, "shape") else np.asarray(idx)
        if len(idx.shape) != 2:
            raise ValueError(
                f"A model reads token ids of shape (B, T), texts and tokens; these have the shape {tuple(idx.shape)}. For one "
                "text: model(np.array([ids]))."
            )
        t = idx.shape[1]
        start = _length(cache[0]) if cache and cache[0] else 0
        if start + t > self.config.context and not self.config.unbounded:
            raise ValueError(
                f"The sequence has {start + t} tokens, but this model's context is {self.config.context}. Give it fewer."
            )
        x = self.tokens(idx)  # (B, T) -> (B, T, C)
        if self.positions is not None:
            x = x + self.positions.weight[start : start + t]  # + (T, C)
        rotation = None if self.rotation is None else tuple(table[start : start + t] for table in self.rotation)
        stream, branch = self.dropout(x), None
        for number, block in enumerate(self.blocks):
            stream, branch = block(stream, branch, rotation, cache[number] if cache is not None else None)
        return self.norm(branch, stream)[0]

    def loss(self, idx, targets) -> Tensor:
        """Mean cross-entropy in nats per token, shape (). targets: integers (B, T); -1 does not count."""
        x = self._final(idx).reshape(-1, self.config.channels)  # (B T, C)
        targets = targets if isinstance(targets, Tensor) else np.asarray(targets)
        return functional.linear_cross_entropy(x, self.tokens.weight, self.head_bias, targets.reshape(-1))

    def new_cache(self) -> list:
        """An empty cache: for each layer its keys and values, (B, S, G, D) each, once there are any (key_values.py), or what a
        recurrence carries on, which does not grow (recurrent.py)."""
        return [[] for _ in self.blocks]


def _length(layer: list) -> int:
    """How many tokens a layer's cache has read."""
    return layer[2] if len(layer) == 3 else layer[0].shape[1]


def make_norm(config: GPTConfig, rng=None, **made):
    """The norm that the configuration names."""
    if config.norm == "rmsnorm":
        return nn.RMSNorm(config.channels, config.eps, **made)
    return nn.LayerNorm(config.channels, config.bias, config.eps, **made)


@no_grad()
def rope_tables(config: GPTConfig, device: str, dtype: str) -> tuple[Tensor, Tensor]:
    """cos and sin of position * base^(-2 i / D), (context, D/2) each."""
    half = config.head_size // 2
    frequency = config.rope_base ** (-np.arange(half) / half)  # (D/2,)
    angle = np.arange(config.context)[:, None] * frequency[None, :]  # (T, D/2)
    return Tensor(np.cos(angle), dtype, device), Tensor(np.sin(angle), dtype, device)
