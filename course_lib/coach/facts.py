"""What can be said of a wrong result without knowing the exercise: facts that were tested, never guesses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.coach import unwritten
from course_lib.coach.compare import difference, plain
from course_lib.coach.outcome import Outcome


def about(outcome: Outcome, tolerance: float) -> str:
    """One sentence about a failing case, or nothing. Of a part of the result it names the part first."""
    sentence = _about(outcome, tolerance)
    place = outcome.difference.where if outcome.difference is not None else ""
    return f"{outcome.difference.part}: {sentence}" if sentence and place else sentence


def _about(outcome: Outcome, tolerance: float) -> str:
    got, expected = plain(outcome.got), plain(outcome.expected)
    if outcome.difference is None:
        return ""
    if got is None and expected is not None:
        return "Your code gives nothing back: does every way through it end in `return`?"
    if outcome.difference.where:
        got, expected = plain(outcome.difference.got), plain(outcome.difference.expected)
    if not isinstance(expected, np.ndarray) or not isinstance(got, np.ndarray | int | float):
        return _of_numbers(got, expected, tolerance)
    got = np.asarray(got)
    if got.dtype.kind not in "fiub" or expected.dtype.kind not in "fiub":
        return ""
    if got.shape != expected.shape:
        return _of_shapes(got, expected, tolerance)
    if got.size and expected.dtype.kind in "fi" and expected.all() and np.array_equal(got, -expected):
        return "The sign of every element is wrong." if got.size > 1 else "The size is right and the sign is not."
    if got.ndim == 2 and got.shape[0] == got.shape[1] and _same(got.T, expected, tolerance):
        return "These are the right numbers, transposed: rows and columns have changed places."
    if words := unwritten.note(got, outcome):
        return words
    if np.isnan(got).any() and not np.isnan(expected).any():
        count = int(np.isnan(got).sum())
        which = "1 element is" if count == 1 else f"{count:,} elements are"
        return f"{which} nan: not a number, as 0/0 and inf - inf give, or a value that nobody has written."
    if np.isinf(got).any() and not np.isinf(expected).any():
        return "Some elements are infinite: a number grew too large for its type, or was divided by zero."
    if got.size > 1 and not got.any() and expected.any():
        return "Every element is zero."
    if got.size > 2 and _same(got[::-1], expected, tolerance):
        return "These are the right numbers in the reverse order."
    if _same(np.sort(got, None), np.sort(expected, None), tolerance) and got.size > 2 and np.ptp(expected):
        return "These are the right numbers in the wrong places."
    if got.size > 2 and np.array_equal(got, np.trunc(expected)):
        return "These are the right numbers without what stands behind their point: an `int` holds whole numbers only."
    return _of_factor(got, expected, tolerance)


def changed_inputs(outcome: Outcome, names: Sequence[str] = ()) -> str:
    """A sentence about inputs that were altered, or nothing. names: of all inputs."""
    if not outcome.changed:
        return ""
    which = " and ".join(f"`{names[i]}`" if i < len(names) else f"Input {i + 1}" for i in outcome.changed)
    was = "was" if len(outcome.changed) == 1 else "were"
    return f"{which} {was} changed by your code: what is given is only to be read. Work on a copy, or make a new array."


def _of_numbers(got, expected, tolerance: float) -> str:
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    if not numbers or isinstance(got, bool) or isinstance(expected, bool):
        return ""
    if expected and abs(got + expected) <= tolerance * max(1.0, abs(expected)):
        return "The size is right and the sign is not."
    return ""


def _of_shapes(got: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    if got.T.shape == expected.shape and _same(got.T, expected, tolerance):
        return "These are the right numbers, transposed: the axes stand in the reverse order."
    if got.size == expected.size and _same(got.ravel(), expected.ravel(), tolerance):
        return f"These are the right numbers in another shape: {got.shape}, expected {expected.shape}."
    return ""


def _of_factor(got: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    wide, wanted = got.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(wide).all() and np.isfinite(wanted).all()) or np.count_nonzero(wanted) < 3:
        return ""
    largest = np.unravel_index(np.abs(wanted).argmax(), wanted.shape)
    factor = wide[largest] / wanted[largest]
    if factor and np.ptp(np.abs(wanted)) and _same(wide, factor * wanted, tolerance):
        return (
            "The sign of every element is wrong."
            if abs(factor + 1) < 1e-3
            else f"Every element is {factor:.4g} times what it should be."
        )
    shift = (wide - wanted).mean()
    if np.ptp(wanted) and _same(wide, wanted + shift, tolerance):
        return f"Every element is {abs(shift):.4g} too {'large' if shift > 0 else 'small'}."
    return ""


def _same(a, b, tolerance: float) -> bool:
    return difference(a, b, tolerance) is None
