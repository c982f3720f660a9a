"""One change of a learner's kernel that makes every case right shows where the mistake is: as repairs.py, for CUDA C++.

All changes are compiled as one text and tried in the checked build, in the sandbox; the one that is right there is compiled by
itself then, and run on all cases, in order and shuffled. So what is said is no guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.coach import mutation
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Outcome
from course_lib.coach.regions import Piece
from course_lib.coach.repairs import LARGE, size
from course_lib.coach.sandbox import Sandbox
from course_lib.coach.slips import kernel_edits

SECONDS = 1.5  # of processor time, for all changes together
CONFIRMED = 2  # changes that are tried by themselves


def cause(
    exercise: Exercise,
    text: str,
    piece: Piece,
    sandbox: Sandbox,
    outcomes: Sequence[Outcome],
    cases: Sequence,
    right: Callable[[Any, list[int], int], bool],
    all_right: Callable[[str], bool],
) -> str:
    """What is wrong where, if one change makes all cases right. right: of a result, the inputs it changed, its case. all_right:
    of a whole text."""
    if exercise.language != "cuda" or len(outcomes) < len(cases):
        return ""
    failing = [i for i, outcome in enumerate(outcomes) if not outcome.right]
    numbers = sorted(failing, key=lambda i: size(cases[i].inputs))
    numbers += [i for i in range(len(cases)) if i not in failing]
    if size(cases[numbers[0]].inputs) > LARGE:
        return ""
    tried = kernel_edits.edits(text, mutation.own_lines(piece.blank, text))
    left = list(range(1, len(tried) + 1))
    whole, seconds = kernel_edits.switched(text, tried), SECONDS
    for number in numbers:
        if not left or seconds <= 0:
            return ""
        results, spent = sandbox.switched(whole, left, cases[number].inputs, seconds)
        seconds -= spent
        left = [k for k, got in zip(left, results, strict=False) if got is not None and right(*got, number)]
        if len(left) <= CONFIRMED and number in failing[1:]:
            break
    for edit in [tried[k - 1] for k in left[:CONFIRMED]]:
        if all_right(kernel_edits.applied(text, edit)):
            same = [k for k in left if (tried[k - 1].start, tried[k - 1].end) == (edit.start, edit.end)]
            if len(same) > 1:  # as where two sizes are equal in all cases: which of them is meant is not known
                place = text[edit.start : edit.end]
                where = f"`{place}` in `{edit.before}`" if place != edit.before else f"`{place}`"
                return f"Line {edit.line}: {where} is the mistake. With that alone changed, all cases are right."
            return f"Line {edit.line}: `{edit.before}` must be `{edit.after}`. With that changed, all cases are right."
    return ""
