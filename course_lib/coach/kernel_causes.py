"""What can be said of a kernel's wrong results without knowing the exercise, when the simulator found nothing in its accesses.

First: for which other inputs are they right (what_if.py); then how (how_wrong.py) and where (where_wrong.py) they are wrong, and
what tells the failing cases from the right ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from course_lib import lexer
from course_lib.coach import (
    answers,
    catalogue,
    heuristics,
    how_wrong,
    input_rules,
    kernel_slips,
    kernel_sums,
    messages,
    what_if,
    where_wrong,
)
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Seen
from course_lib.coach.parts import parts as parts_of

# Sentences of `of_values` that say where the results are wrong, or in which cases, and not why.
ONLY_WHERE = re.compile(
    r"(\S+: )?(In all failing cases|Where this part is wrong,) exactly|The cases? that fails? (is|are)"
)


def of_values(exercise: Exercise, seen: Seen, names: Sequence[str]) -> str:
    """What is known of wrong values, in one sentence or several; "" if it is no more than that they are wrong."""
    outcomes, tolerance = seen.outcomes, exercise.tolerance
    general = heuristics.of_all(seen.failing, outcomes, tolerance)
    if "never wrote any element" in general or "each thread must loop" in general:
        return general
    if exercise.language == "cuda" and (words := kernel_slips.says(seen.text, exercise.defines, _solution(exercise))):
        return words
    if exercise.language == "cuda" and (words := kernel_sums.says(lexer.read(seen.text), _solution(exercise))):
        return words
    if exercise.reference is not None:
        with answers.quiet():
            if words := what_if.says(outcomes, exercise.reference, names, tolerance, exercise.results):
                return words
    if words := _elsewhere(seen):
        return words
    parts = list(parts_of(outcomes, tolerance))
    how = _first(exercise, parts, lambda wrong, right: how_wrong.says(wrong, right, names))
    failing = sum(not outcome.right for outcome in outcomes)
    where = _first(
        exercise, parts, lambda wrong, right: _where(where_wrong.rule(wrong, right, names), len(wrong) == failing)
    )
    which = input_rules.rule(outcomes, names)
    if which:
        which = f"The {'case that fails is the one' if failing == 1 else 'cases that fail are those'} in which {which}."
    return " ".join(filter(None, [how or general, where, which]))


def _elsewhere(seen: Seen) -> str:
    """What the simulator found in another case, where the smallest one that fails shows nothing but wrong values."""
    other = next((outcome for outcome in seen.outcomes if outcome.issues), None)
    if other is None:
        return ""
    return (
        f"{messages.of_issue(other.issues[0], Seen(seen.text, other, seen.outcomes))} That was the case: {other.label}."
    )


def _first(exercise: Exercise, parts: Sequence[tuple], tell: Callable[..., str]) -> str:
    """The first part of the result of which something is known, with that."""
    return next(
        (f"{_name(exercise, part)}{words}" for part, wrong, right in parts if (words := tell(wrong, right))), ""
    )


def _solution(exercise: Exercise) -> str:
    return catalogue.piece(exercise.name).solution


def _where(rule: str, always: bool) -> str:
    """always: whether this part of the result is wrong in all failing cases."""
    cases = "In all failing cases" if always else "Where this part is wrong,"
    return f"{cases} exactly these elements are wrong: {rule}." if rule else ""


def _name(exercise: Exercise, part: str) -> str:
    """The name of a part of the result, as the author has it, before a sentence about it."""
    place = part[7:-1]
    return f"{exercise.results[int(place)] if place and int(place) < len(exercise.results) else part}: " if part else ""
