"""One change of a learner's own text that makes every case right shows where the mistake is: it is looked for by trying.

What is said is no guess: with the changed text all cases were run, and are right. The changed texts run where the answer ran.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.coach import edits
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Outcome
from course_lib.coach.sandbox import Sandbox

SECONDS = 0.4  # of processor time that the changed texts have together
AT_ONCE = 120  # changed texts that are sent together, likely ones first
LARGE = 20_000  # numbers in the inputs of a case: nothing is tried on larger ones


def cause(
    exercise: Exercise, text: str, sandbox: Sandbox, outcomes: Sequence[Outcome], cases: Sequence, right: Callable[[Any, int], bool]
) -> str:
    """What is wrong where, if one change makes all cases right; "" if none is found. right: whether a result is that of case i."""
    failing = [i for i, outcome in enumerate(outcomes) if not outcome.right]
    first = min(failing, key=lambda i: _size(cases[i].inputs))
    if exercise.is_kernel or _size(cases[first].inputs) > LARGE:
        return ""
    numbers = [first, *(i for i in failing if i != first), *(i for i in range(len(cases)) if i not in failing)]
    tried, seconds = edits.edits(text), SECONDS
    for begin in range(0, len(tried), AT_ONCE):
        left = tried[begin : begin + AT_ONCE]
        for number in numbers:
            if not left or seconds <= 0:
                break
            results, spent = sandbox.others([edit.text for edit in left], cases[number].inputs, seconds)
            seconds -= spent
            left = [e for e, got in zip(left, results, strict=False) if got is not None and right(got[0], number)]
        else:
            if left:
                return f"Line {left[0].line}: {left[0].says}. With that changed, all cases are right."
        if seconds <= 0:
            break
    return ""


def _size(values: Any) -> int:
    """How many numbers there are in it, about."""
    if isinstance(values, np.ndarray):
        return values.size
    if isinstance(values, dict):
        return sum(map(_size, values.values()))
    if isinstance(values, tuple | list | set):
        return sum(map(_size, values))
    return len(values) if isinstance(values, str | bytes) else 1
