"""Modules: parameters with a function on top.

A module finds its parameters in its own attributes: tensors that are leaves of the tape, other modules, and lists
of modules. Initialisation draws from one NumPy generator on the host, so that every device starts from the same weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from course_lib import functional
from course_lib.tensor import Tensor


class Module:
    """A function with parameters. Subclasses set attributes in `__init__` and write `forward`."""

    training = True
    stacks: Mapping[str, tuple[int, ...]] = MappingProxyType(
        {}
    )  # weights that are several matrices, one below the other: rows

    def __call__(self, *inputs, **settings):
        return self.forward(*inputs, **settings)

    def forward(self, *inputs, **settings):
        raise NotImplementedError(f"{type(self).__name__} needs a method forward(...).")

    def children(self) -> Iterator[tuple[str, Module]]:
        """Modules held directly, with the names of their attributes ("blocks.0" for those in a list)."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value
            elif isinstance(value, list | tuple):
                yield from ((f"{name}.{i}", item) for i, item in enumerate(value) if isinstance(item, Module))

    def named_modules(self, path: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, each with what its attributes' names begin with ("", "blocks.0.mlp.")."""
        yield path, self
        for name, child in self.children():
            yield from child.named_modules(f"{path}{name}.")

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter once, with its path; one that is shared (a tied head) goes by its first path."""
        seen: set[int] = set()
        for name, value in self._tensors():
            if value.requires_grad and id(value) not in seen:
                seen.add(id(value))
                yield name, value

    def _tensors(self) -> Iterator[tuple[str, Tensor]]:
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                yield name, value
        for name, child in self.children():
            yield from ((f"{name}.{inner}", value) for inner, value in child._tensors())

    def parameters(self) -> Iterator[Tensor]:
        return (p for _, p in self.named_parameters())

    def stacked(self) -> dict[str, tuple[int, ...]]:
        """Every weight that is several matrices in one, such as queries, keys and values: path -> the rows of each."""
        return {f"{path}{name}": rows for path, one in self.named_modules() for name, rows in one.stacks.items()}

    def parameter_count(self) -> int:
        return sum(p.size for p in self.parameters())

    def zero_grad(self) -> None:
        for p in self.parameters():
            p.grad = None

    def train(self, training: bool = True) -> Module:
        """Switch this module and all below it to training (dropout on), or with False to evaluation."""
        self.training = training
        for _, child in self.children():
            child.train(training)
        return self

    def eval(self) -> Module:
        return self.train(False)

    def state(self) -> dict[str, np.ndarray]:
        """A copy of every parameter, by path."""
        return {name: p.numpy() for name, p in self.named_parameters()}

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        """Take over parameters made by `state()`. Raises ValueError naming what is missing, too much or of another shape;
        then nothing is changed."""
        own = dict(self.named_parameters())
        missing, unknown = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
        if missing or unknown:
            raise ValueError(
                f"The saved weights do not fit this model: missing {missing or 'none'}, unknown {unknown or 'none'}."
            )
        for name, p in own.items():
            if tuple(state[name].shape) != p.shape:
                raise ValueError(
                    f"The saved {name!r} has the shape {tuple(state[name].shape)}, the model's has {p.shape}."
                )
        for name, p in own.items():
            p.storage.array = p.ops.from_numpy(np.ascontiguousarray(state[name], dtype=p.dtype))
            p.storage.version += 1


def parameter(values: np.ndarray, device: str = "cpu", dtype: str = "float32") -> Tensor:
    """A leaf of the tape from NumPy values."""
    return Tensor(values, dtype=dtype, device=device, requires_grad=True)


class Linear(Module):
    """y = x @ weight.T + bias: (*n, inputs) -> (*n, outputs). weight (outputs, inputs) from N(0, std), bias zero."""

    def __init__(self, inputs: int, outputs: int, bias: bool = True, std: float = 0.02,
                 rng: np.random.Generator | None = None, device: str = "cpu", dtype: str = "float32"):  # fmt: skip
        rng = rng or np.random.default_rng()
        self.weight = parameter(rng.normal(0.0, std, (outputs, inputs)), device, dtype)
        self.bias = parameter(np.zeros(outputs), device, dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight, self.bias)


class Embedding(Module):
    """A row of weight (entries, channels) for each index: (*n) -> (*n, channels). From N(0, std)."""

    def __init__(self, entries: int, channels: int, std: float = 0.02,
                 rng: np.random.Generator | None = None, device: str = "cpu", dtype: str = "float32"):  # fmt: skip
        rng = rng or np.random.default_rng()
        self.weight = parameter(rng.normal(0.0, std, (entries, channels)), device, dtype)

    def forward(self, indices) -> Tensor:
        return functional.embedding(self.weight, indices)


class LayerNorm(Module):
    """Rows to mean 0 and variance 1, times weight (starts at one) plus bias (starts at zero).

    With `residual`, the two are added first: returns (y, x + residual), both (*n, channels)."""

    def __init__(
        self, channels: int, bias: bool = True, eps: float = 1e-5, device: str = "cpu", dtype: str = "float32"
    ):
        self.weight = parameter(np.ones(channels), device, dtype)
        self.bias = parameter(np.zeros(channels), device, dtype) if bias else None
        self.eps = eps

    def forward(self, x: Tensor, residual: Tensor | None = None):
        if residual is None:
            return functional.layernorm(x, self.weight, self.bias, self.eps)
        return functional.residual_layernorm(x, residual, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Rows divided by their root mean square, times weight (starts at one). `residual` as in LayerNorm."""

    def __init__(self, channels: int, eps: float = 1e-5, device: str = "cpu", dtype: str = "float32"):
        self.weight = parameter(np.ones(channels), device, dtype)
        self.eps = eps

    def forward(self, x: Tensor, residual: Tensor | None = None):
        if residual is None:
            return functional.rmsnorm(x, self.weight, self.eps)
        total = x + residual
        return functional.rmsnorm(total, self.weight, self.eps), total


class RandomBits:
    """What dropout draws from: a device array (seed low, seed high, step), so that a step's bits depend on nothing else."""

    def __init__(self, device: str = "cpu", seed: int = 0):
        from course_lib.devices import ops

        self.ops = ops(device)
        self.set_step(seed, 0)

    def set_step(self, seed: int, step: int) -> None:
        """Choose the bits of this step; the same (seed, step) gives the same bits on every device."""
        self.array = None  # its memory may serve the new one
        self.array = self.ops.from_numpy(random_words(seed, step))


def random_words(seed: int, step: int) -> np.ndarray:
    """uint32 (3): seed low, seed high, step."""
    return np.array([seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF, step & 0xFFFFFFFF], dtype=np.uint32)


class Dropout(Module):
    """In training, zeroes elements with `probability` and scales the rest up; in evaluation, nothing. (Srivastava et al. 2014)

    random: shared by all dropouts of a model; site: tells this one from the others."""

    def __init__(self, probability: float, random: RandomBits | None = None, site: int = 0):
        if not 0.0 <= probability < 1.0:
            raise ValueError(f"Dropout needs a probability from 0 up to, but not including, 1; it got {probability}.")
        self.probability, self.site = probability, site
        self.random = random or RandomBits()

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.probability == 0.0:
            return x
        return functional.dropout(x, self.probability, self.random.array, self.site)


class Sequential(Module):
    """Modules (or plain functions) one after the other."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def forward(self, x: Tensor) -> Tensor:
        for step in self.steps:
            x = step(x)
        return x
