"""What decides the shape of a model, the presets by name, and what both cost: parameters and operations."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from course_lib.latent import LatentAttention
from course_lib.recurrent import Recurrent
from course_lib.state_space import StateSpace

RECURRENCES = {"linear": Recurrent, "delta": Recurrent, "state_space": StateSpace}
MIXERS = "attention", *RECURRENCES
# Products with each number of the state in a step: decay, write, read; the delta rule reads what it is to replace, too.
PRODUCTS = {"linear": 3, "delta": 4, "state_space": 3}


@dataclass
class GPTConfig:
    """Everything that decides the shape of a model."""

    layers: int
    heads: int  # H
    channels: int  # C; D = C / H
    context: int  # T: the longest sequence
    vocab_size: int  # V
    kv_heads: int = 0  # G; 0 means as many as heads
    latent: int = 0  # K: keys and values come from K numbers, which are cached (latent.py); 0: each has its own
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
        if self.latent and (self.latent < 0 or self.positions != "rope" or self.kv_heads != self.heads):
            raise ValueError(
                f"GPTConfig: latent is {self.latent}; it is how many numbers the keys and values of all heads come from, with "
                f"positions 'rope' and without kv_heads. Here they are {self.positions!r} and {self.kv_heads}, for {self.heads} "
                "heads."
            )
        if self.positions == "rope" and self.rotated % 2:
            raise ValueError(
                f"GPTConfig: RoPE rotates pairs, so the rotated numbers of a head must be even; they are {self.rotated} of "
                f"{self.head_size}."
            )
        if "state_space" in self.mixer_list and self.head_size % 2:
            raise ValueError(
                f"GPTConfig: a state space rotates pairs, so the numbers of a head must be even; they are {self.head_size}."
            )

    @property
    def head_size(self) -> int:
        return self.channels // self.heads

    @property
    def rotated(self) -> int:
        """R: how many numbers of a head RoPE rotates."""
        return self.head_size // 2 if self.latent else self.head_size

    @property
    def cached_shape(self) -> tuple[int, int, int]:
        """What a block with attention caches for a token: arrays, heads of each, numbers of a head."""
        return (1, 1, self.latent + self.rotated) if self.latent else (2, self.kv_heads, self.head_size)

    @property
    def mixer_list(self) -> list[str]:
        """What mixes the positions in each block: "attention", or a recurrence."""
        words = self.mixers.split()
        return [words[number % len(words)] for number in range(self.layers)]

    @property
    def unbounded(self) -> bool:
        """Whether the model reads beyond its context: nothing in it grows with the text, nor counts its positions."""
        return "attention" not in self.mixer_list and self.positions == "none"

    def needs_attention(self, what: str, latent: bool = False) -> None:
        """Raises ValueError where a block has no attention, or latent attention if that is not known either."""
        if self.latent and not latent:
            raise ValueError(f"{what} knows no latent attention; the latent of this model is {self.latent}.")
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
        qkv = self.heads * d + (self.latent + self.rotated if self.latent else 2 * self.kv_heads * d)
        recurrent = [kind for kind in self.mixer_list if kind != "attention"]
        attending = layers - len(recurrent)
        up = self.hidden * (2 if self.activation == "swiglu" else 1)
        norm = c * (1 + (bias if self.norm == "layernorm" else 0))
        rows = [("token embedding (also the head)", self.vocab_size * c)]
        if self.positions == "learned":
            rows.append(("position embedding", self.context * c))
        rows += [
            ("attention: queries, keys, values", attending * (c * qkv + bias * qkv)),
            ("attention: up from the latent", attending * self.latent * (self.heads * (2 * d - self.rotated) + 1)),
            ("attention: output", attending * (self.heads * d * c + bias * c)),
            (
                "recurrences",
                sum(RECURRENCES[kind].parameter_count_of(kind, c, self.heads, self.bias) for kind in recurrent),
            ),
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
                ungrouped = self.channels * (2 * self.heads + 2 * self.kv_heads) * d  # q, out; k, v
                weights += LatentAttention.weights_of(self) if self.latent else ungrouped
                other += 12 * self.channels * self.context // 2
            else:
                weights += RECURRENCES[kind].weights_of(kind, self.channels, self.heads)
                other += 6 * PRODUCTS[kind] * self.channels * d
        return 6 * weights + other


PRESETS: dict[str, dict] = {
    # Speaks after the shortest training, and trains on the simulator.
    "micro": {"layers": 2, "heads": 2, "channels": 64, "context": 256, "vocab_size": 1024, "positions": "rope"},
    # Readable stories on a CPU: many small steps beat few large ones.
    "small": {"layers": 3, "heads": 3, "channels": 96, "context": 192, "vocab_size": 2048, "positions": "rope"},
    # The reference: 12,322,816 parameters.
    "12m": {"layers": 6, "heads": 6, "channels": 384, "context": 256, "vocab_size": 4096},
    # The same size with the four changes of a modern model.
    "modern-12m": {"layers": 6, "heads": 6, "kv_heads": 2, "channels": 384, "hidden": 1216, "context": 256, "vocab_size": 4096,
                       "norm": "rmsnorm", "activation": "swiglu", "positions": "rope", "bias": False},
    # As large as modern-12m and the same but for attention: a token's cache is half as large, and a sixth of that of 12m.
    "latent-12m": {"layers": 6, "heads": 6, "latent": 96, "channels": 384, "hidden": 1216, "context": 256, "vocab_size": 4096,
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
