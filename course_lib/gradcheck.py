"""gradcheck: is the gradient that backward() gives the slope that finite differences show?

Central differences in float64: (f(x + h) - f(x - h)) / 2h errs by about h^2 f'''/6 + 1e-16 |f| / h, smallest near h = 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.tensor import Tensor, no_grad


class GradcheckError(AssertionError):
    """A gradient does not agree with the slope; the message names the worst element."""


def gradcheck(function: Callable[..., Tensor | tuple], inputs: Sequence, step: float = 1e-5, tolerance: float = 1e-6,
              device: str = "reference", seed: int = 0) -> float:  # fmt: skip
    """Compare the gradients of `function` with central differences, element by element, in float64.

    function: takes as many Tensors as there are inputs, gives a Tensor of any shape or a tuple of them; a random
    weighted sum makes a number of it. inputs: floating-point arrays, nested lists or Tensors (their values are taken).
    tolerance: allowed |analytic - numeric|, relative to the larger of 1 and |numeric|. Returns the largest error found.
    Raises GradcheckError naming the input, the element and both values where the error is largest.
    """
    values = [np.array(x.numpy() if isinstance(x, Tensor) else x, dtype=np.float64) for x in inputs]
    generator = np.random.default_rng(seed)
    weights: list[np.ndarray] = []

    def total(tensors: list[Tensor]) -> Tensor:
        results = function(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        if not all(isinstance(y, Tensor) for y in results):
            raise TypeError(
                f"gradcheck needs a function that returns a Tensor, or a tuple of them; this one returned "
                f"{', '.join(type(y).__name__ for y in results)}. Leave out float(), .item() and .numpy()."
            )
        if not weights:
            weights.extend(generator.uniform(0.5, 1.5, y.shape) for y in results)
        parts = [(y * Tensor(w, dtype="float64", device=device)).sum() for y, w in zip(results, weights, strict=True)]
        return sum(parts[1:], parts[0])

    leaves = [Tensor(x, dtype="float64", device=device, requires_grad=True) for x in values]
    loss = total(leaves)
    loss.backward()
    worst, message = 0.0, ""
    for number, (x, leaf) in enumerate(zip(values, leaves, strict=True)):
        analytic = np.zeros_like(x) if leaf.grad is None else leaf.grad.numpy()
        for index in np.ndindex(x.shape):
            before = x[index]
            slopes = []
            for moved in (before + step, before - step):
                x[index] = moved
                with no_grad():
                    slopes.append(total([Tensor(v, dtype="float64", device=device) for v in values]).item())
            x[index] = before
            numeric = (slopes[0] - slopes[1]) / (2 * step)
            error = abs(analytic[index] - numeric) / max(1.0, abs(numeric))
            if not error <= worst:  # also catches nan
                worst = error
                message = (
                    f"The gradient is wrong, worst at input {number}, element {tuple(int(i) for i in index)}: "
                    f"backward() gives {analytic[index]:.9g}, finite differences give {numeric:.9g} (relative error {error:.2g}, "
                    f"allowed {tolerance:.2g})."
                )
                if np.isnan(error):
                    raise GradcheckError(message)
    if worst > tolerance:
        raise GradcheckError(message)
    return worst
