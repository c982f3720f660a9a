"""The parts of a kernel's results, case by case: what came, what is right, and which elements are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.coach import compare
from course_lib.coach.outcome import Outcome

CLOSE = 2e-4  # of values that were computed by different ways


@dataclass(frozen=True)
class Part:
    """One part of a result in one case: got and expected, arrays of one shape, and which elements are wrong."""

    outcome: Outcome
    got: np.ndarray
    expected: np.ndarray
    wrong: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.expected.shape


def parts(outcomes: Sequence[Outcome], tolerance: float) -> Iterator[tuple[str, list[Part], list[Part]]]:
    """Each part of the result that is wrong somewhere: its name, as it is in the cases where it is wrong, and where it is right.

    Nothing where it has not come in a failing case.
    """
    failing = [outcome for outcome in outcomes if not outcome.right]
    if not failing or any(o.error or o.difference is None for o in failing):
        return
    first = failing[0]
    many = len(first.expected) if isinstance(first.expected, tuple) else 0
    for place in range(many) if many else (None,):
        found: tuple[list[Part], list[Part]] = ([], [])
        for outcome in outcomes:
            got, expected = outcome.got, outcome.expected
            if outcome.error:
                continue
            if place is not None:
                if isinstance(expected, tuple) and len(expected) <= place:
                    continue  # this case has no such part
                if not all(isinstance(x, tuple | list) and len(x) > place for x in (got, expected)):
                    return
                got, expected = got[place], expected[place]
            if not isinstance(got, np.ndarray) or not isinstance(expected, np.ndarray):
                continue
            if got.shape != expected.shape or got.dtype.kind not in "fiub" or not expected.ndim:
                break
            wrong = ~compare.close(got, expected, tolerance)
            found[not wrong.any()].append(Part(outcome, got, expected, wrong))
        else:
            if found[0]:
                yield "" if place is None else f"result[{place}]", *found


def block(outcome: Outcome) -> set[int]:
    """Sizes of the blocks that were launched: each dimension, and all threads together."""
    found = {tuple(report.block) for report in outcome.reports if hasattr(report, "block")}
    return {int(size) for sizes in found for size in (*sizes, np.prod(sizes))} - {0}


def near(a: Any, b: Any, scale: Any = None) -> bool:
    """Whether all of two arrays are equal, relative to the larger of 1e-3 and what is expected."""
    scale = np.abs(b) if scale is None else scale
    return bool(np.all(np.isfinite(a) & np.isfinite(b)) and np.all(np.abs(a - b) <= CLOSE * np.maximum(scale, 1e-3)))


def which(wrong: Sequence[Part]) -> str:
    return "Every element" if all(part.wrong.all() for part in wrong) else "Every wrong element"


def values(part: Part) -> tuple[np.ndarray, np.ndarray]:
    return part.got[part.wrong].astype(np.float64), part.expected[part.wrong].astype(np.float64)


def quantities(part: Part, names: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Numbers that a case knows, with their names."""
    for i, name in enumerate(names[: len(part.outcome.inputs)]):
        x = part.outcome.inputs[i]
        if isinstance(x, int | float) and not isinstance(x, bool):
            yield f"`{name}`", float(x)
        if isinstance(x, np.ndarray):
            if x.size == 1:
                yield f"the number in `{name}`", float(x.ravel()[0])
            words = (
                ["elements"]
                if x.ndim == 1
                else [*(f"elements along axis {a}" for a in range(x.ndim - 2)), "rows", "columns"]
            )
            for word, size in zip(words, x.shape, strict=True):
                yield f"the number of {word} of `{name}`", float(size)
    for size in sorted(block(part.outcome)):
        if size > 1:
            yield "the number of threads of a block, or of one of its dimensions", float(size)
    for size in (2, 3, 4, 8, 16, 32, 64):
        yield str(size), float(size)
