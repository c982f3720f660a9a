"""The GPT: token embedding, blocks of attention and MLP on a residual stream, a norm, a tied head.

Pre-norm decoder after GPT-2 (Radford et al. 2019), with the options of a modern one: RMSNorm (Zhang and Sennrich 2019), RoPE
(Su et al. 2021), SwiGLU (Shazeer 2020), grouped-query attention (Ainslie et al. 2023), multi-head latent attention (latent.py),
and blocks with a linear recurrence where others have attention (recurrent.py, state_space.py). The model knows nothing of how
it is trained. Each addition to the residual stream is fused with the norm that reads it next, so blocks hand on a pair: the
stream, and the branch that is still to be added to it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from course_lib import functional, key_values, nn
from course_lib.latent import LatentAttention
from course_lib.model_config import RECURRENCES, GPTConfig
from course_lib.tensor import Tensor, no_grad


class Attention(nn.Module):
    """Causal self-attention: (B, T, C) -> (B, T, C)."""

    def __init__(self, config: GPTConfig, std: float, **made):
        c, d = config.channels, config.head_size
        self.heads, self.kv_heads, self.head_size, self.context = config.heads, config.kv_heads, d, config.context
        self.qkv = nn.Linear(c, (config.heads + 2 * config.kv_heads) * d, config.bias, **made)
        self.out = nn.Linear(config.heads * d, c, config.bias, **{**made, "std": std})
        self.stacks = {"qkv.weight": (config.heads * d, config.kv_heads * d, config.kv_heads * d)}

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
        self.stacks = {"up.weight": (config.hidden,) * (width // config.hidden)}

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
        attention = LatentAttention if config.latent else Attention
        if kind == "attention":
            self.attention = attention(config, std, **made)
        else:
            self.attention = RECURRENCES[kind](kind, config, std, **made)
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

    def loss(self, idx, targets, weights=None) -> Tensor:
        """Mean cross-entropy in nats per token, shape (). targets: integers (B, T); -1 does not count.

        weights: (B, T), how much each target counts in the gradient; the loss itself counts them all alike.
        """
        x = self._final(idx).reshape(-1, self.config.channels)  # (B T, C)
        targets = targets if isinstance(targets, Tensor) else np.asarray(targets)
        counted = None if weights is None else weights.reshape(-1)  # (B T)
        return functional.linear_cross_entropy(
            x, self.tokens.weight, self.head_bias, targets.reshape(-1), weights=counted
        )

    def new_cache(self) -> list:
        """An empty cache: for each layer its keys and values, (B, S, G, D) each, once there are any (key_values.py), or what a
        recurrence carries on, which does not grow (recurrent.py, state_space.py)."""
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
    """cos and sin of position * base^(-2 i / R), (context, R/2) each; R is D but for latent attention."""
    half = config.rotated // 2
    frequency = config.rope_base ** (-np.arange(half) / half)  # (R/2,)
    angle = np.arange(config.context)[:, None] * frequency[None, :]  # (T, R/2)
    return Tensor(np.cos(angle), dtype, device), Tensor(np.sin(angle), dtype, device)
