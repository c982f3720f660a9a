"""Optimisers and the learning-rate schedule. They change parameters in place, off the tape.

What changes from step to step goes to the device in one small array, so that a step can be captured as a graph.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from course_lib.tensor import Tensor, tensor_from_array


def warmup_linear(step: int, steps: int, peak: float, lowest: float, warmup: int) -> float:
    """Learning rate of `step` (0, 1, ...): a straight rise to `peak` over `warmup` steps, then a straight line to `lowest`.

    (Bergsma et al. 2025, "Straight to zero")
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = min((step - warmup) / max(steps - warmup, 1), 1.0)
    return peak + (lowest - peak) * progress


def warmup_cosine(step: int, steps: int, peak: float, lowest: float, warmup: int) -> float:
    """The same rise, then half a cosine. (Loshchilov and Hutter 2017)"""
    if step < warmup:
        return warmup_linear(step, steps, peak, lowest, warmup)
    progress = min((step - warmup) / max(steps - warmup, 1), 1.0)
    return lowest + (peak - lowest) * (1 + math.cos(math.pi * progress)) / 2


class Optimiser:
    """What SGD and AdamW have in common: named parameters, zero_grad, and a state that a checkpoint can hold."""

    def __init__(self, named_parameters: Iterable[tuple[str, Tensor]]):
        self.named_parameters = list(named_parameters)
        if not self.named_parameters:
            raise ValueError("The optimiser got no parameters. Pass model.named_parameters().")
        self.parameters = [p for _, p in self.named_parameters]
        self.ops = self.parameters[0].ops
        self.steps = 0

    def zero_grad(self) -> None:
        """Forget all gradients; without this they add up over backward() calls."""
        for p in self.parameters:
            p.grad = None

    def gradients(self) -> list:
        """One device array for each parameter. Raises RuntimeError naming a parameter that has no gradient."""
        for name, p in self.named_parameters:
            if p.node.gradient is None:
                raise RuntimeError(f"The parameter {name!r} has no gradient: call loss.backward() before step().")
        return [p.node.gradient for p in self.parameters]

    def moments(self) -> dict[str, list]:
        """Lists of device arrays, one array for each parameter, that belong to the state."""
        return {}

    def state(self) -> dict[str, np.ndarray]:
        """Everything a resumed run needs, as NumPy arrays."""
        arrays = {"steps": np.array(self.steps)}
        for kind, moments in self.moments().items():
            for (name, _), moment in zip(self.named_parameters, moments, strict=True):
                arrays[f"{kind}.{name}"] = np.array(self.ops.to_numpy(moment))
        return arrays

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        """Take over a state made by `state()`. Raises ValueError naming what is missing or has another shape."""
        for kind, moments in self.moments().items():
            for i, (name, p) in enumerate(self.named_parameters):
                saved = state.get(f"{kind}.{name}")
                if saved is None or saved.shape != p.shape:
                    found = "nothing" if saved is None else f"shape {saved.shape}"
                    raise ValueError(
                        f"The saved optimiser state has {found} for {kind}.{name}; expected shape {p.shape}."
                    )
                moments[i] = self.ops.from_numpy(np.ascontiguousarray(saved))
        self.steps = int(state["steps"])


class SGD(Optimiser):
    """p <- p - learning_rate * gradient, with momentum if asked for: v <- momentum v + gradient, p <- p - learning_rate v."""

    def __init__(self, named_parameters: Iterable[tuple[str, Tensor]], momentum: float = 0.0):
        super().__init__(named_parameters)
        self.momentum = momentum
        self.velocity = [self.ops.zeros(p.shape, p.dtype) for p in self.parameters] if momentum else []

    def moments(self) -> dict[str, list]:
        return {"velocity": self.velocity} if self.momentum else {}

    def step(self, learning_rate: float) -> None:
        """One step along the gradients that backward() left."""
        ops = self.ops
        for i, (p, gradient) in enumerate(zip(self.parameters, self.gradients(), strict=True)):
            if self.momentum:
                gradient = self.velocity[i] = ops.add(ops.multiply(self.velocity[i], self.momentum), gradient)
            values = p.storage.array
            ops.subtract(values, ops.multiply(gradient, learning_rate), out=values)
            p.storage.version += 1
        self.steps += 1


class AdamW(Optimiser):
    """Adam with decoupled weight decay, and clipping by the global norm. (Kingma and Ba 2015; Loshchilov and Hutter 2019)

    weight_decay applies to parameters with two axes or more (matrices), not to biases and norms. max_norm: gradients are
    scaled down together so that the norm of all of them is at most this; None does not clip.
    """

    def __init__(self, named_parameters: Iterable[tuple[str, Tensor]], betas: tuple[float, float] = (0.9, 0.95),
                 eps: float = 1e-8, weight_decay: float = 0.1, max_norm: float | None = 1.0):  # fmt: skip
        super().__init__(named_parameters)
        self.betas, self.eps, self.max_norm = betas, eps, max_norm
        self.weight_decay = [weight_decay if p.ndim >= 2 else 0.0 for p in self.parameters]
        self.first = [self.ops.zeros(p.shape, p.dtype) for p in self.parameters]
        self.second = [self.ops.zeros(p.shape, p.dtype) for p in self.parameters]

    def moments(self) -> dict[str, list]:
        return {"first": self.first, "second": self.second}

    def step(self, learning_rate: float) -> float:
        """One step along the gradients that backward() left. Returns their global norm before clipping."""
        norm = self.update(self.ops.from_numpy(self.next_settings(learning_rate)))
        return tensor_from_array(norm, self.ops).item()

    def next_settings(self, learning_rate: float) -> np.ndarray:
        """Count a step; what it differs in from others: learning rate, 1 - beta1^t, 1 - beta2^t, for `update`."""
        self.steps += 1
        corrections = [1 - beta**self.steps for beta in self.betas]
        return np.array([learning_rate, *corrections], dtype=self.parameters[0].dtype)

    def update(self, settings, norm=None):
        """The part of a step that is the device's alone: settings is a device array (3). norm: (1), of all gradients if
        there are others than those of this optimiser. Returns the norm."""
        ops, (beta1, beta2), gradients = self.ops, self.betas, self.gradients()
        norm = ops.global_norm(gradients) if norm is None else norm
        ops.adamw_step(
            [p.storage.array for p in self.parameters], gradients, self.first, self.second, settings,
            norm if self.max_norm else None, beta1=beta1, beta2=beta2, eps=self.eps, weight_decay=self.weight_decay,
            max_norm=self.max_norm or 0.0,
        )  # fmt: skip
        for p in self.parameters:
            p.storage.version += 1
        return norm


class Muon(Optimiser):
    """Muon for matrices, AdamW for all other parameters. (Jordan et al. 2024)

    The gradients of a matrix (N, K) are summed as momentum, m <- momentum m + gradient. The step is along the polar factor
    of gradient + momentum m (Nesterov), which has the same singular vectors, and singular values of about 1: so directions
    that rarely show in a gradient are learned as fast as the loud ones. It is sqrt(max(1, N / K)) times as long for a tall
    matrix. What is left of a gradient is its direction, so matrices need no clipping.

    matrices: the names of those parameters. rate: their learning rate, as a multiple of AdamW's. weight_decay: of the
    matrices, and of AdamW's. stacked: the rows of each part of a parameter that is several matrices, one below the other; each
    part has a polar factor of its own, for in that of queries, keys and values together the loudest leave little to the others.
    settings: the other arguments of AdamW. Raises ValueError if a matrix has not two axes, or parts have not all its rows.
    """

    def __init__(self, named_parameters: Iterable[tuple[str, Tensor]], matrices: Collection[str], rate: float = 1.0,
                 momentum: float = 0.95, polar_steps: int = 3, weight_decay: float = 0.1,
                 stacked: Mapping[str, Sequence[int]] | None = None, **settings):  # fmt: skip
        named = list(named_parameters)
        super().__init__([(name, p) for name, p in named if name in matrices])
        self.rest = AdamW(
            [(name, p) for name, p in named if name not in matrices], weight_decay=weight_decay, **settings
        )
        for name, p in self.named_parameters:
            if p.ndim != 2:
                raise ValueError(f"Muon takes steps along polar factors of matrices; {name!r} has shape {p.shape}.")
        self.rate, self.momentum, self.polar_steps, self.weight_decay = rate, momentum, polar_steps, weight_decay
        self.sums = [self.ops.zeros(p.shape, p.dtype) for p in self.parameters]
        # matrices of one shape share the products of their polar factors: (number of the parameter, first row) of each
        self.groups: dict[tuple, list[tuple[int, int]]] = {}
        for number, (name, p) in enumerate(self.named_parameters):
            rows = (stacked or {}).get(name, p.shape[:1])
            if sum(rows) != p.shape[0]:
                raise ValueError(f"The parts of {name!r} have {sum(rows)} rows, but its shape is {p.shape}.")
            for part, first in zip(rows, itertools.accumulate(rows, initial=0), strict=False):
                if part:
                    self.groups.setdefault((part, p.shape[1]), []).append((number, first))
        dtype = self.parameters[0].dtype
        self.identities = {shape: self.ops.from_numpy(np.eye(min(shape), dtype=dtype)) for shape in self.groups}

    def zero_grad(self) -> None:
        super().zero_grad()
        self.rest.zero_grad()

    def moments(self) -> dict[str, list]:
        return {"momentum": self.sums}

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | self.rest.state()

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        super().load_state(state)
        self.rest.load_state(state)

    step = AdamW.step

    def next_settings(self, learning_rate: float) -> np.ndarray:
        """Count a step; what `update` reads of it, as AdamW has it."""
        self.steps += 1
        return self.rest.next_settings(learning_rate)

    def update(self, settings, norm=None):
        """The part of a step that is the device's alone, as AdamW has it. Returns the norm, one (1)."""
        ops, gradients = self.ops, self.gradients()
        norm = ops.global_norm(gradients + self.rest.gradients()) if norm is None else norm
        self.rest.update(settings, norm)
        rate = ops.multiply(ops.view(settings, (1,)), self.rate)  # (1,)
        kept = ops.subtract(1.0, ops.multiply(rate, self.weight_decay))  # (1,)
        ahead, moves = (
            [],
            [{} for _ in self.parameters],
        )  # of each parameter: (N, K), and the first row of each part -> (n, K)
        for p, total, gradient in zip(self.parameters, self.sums, gradients, strict=True):
            ops.add(ops.multiply(total, self.momentum, out=total), gradient, out=total)
            ahead.append(ops.add(ops.multiply(total, self.momentum), gradient))
            ops.multiply(p.storage.array, kept, out=p.storage.array)
            p.storage.version += 1
        for (N, K), members in self.groups.items():
            stack = ops.concatenate([ops.view(ahead[i], (1, N, K), first * K) for i, first in members], 0)  # (L, N, K)
            length = ops.multiply(rate, max(1.0, N / K) ** 0.5)  # (1,)
            changes = polar_factor(ops, stack, self.identities[N, K], self.polar_steps, length)  # (L, N, K)
            for number, (i, first) in enumerate(members):
                moves[i][first] = ops.view(changes, (N, K), number * N * K)
        for p, parts in zip(self.parameters, moves, strict=True):
            # put together: a view of some rows is a copy on a device whose buffers begin at certain addresses alone
            move = ops.concatenate([parts[first] for first in sorted(parts)], 0) if len(parts) > 1 else parts[0]
            ops.subtract(p.storage.array, move, out=p.storage.array)
        return norm


# a, b, c of each polar step: the best for singular values of 0.001 to 1. (Amsel et al. 2025, "The Polar Express", section 3)
POLAR_STEPS = (
    (8.287212, -23.595887, 17.300387),
    (4.107059, -2.947850, 0.544843),
    (3.948691, -2.908902, 0.551819),
    (3.318420, -2.488488, 0.510049),
    (2.300652, -1.668904, 0.418807),
)


def polar_factor(ops, matrices, identity, steps: int = 3, scale=1.0):
    """About scale * U V^T of device arrays (..., N, K) with the singular value decomposition U S V^T, by products alone.

    A step takes X to (a + b X X^T + c (X X^T)^2) X. The factors before X are polynomials of one matrix, X X^T of the first X,
    so they commute: they are multiplied with each other, M x M with M the smaller of N and K, and meet the matrix once at
    the end. identity: (M, M). scale: a number or a device array (1). At most five steps.
    """
    tall = matrices.shape[-2] > matrices.shape[-1]
    A = ops.matmul(matrices, matrices, transpose_a=tall, transpose_b=not tall)  # (..., M, M)
    square = ops.sum(ops.multiply(A, identity), (-2, -1), keepdims=True)  # (..., 1, 1): of the norm, the trace of X X^T
    square = ops.add(square, 1e-30)  # a matrix of zeros stays one
    A = ops.divide(A, square, out=A)
    factor = None
    for number, (a, b, c) in enumerate(POLAR_STEPS[:steps], 1):
        P = ops.matmul(A, A)  # (..., M, M)
        P = ops.add(ops.multiply(P, c, out=P), ops.multiply(A, b), out=P)
        P = ops.add(P, ops.multiply(identity, a), out=P)
        factor = P if factor is None else ops.matmul(P, factor)
        if number < steps:
            A = ops.matmul(ops.matmul(P, A), P)
    factor = ops.multiply(factor, ops.divide(scale, ops.sqrt(square)), out=factor)
    return ops.matmul(matrices, factor) if tall else ops.matmul(factor, matrices)  # (..., N, K)
