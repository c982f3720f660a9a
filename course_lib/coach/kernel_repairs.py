"""One change of a learner's kernel that makes every case right shows where the mistake is: as repairs.py, for CUDA C++. Or two
do, the first of which makes some of the failing cases right.

All changes are compiled as one text and tried in the checked build, in the sandbox; the one that is right there is compiled by
itself then, and run on all cases, in order and shuffled. So what is said is no guess.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.coach import mutation
from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import Outcome
from course_lib.coach.regions import Piece
from course_lib.coach.repairs import LARGE, size, some_right
from course_lib.coach.sandbox import NotCompiled, Sandbox
from course_lib.coach.slips import kernel_edits

SECONDS = 1.5  # of processor time, for all changes together
CONFIRMED = 2  # changes that are tried by themselves
COMPILED = 3  # times that a text with all changes is compiled, each without the line that the compiler refused
QUICK = 2.5  # seconds by the clock: where the first search took longer, no second one is made
COUNTED = 3  # changes that are right in some failing cases, whose number is counted
MANY = 2  # failing cases that are right with a change, for it to be said of some only
NEARER = 1  # changes after which a second one is looked for: each is compiled anew


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
    search = Search(
        sandbox, [cases[i].inputs for i in numbers], len(failing), lambda got, place: right(*got, numbers[place])
    )
    own = mutation.own_lines(piece.blank, text)
    began = time.monotonic()
    found, nearer = search.changes(text, own)
    if words := _confirmed(text, found, all_right):
        return words
    if nearer and nearer[0][1] == len(failing):  # there was no time to find it before
        return _confirmed(text, [nearer[0][0]], all_right)
    for first, _ in nearer[: NEARER if time.monotonic() - began < QUICK else 0]:
        changed = kernel_edits.applied(text, first)
        found, _ = search.changes(changed, own)
        if words := _confirmed(changed, found, all_right):
            return f"There are two mistakes. Line {first.line}: `{first.before}` must be `{first.after}`. Then l{words[1:]}"
    if nearer and nearer[0][1] >= MANY and nearer[0][0].rank < 2 and 3 * nearer[0][1] >= 2 * len(failing):
        first, count = nearer[0]
        return f"Line {first.line}: `{first.before}` must be `{first.after}`. {some_right(count, len(failing))}"
    return ""


Found = tuple[list[kernel_edits.Edit], list[tuple[kernel_edits.Edit, int]]]


@dataclass
class Search:
    """A look for changes. inputs: of the cases, the `failing` ones first. right: of what came, in the case at a place."""

    sandbox: Sandbox
    inputs: Sequence[tuple]
    failing: int
    right: Callable[[Any, int], bool]

    def changes(self, text: str, own: set[int]) -> Found:
        """Those that are right in all cases that there was time for; and those that are so in some failing ones, and wrong in
        none that was right before, with the number of these, the most first."""
        for _ in range(COMPILED):
            tried = kernel_edits.edits(text, own)
            whole = kernel_edits.switched(text, tried)
            try:
                left, nearer = self._left(whole, len(tried))
            except NotCompiled as error:  # as where a function takes the variable itself, and no other value will do
                if error.line is None or not own & {error.line - 1}:  # the first line is the switch
                    break
                own = own - {error.line - 1}
                continue
            return [tried[k - 1] for k in left], [(tried[k - 1], count) for k, count in nearer]
        return [], []

    def _left(self, whole: str, count: int) -> tuple[list[int], list[tuple[int, int]]]:
        left, nearer, seconds = list(range(1, count + 1)), [], SECONDS
        for place in range(len(self.inputs)):
            if seconds <= 0 and place:
                break  # the likeliest of those that are left are run on all cases in any event
            if not left or seconds <= 0:
                return [], self._counted(whole, nearer[::-1][:COUNTED])
            kept, spent = self._right(whole, left, place, seconds)
            seconds -= spent
            if 0 < place < self.failing:  # right in one of them at least
                nearer += [k for k in left if k not in kept]
            left = kept
            if len(left) <= CONFIRMED and 0 < place < self.failing:
                break
        return left, [] if left else self._counted(whole, nearer[::-1][:COUNTED])

    def _counted(self, whole: str, numbers: list[int]) -> list[tuple[int, int]]:
        counts = dict.fromkeys(numbers, 0)
        for place in range(len(self.inputs)):
            if not counts:
                break
            kept, _ = self._right(whole, list(counts), place, SECONDS)
            if place < self.failing:
                counts = {k: count + (k in kept) for k, count in counts.items()}
            else:
                counts = {k: count for k, count in counts.items() if k in kept}
        return sorted(counts.items(), key=lambda one: -one[1])

    def _right(self, whole: str, numbers: list[int], place: int, seconds: float) -> tuple[list[int], float]:
        results, spent = self.sandbox.switched(whole, numbers, self.inputs[place], seconds)
        return [
            k for k, got in zip(numbers, results, strict=False) if got is not None and self.right(got, place)
        ], spent


def _confirmed(text: str, found: Sequence[kernel_edits.Edit], all_right: Callable[[str], bool]) -> str:
    """What is wrong where, if one of these changes makes all cases right, in order and shuffled."""
    for edit in found[:CONFIRMED]:
        if all_right(kernel_edits.applied(text, edit)):
            same = [one for one in found if (one.start, one.end) == (edit.start, edit.end)]
            if len(same) > 1:  # as where two sizes are equal in all cases: which of them is meant is not known
                place = text[edit.start : edit.end]
                where = f"`{place}` in `{edit.before}`" if place != edit.before else f"`{place}`"
                return f"Line {edit.line}: {where} is the mistake. With that alone changed, all cases are right."
            return f"Line {edit.line}: `{edit.before}` must be `{edit.after}`. With that changed, all cases are right."
    return ""
