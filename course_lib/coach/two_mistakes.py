"""Two known mistakes at once, neither of which explains all that came: each shows in cases, or in parts of a result, of its own.

Both are proved by the results: each wrong part is what one of the two wrong answers gives there, where the other is right, and
what is right is so with both. So in a case, or a part, where only one mistake shows, what came is exactly what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from course_lib.coach import compare
from course_lib.coach.outcome import Outcome

# Of a wrong answer's part of a result: it is right; it is wrong, as what came; it is neither.
RIGHT, SAME, OTHER = 0, 1, 2


def says(
    sentences: Sequence[str],
    gives: Callable[[int, Outcome], Any],
    shows: Callable[[int, Outcome], bool],
    outcomes: Sequence[Outcome],
    tolerance: float,
) -> str:
    """Both sentences, or "". gives: the result of wrong answer number k for the inputs of a case; raises if it has none. shows:
    whether its sentence may be said of a case where what came is what it gives."""
    if any(outcome.error or outcome.issues or outcome.complaint for outcome in outcomes):
        return ""
    wanted = [_parts(outcome.expected, outcome.expected) for outcome in outcomes]
    came = [_parts(outcome.got, outcome.expected) for outcome in outcomes]
    if any(len(a) != len(b) for a, b in zip(wanted, came, strict=True)):
        return ""
    wrong = [
        [bool(compare.difference(a, b, tolerance)) for a, b in zip(*two, strict=True)]
        for two in zip(came, wanted, strict=True)
    ]
    shown: list[tuple[str, list[int]]] = []
    for k, sentence in enumerate(sentences):
        states = _states(k, gives, shows, outcomes, wanted, came, wrong, tolerance)
        if SAME in states and sentence not in (one for one, _ in shown):
            shown.append((sentence, states))
    places = [is_wrong for case in wrong for is_wrong in case]
    for (first, a), (second, b) in combinations(shown, 2):
        if all(_explained(*one) for one in zip(places, a, b, strict=True)):
            return f"There are two mistakes. {first} And elsewhere: {second}"
    return ""


def _parts(result: Any, wanted: Any) -> Sequence:
    """The entries of a result where a tuple is wanted, each judged by itself; else the result as the only part."""
    return result if isinstance(wanted, tuple) and isinstance(result, tuple | list) else (result,)


def _explained(wrong: bool, a: int, b: int) -> bool:
    return {a, b} == {RIGHT, SAME} if wrong else a == b == RIGHT


def _states(k, gives, shows, outcomes, wanted, came, wrong, tolerance: float) -> list[int]:
    """What a wrong answer gives for each part of each case, compared with what is right and with what came."""
    states: list[int] = []
    allowed = False
    for outcome, right, got, is_wrong in zip(outcomes, wanted, came, wrong, strict=True):
        try:
            theirs = _parts(gives(k, outcome), outcome.expected)
        except Exception:
            theirs = []
        if len(theirs) != len(right):
            return []
        for mine, a, b, one in zip(theirs, right, got, is_wrong, strict=True):
            if compare.difference(mine, a, tolerance) is None:
                states.append(RIGHT)
            else:
                same = one and compare.difference(b, mine, tolerance) is None
                states.append(SAME if same else OTHER)
                allowed = allowed or (same and shows(k, outcome))
    return states if allowed else []
