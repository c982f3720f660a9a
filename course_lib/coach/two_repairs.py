"""Two changes of a learner's own text that make every case right, where no single one does: there are two mistakes.

The first is one that brings the answer nearer: more cases, or more parts of a result, are right with it, and none is wrong that
was right before. The second is looked for in the text with the first. All cases were run with both, so what is said is no guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.coach.repairs import LARGE, first_that_fits, size, some_right
from course_lib.coach.sandbox import Sandbox
from course_lib.coach.slips.edits import Edit, edits

FIRST, SECOND = 0.8, 0.3  # seconds of processor time for the first change, and for a second one to each of those
MOST, LIKELY = 2 / 3, 3  # of the failing cases, and the highest rank, of a change that is said of some of them
TRIED = 2  # first changes for which a second one is looked for


def cause(
    text: str,
    sandbox: Sandbox,
    failing: Sequence[int],
    cases: Sequence,
    right: Callable[[Any, list[int], int], bool],
    nearness: Callable[[Any, list[int], int], float],
    before: Sequence[float],
    some: bool,
) -> str:
    """What is wrong where, if two changes make all cases right.

    failing: numbers of the failing cases. nearness: of a result, the inputs it changed, and its case: 1 if it is right, less if
    some parts of it are. before: that of the answer, for all cases. some: whether a change that makes most of the failing cases
    right, and not all, is said too.
    """
    numbers = sorted(failing, key=lambda i: size(cases[i].inputs))
    if not numbers or size(cases[numbers[0]].inputs) > LARGE:
        return ""
    numbers += [i for i in range(len(cases)) if i not in numbers]
    nearer = _nearer(text, sandbox, numbers, cases, nearness, before)
    for first, _ in nearer[:TRIED]:
        if first_that_fits([first], sandbox, cases, numbers, right, SECOND):  # there was no time to find it before
            return f"Line {first.line}: {first.says}. With that changed, all cases are right."
        second = first_that_fits(edits(first.text), sandbox, cases, numbers, right, SECOND)
        if second is not None:
            return (
                f"There are two mistakes. Line {first.line}: {first.says}. Then line {second.line}: {second.says}. With both "
                "changed, all cases are right."
            )
    likely = [(first, count) for first, count in nearer if first.rank <= LIKELY] if some else []
    first, count = max(likely, key=lambda one: one[1], default=(None, 0))
    if first is not None and count > 1 and count >= MOST * len(failing):
        return f"Line {first.line}: {first.says}. {some_right(count, len(failing))}"
    return ""


def _nearer(
    text: str,
    sandbox: Sandbox,
    numbers: Sequence[int],
    cases: Sequence,
    nearness: Callable[[Any, list[int], int], float],
    before: Sequence[float],
) -> list[tuple[Edit, int]]:
    """The changes with which more is right and nothing is worse, those that bring most first, and how many of the failing cases
    are right with each."""
    # Lines keep their numbers, which are told of the second change.
    tried = [edit for edit in edits(text) if edit.text.count("\n") == text.count("\n")]
    gained, fixed = [0.0] * len(tried), [0] * len(tried)
    left, seconds = list(range(len(tried))), FIRST
    for number in numbers:
        if not left:
            break
        if seconds <= 0:
            fixed = [0] * len(tried)  # how many are right is not known: not all cases were run
            break
        results, spent = sandbox.others([tried[k].text for k in left], cases[number].inputs, seconds)
        seconds -= spent
        kept = []
        for k, got in zip(left, results, strict=False):
            now = nearness(*got, number) if got is not None else 0.0
            if now >= before[number]:
                gained[k] += now - before[number]
                fixed[k] += now == 1 > before[number]
                kept.append(k)
        left = kept
    found = sorted((k for k in left if gained[k] > 0), key=lambda k: -gained[k])
    return [(tried[k], fixed[k]) for k in found]
