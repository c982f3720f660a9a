"""For which other inputs are wrong results right? The reference is asked with one input changed, or a part of an axis left out.

A change that gives what came in all failing cases, two at least, and leaves the right cases as they are, is said: it is no guess
that the kernel computes as if its inputs were those.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.coach import compare
from course_lib.coach.other_inputs import Change, changes
from course_lib.coach.outcome import Outcome

SECONDS = 0.2  # of processor time, for all changes together
WHOLE = -1  # the number of no part
MANY = 8  # different numbers, all of them explained: then one case is no coincidence


def says(
    outcomes: Sequence[Outcome],
    reference: Callable,
    names: Sequence[str],
    tolerance: float,
    results: Sequence[str] = (),
) -> str:
    """A sentence about the first change that explains all outcomes; "" if none does, or if it takes too long to find out.

    Where none explains the whole result, one that explains a part of it. results: the names of the parts.
    """
    failing = [o for o in outcomes if not o.right]
    if any(o.error or o.difference is None for o in failing) or len(names) != len(failing[0].inputs):
        return ""
    failing.sort(key=_effort)
    if len(failing) == 1 and not _tells_much(failing[0], tolerance):
        return ""
    asked = Asked(reference, time.process_time() + SECONDS)
    first, *others = failing
    of_failing = ""  # a change that is none of the right cases'
    tried: dict[bytes, set[int]] = {}  # of the first case, where many changes are one: what of the result it gives
    for words, change in changes(failing, names):
        inputs = _changed(change, first)
        if inputs is None:
            continue
        if (key := _key(inputs)) not in tried:
            if asked.is_over:
                break
            tried[key] = _explained(first, asked(inputs), tolerance)
        same = tried[key]
        for outcome in others:
            same = same and same & _explained(outcome, asked(_changed(change, outcome)), tolerance)
        if not same or not _differ(failing, tolerance):
            continue
        if WHOLE in same and _keeps(change, outcomes, asked, tolerance):
            return words
        if (WHOLE in same or len(failing) > 1) and not of_failing:
            place = min(same)
            name = "" if place == WHOLE else f"{results[place] if place < len(results) else f'result[{place}]'}: "
            if any(_tells_much(outcome, tolerance) for outcome in failing):
                of_failing = name + words.replace("These are", "In all failing cases these are", 1)
    return of_failing


def _explained(outcome: Outcome, result: Any, tolerance: float) -> set[int]:
    """What of a failing case a changed input explains: WHOLE, or the numbers of wrong parts."""
    got, expected = outcome.got, outcome.expected
    if result is None:
        return set()
    if not compare.difference(got, result, tolerance):
        return {WHOLE, *range(len(got) if isinstance(got, tuple | list) else 0)}
    tuples = all(isinstance(x, tuple | list) for x in (got, expected, result))
    if not tuples or len({len(got), len(expected), len(result)}) > 1:
        return set()
    return {
        i
        for i, (came, wanted, given) in enumerate(zip(got, expected, result, strict=True))
        if not compare.difference(came, given, tolerance) and compare.difference(came, wanted, tolerance)
    }


class Asked:
    """The reference, for changed inputs: None where it cannot be asked."""

    def __init__(self, reference: Callable, until: float):
        self.reference, self.until = reference, until

    @property
    def is_over(self) -> bool:
        return time.process_time() > self.until

    def __call__(self, inputs: tuple | None) -> Any:
        if inputs is None:
            return None
        try:
            with np.errstate(all="ignore"):
                return self.reference(*(x.copy() if isinstance(x, np.ndarray) else copy.deepcopy(x) for x in inputs))
        except Exception:  # inputs that belong together fit no longer
            return None


def _effort(outcome: Outcome) -> tuple[bool, int]:
    """Small cases first, but not those of one number, which fit many a change."""
    sizes = [x.size for x in outcome.inputs if isinstance(x, np.ndarray)]
    return np.size(compare.plain(outcome.difference.expected)) < 3, sum(sizes)


def _tells_much(outcome: Outcome, tolerance: float) -> bool:
    """Whether so many different numbers are wrong that no change explains them by chance."""
    got, expected = outcome.difference.got, outcome.difference.expected
    if not isinstance(got, np.ndarray) or not isinstance(expected, np.ndarray) or got.shape != expected.shape:
        return False
    wrong = ~compare.close(got, expected, tolerance)
    return len(set(got[wrong].tolist())) >= MANY


def _differ(failing: Sequence[Outcome], tolerance: float) -> bool:
    """Whether these are two different cases at least, or one that tells much."""
    others = [o for o in failing[1:] if compare.difference(o.inputs, failing[0].inputs, 0.0)]
    return bool(others) or _tells_much(failing[0], tolerance)


def _keeps(change: Change, outcomes: Sequence[Outcome], asked: Asked, tolerance: float) -> bool:
    """Whether the cases that are right are right with the change too."""
    for outcome in outcomes:
        inputs = _changed(change, outcome) if outcome.right else None
        if inputs is not None and compare.difference(outcome.expected, asked(inputs), tolerance):
            return False
    return True


def _changed(change: Change, outcome: Outcome) -> tuple | None:
    try:
        return change(outcome.inputs)
    except (ArithmeticError, IndexError, TypeError, ValueError):  # 1 / 0, an array that is not there in this case
        return None


def _key(inputs: tuple) -> bytes:
    return b"|".join(
        x.tobytes() + repr(x.shape).encode() if isinstance(x, np.ndarray) else repr(x).encode() for x in inputs
    )
