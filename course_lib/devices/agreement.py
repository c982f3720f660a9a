"""How far the forms of a linear recurrence, and the devices, are from each other: the table of chapter 23, which tests ask too.

All is compared with the loop of devices/reference/recurrences.py in float64. Gradients are compared with finite differences along
one random direction: of a form, which has no backward pass of its own, its own small steps with the loop's gradient; of a device,
its gradient with small steps of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import available_devices, ops
from .reference import recurrence_forms

NAMES = ("gated_linear_attention", "gated_delta", "state_space")
FORMS = ("parallel", "chunked")
STEP = 1e-5


@dataclass(frozen=True)
class Row:
    """Largest differences of y and the last state, relative to the largest number there, in both dtypes (None where a device has
    no float64); and of the slope along the direction, relative to the length of the gradient, the size of most such slopes."""

    op: str
    by: str  # a form, or a device
    float32: float
    float64: float | None
    gradient: float


def inputs(name: str, B=1, H=2, T=37, D=8, E=5, dtype="float64", seed=0, carried=True) -> list:
    """Of an op, up to the state, which is None if it is not `carried` over: keys of length 1, decays of many strengths."""
    random = np.random.default_rng(seed)
    q, k, v = random.normal(size=(B, H, T, D)), random.normal(size=(B, H, T, D)), random.normal(size=(B, H, T, E))
    q, k = q / D**0.5, k / np.linalg.norm(k, axis=-1, keepdims=True)
    g = -np.exp(random.uniform(-6, 2, size=(B, H, T) if name == "state_space" else (B, H, T, D)))
    rates = [random.uniform(size=(B, H, T)) for _ in range(NAMES.index(name))]  # beta; or gamma and weight
    state = random.normal(size=(B, H, D, E)) if carried else None
    return [None if x is None else x.astype(dtype) for x in (q, k, v, g, *rates, state)]


def by_form(form: str, name: str, given: list, **chunk) -> tuple:
    """y (B, H, T, E) and the last state (B, H, D, E) by a form of recurrence_forms.py."""
    if name == "state_space":
        return getattr(recurrence_forms, f"state_space_{form}")(*given, **chunk)
    *rest, state = given if name == "gated_delta" else (*given[:-1], None, given[-1])  # no beta
    return getattr(recurrence_forms, form)(*rest, state, **chunk)


def by_device(device: str, name: str, given: list, upstream: list | None = None) -> tuple[list, list]:
    """y and the last state; and, from upstream gradients of both, the gradients of what is given."""
    table = ops(device)
    arrays = [table.from_numpy(x) for x in given]
    y, last, kept = getattr(table, f"{name}_forward")(*arrays)
    gradients = []
    if upstream:
        gradients = getattr(table, f"{name}_backward")(*(table.from_numpy(x) for x in upstream), *arrays, kept)
    return [table.to_numpy(x) for x in (y, last)], [table.to_numpy(x) for x in gradients]


def rows(name: str, devices: list[str] | None = None, seed: int = 0) -> list[Row]:
    """Of an op, a row for each form and for each device, by default all that this machine has."""
    given, random = inputs(name, seed=seed), np.random.default_rng(seed + 1)
    want, _ = by_device("reference", name, given)
    upstream, along = ([random.normal(size=x.shape) for x in arrays] for arrays in (want, given))

    def small_steps(results):
        """The slope along the direction, by what gives y and the last state of all that is given."""
        ends = [results([x + h * d for x, d in zip(given, along, strict=True)]) for h in (STEP, -STEP)]
        return inner([above - below for above, below in zip(*ends, strict=True)], upstream) / (2 * STEP)

    def narrow(arrays):
        return [x.astype(np.float32) for x in arrays]

    _, gradients = by_device("reference", name, given, upstream)
    analytic, length = inner(gradients, along), inner(gradients, gradients) ** 0.5
    found = []
    for form in FORMS:
        slope = small_steps(lambda x, form=form: by_form(form, name, x))
        single, double = by_form(form, name, narrow(given)), by_form(form, name, given)
        found.append(
            Row(name, form, difference(single, want), difference(double, want), abs(analytic - slope) / length)
        )
    slope = small_steps(lambda x: by_device("reference", name, x)[0])
    for device in devices or available_devices():
        single, gradients = by_device(device, name, narrow(given), narrow(upstream))
        double = None
        if device in ("reference", "cpu"):  # gradients by float64 as well, the others compute in float32 alone
            results, gradients = by_device(device, name, given, upstream)
            double = difference(results, want)
        error = abs(inner(gradients, along) - slope) / length
        found.append(Row(name, device, difference(single, want), double, error))
    return found


def inner(arrays: list, others: list) -> float:
    return sum(float((x.astype(np.float64) * y).sum()) for x, y in zip(arrays, others, strict=True))


def difference(got: list, want: list) -> float:
    return max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in zip(got, want, strict=True))
