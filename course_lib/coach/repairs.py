"""One change of a learner's own text that makes every case right shows where the mistake is: it is looked for by trying.

What is said is no guess: with the changed text all cases were run, and are right. The changed texts run where the answer ran.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.coach import compare
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Outcome
from course_lib.coach.sandbox import Sandbox
from course_lib.coach.slips.edits import Edit, edits

SECONDS, KIN_SECONDS = 0.4, 0.35  # of processor time for all changes of the answer, and for those of our solution
AT_ONCE = 120  # changed texts that are sent together, likely ones first
MANY, FEW, LIKELY = (
    8,
    2,
    3,
)  # numbers of a result that tell much, such results, and the highest rank of a change where there are none
FORGOTTEN = re.compile(r"(`[^`]+`) (?:is too much|must not be)")
LARGE = 20_000  # numbers in the inputs of a case: nothing is tried on larger ones


def cause(
    text: str,
    sandbox: Sandbox,
    outcomes: Sequence[Outcome],
    cases: Sequence,
    right: Callable[[Any, list[int], int], bool],
) -> str:
    """What is wrong where, if one change makes all cases right. right: asked of a result, the inputs it changed, its case."""
    failing = [i for i, outcome in enumerate(outcomes) if not outcome.right]
    passing = [i for i in range(len(cases)) if i not in failing]
    numbers = sorted(failing, key=lambda i: size(cases[i].inputs)) + passing
    found = first_that_fits(edits(text), sandbox, cases, numbers, right, SECONDS)
    return f"Line {found.line}: {found.says}. With that changed, all cases are right." if found else ""


def kin(exercise: Exercise, solution: str, sandbox: Sandbox, outcomes: Sequence[Outcome], cases: Sequence) -> str:
    """What the answer does, if our solution with one change gives the same results in all cases; "" if none does."""
    alike = [i for i, outcome in enumerate(outcomes) if not outcome.error]
    alike.sort(key=lambda i: (outcomes[i].right, size(cases[i].inputs)))
    failing = [i for i in alike if not outcomes[i].right]
    if (
        len(alike) < len(outcomes) or not failing
    ):  # as of the wrong answers of an exercise: all results must be the same
        return ""

    def same(result: Any, changed: list[int], number: int) -> bool:
        return compare.difference(result, outcomes[number].got, exercise.tolerance) is None

    told = sum(min(size(outcomes[i].got), MANY) for i in failing) >= MANY * FEW
    changed = [
        edit
        for edit in edits(solution)
        if _can_be_told(edit) and not _by_chance(edit) and (told or edit.rank <= LIKELY or FORGOTTEN.match(edit.says))
    ]
    found = first_that_fits(changed, sandbox, cases, alike, same, KIN_SECONDS)
    if found is None:
        return ""
    if forgotten := FORGOTTEN.match(found.says):
        return f"In every case your results are those of our solution without its {forgotten[1]}."
    return f"In every case your results are those of our solution with `{_plain(found.after)}` in place of `{found.before}`."


def _can_be_told(edit: Edit) -> bool:
    """Whether it can be quoted. A place to store in is no cause: its name is ours."""
    if FORGOTTEN.match(edit.says):
        return True
    return bool(edit.before) and not edit.stored


def _by_chance(edit: Edit) -> bool:
    """One more or less on a side of == or !=: then the two are just never equal."""
    return edit.says.endswith(("one too small", "one too large")) and ("==" in edit.after or "!=" in edit.after)


def first_that_fits(
    tried: list[Edit],
    sandbox: Sandbox,
    cases: Sequence,
    numbers: list[int],
    fits: Callable[[Any, list[int], int], bool],
    seconds: float,
) -> Edit | None:
    """The first changed text that fits in the cases of these numbers."""
    began = time.process_time()
    if size(cases[numbers[0]].inputs) > LARGE:
        return None
    for begin in range(0, len(tried), AT_ONCE):
        left = tried[begin : begin + AT_ONCE]
        for number in numbers:
            if not left:
                break
            left_over = seconds - (time.process_time() - began)
            if left_over <= 0:
                return None
            results, spent = sandbox.others([edit.text for edit in left], cases[number].inputs, left_over)
            seconds -= spent
            left = [e for e, got in zip(left, results, strict=False) if got is not None and fits(*got, number)]
        else:
            if left:
                return left[0]
    return None


def _plain(text: str) -> str:
    """An expression without the brackets that a change has put around it."""
    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval"))
    except SyntaxError:
        return text


def some_right(count: int, failing: int) -> str:
    """What follows a change that makes some of the failing cases right."""
    return f"With that changed, {count} of the {failing} failing cases are right; in the others something else is wrong, too."


def size(values: Any) -> int:
    """How many numbers there are in it, about."""
    if isinstance(values, np.ndarray):
        return values.size
    if isinstance(values, dict):
        return sum(map(size, values.values()))
    if isinstance(values, tuple | list | set):
        return sum(map(size, values))
    return len(values) if isinstance(values, str | bytes) else 1
