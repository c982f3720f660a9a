"""Where the values that an answer computes on its way part from those of our solution: the last that is said of wrong values.

Two sentences. The first is proved by trying: with our values at one site of the answer all cases are right. The second tells what
both compute, under whatever name, and where the answer first has values that our solution nowhere has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib import lexer
from course_lib.coach import kernel_steps, mutation
from course_lib.coach.regions import Piece
from course_lib.coach.repairs import LARGE, size
from course_lib.coach.sandbox import Sandbox
from course_lib.coach.steps import Site

SECONDS = 0.6  # of processor time, for the values, and for the trying
LAUNCHES = 1.0  # the same for the values of two kernels in one case
CASES = 3  # failing cases whose values are compared
ENOUGH = 3  # different numbers, by which a value is known again
CLOSE = 1e-4  # relative: computed in another order
PLAIN = (0, 0.5, 1, 2)  # numbers that are everywhere
PAIRS = 160  # of a site of the answer and one of ours, that are tried
NAMED = 3  # values that are named as those of ours
# Whether our solution computes these values, too. GIVEN: it does, and they are numbers of the inputs.
SAME, OTHER, GIVEN, UNKNOWN = "same", "other", "given", "unknown"


@dataclass
class Run:
    """One text: its sites, and case by case the numbers that were seen at each, None where there is nothing to compare."""

    sites: list[Site]
    numbers: list[list[np.ndarray | None]]


def of_python(
    text: str,
    solution: str,
    sandbox: Sandbox,
    failing: Sequence[int],
    cases: Sequence,
    right: Callable[[Any, list[int], int], bool],
) -> str:
    """One sentence, or "". failing: numbers of the failing cases. right: asked of a result, the inputs it changed, its case."""
    numbers = sorted((i for i in failing if size(cases[i].inputs) <= LARGE), key=lambda i: -size(cases[i].inputs))[
        :CASES
    ]
    runs = {i: run for i in numbers if (run := sandbox.steps([text, solution], cases[i].inputs, SECONDS))}
    if not runs:  # a case that takes too long takes nothing from the others
        return ""
    sites = next(iter(runs.values()))
    theirs, ours = (Run([Site(*site) for site in sites[k][0]], [run[k][1] for run in runs.values()]) for k in (0, 1))
    found = Found(theirs, ours, [inputs_in(cases[i].inputs) for i in runs])
    return _tried(found, text, solution, sandbox, cases, failing, right) or found.says()


def of_kernel(text: str, piece: Piece, sandbox: Sandbox, failing: Sequence[int], cases: Sequence) -> str:
    """The second sentence, of a kernel: its own lines are compared, with all that our solution computes."""
    numbers = sorted((i for i in failing if size(cases[i].inputs) <= LARGE), key=lambda i: size(cases[i].inputs))[
        :CASES
    ]
    own = mutation.own_lines(piece.blank, text)
    theirs, ours = kernel_steps.marked(text, own), kernel_steps.marked(piece.solution)
    both = [(one, len(sites)) for one, sites in (theirs, ours)]
    runs = [sandbox.kernel_steps(both, cases[i].inputs, LAUNCHES) for i in numbers]
    kept = [k for k, run in enumerate(runs) if run]
    if not kept or not theirs[1]:
        return ""
    known = [Run(sites, [runs[k][which] for k in kept]) for which, (_, sites) in enumerate((theirs, ours))]
    ends = max(
        (line for line, code in enumerate(lexer.read(text).code.splitlines(), 1) if line in own and ";" in code),
        default=0,
    )
    return Found(*known, [inputs_in(cases[numbers[k]].inputs) for k in kept]).says(ends)


class Found:
    """Which values of an answer are those of our solution. given: the numbers in the inputs of each case."""

    def __init__(self, theirs: Run, ours: Run, given: Sequence[np.ndarray]):
        self.theirs, self.ours, self.given = theirs, ours, given
        self.known = [self._known(site) for site in range(len(theirs.sites))]

    def _known(self, site: int) -> str:
        told = [self._distinctive(case, site) for case in range(len(self.given))]
        if any(numbers is None for numbers in told):
            return UNKNOWN
        if sum(map(len, told)) >= ENOUGH:
            return SAME if self._is_ours(told) else OTHER
        whole = [numbers[site] for numbers in self.theirs.numbers]
        return GIVEN if sum(map(len, whole)) >= ENOUGH and self._is_ours(whole) else UNKNOWN

    def _is_ours(self, numbers: Sequence[np.ndarray]) -> bool:
        return any(self._are_in(numbers, place) for place in range(len(self.ours.sites)))

    def _distinctive(self, case: int, site: int) -> np.ndarray | None:
        """The numbers of a site by which it is known again: none that is everywhere, and none that the inputs hold."""
        numbers = self.theirs.numbers[case][site]
        if numbers is None:
            return None
        fixed = np.isin(np.abs(numbers), PLAIN) | np.isinf(numbers)
        return numbers[~fixed & ~contained(numbers, self.given[case])]

    def _are_in(self, told: Sequence[np.ndarray], place: int) -> bool:
        for case, numbers in enumerate(told):
            others = self.ours.numbers[case][place]
            if len(numbers) and (others is None or not contained(numbers, others).all()):
                return False
        return True

    def parts(self, site: int) -> list[int]:
        """The sites that stand in another."""
        return [k for k, one in enumerate(self.theirs.sites) if one.inside == site and k != site]

    def steps(self) -> list[int]:
        """The sites that are the whole of a value, in the order of the text."""
        return [k for k, site in enumerate(self.theirs.sites) if site.inside < 0]

    def smallest(self, site: int) -> int:
        """The part of a site that is not ours, and all of whose own parts are."""
        other = next((k for k in self.parts(site) if self.known[k] == OTHER), None)
        return site if other is None else self.smallest(other)

    def says(self, ends: int = 0) -> str:
        """What both compute, and where that ends; "" if nothing is known again, or nothing differs. ends: the line where the
        answer's last statement ends, if it may have some without a value."""
        steps, sites = self.steps(), self.theirs.sites
        same = [k for k in steps if self.known[k] == SAME]
        first = next((k for k in steps if self.known[k] == OTHER and not self._passed(k, same)), None)
        if first is None:
            return self._misplaced(steps, ends)
        place = self.smallest(first)
        before = [sites[k] for k in same if k < first]
        own = ("", "return", _base(sites[first].target))
        names = [f"`{one.target}`" for one in before if _base(one.target) not in own]
        inner = [sites[k].words for k in self._inside(first) if self.known[k] == SAME][:1]
        shown = list(dict.fromkeys(names))[-NAMED:] or inner or [one.words for one in before][-1:]
        here = f"line {sites[place].line}, {sites[place].words}"
        if not shown:
            alone = not same and all(self.known[k] == GIVEN for k in steps if k < first)
            return f"What you compute first, in {here}, has values that our solution has nowhere." if alone else ""
        have, they = ("have", "they are") if len(shown) > 1 else ("has", "it is")
        look = "Look there first."
        if unsure := self._unsure(place):
            look = f"Look there, and where {_listed(unsure)} {'is' if len(unsure) == 1 else 'are'} made."
        return (
            f"{_listed(shown)} {have} values that our solution computes too, whatever {they} called there. But what you "
            f"compute in {here}, has values that ours has nowhere. {look}"
        )

    def _misplaced(self, steps: Sequence[int], ends: int) -> str:
        """The same where the last values are all ours, and the result is wrong."""
        if not steps or self.known[steps[-1]] != SAME or any(self.known[k] == OTHER for k in steps):
            return ""
        last = self.theirs.sites[steps[-1]]
        if last.line < ends:
            return ""
        return (
            f"The values of line {last.line}, {last.words}, are all values that our solution computes too. So some stand in the "
            "wrong place, or are missing: look at the indices, and at the bounds of the loops."
        )

    def _unsure(self, site: int) -> list[str]:
        """The variables that a value is made of, and of which it is not known whether they are ours."""
        made: dict[str, set[str]] = {}
        for k in self.steps():
            made.setdefault(_base(self.theirs.sites[k].target), set()).add(self.known[k])
        names = self.theirs.sites[site].names
        return [f"`{name}`" for name in names if not made.get(name, set()) <= {SAME, GIVEN}]

    def _inside(self, site: int) -> Iterator[int]:
        for part in self.parts(site):
            yield part
            yield from self._inside(part)

    def _passed(self, site: int, same: Sequence[int]) -> bool:
        """Whether something is made of a value that is ours again: then it is only another way to there."""
        sites, made = self.theirs.sites, {_base(self.theirs.sites[site].target)}
        if made <= {"", "return"}:
            return False
        for k in self.steps():
            if k > site and made & set(sites[k].names):
                if k in same:
                    return True
                made.add(_base(sites[k].target))
        return False


def _listed(words: Sequence[str]) -> str:
    """a, b and c"""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _base(target: str) -> str:
    """The variable that a value is stored in."""
    return target.split("[")[0].split(".")[0].strip()


def contained(numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which of these numbers are among the others, which are in order; nan is if they have one."""
    if not len(others):
        return np.zeros(len(numbers), bool)
    at = np.searchsorted(others, numbers)
    near = np.zeros(len(numbers), bool)
    with np.errstate(invalid="ignore"):
        for k in (at - 1, at):
            other = others[np.clip(k, 0, len(others) - 1)]
            near |= np.abs(other - numbers) <= CLOSE * np.maximum(np.abs(numbers), 1e-3)
    return near | (np.isnan(numbers) & np.isnan(others[-1]))


def inputs_in(inputs: Any) -> np.ndarray:
    """All numbers in the inputs of a case, in order."""
    found: list[np.ndarray] = [np.zeros(0)]

    def look(value: Any) -> None:
        if hasattr(value, "numpy") and hasattr(value, "requires_grad"):
            value = value.numpy()
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
            found.append(value.astype(np.float64).ravel())
        elif isinstance(value, int | float | np.number):
            found.append(np.array([value], np.float64))
        elif isinstance(value, dict):
            look(list(value.values()))
        elif isinstance(value, tuple | list | set):
            for one in value:
                look(one)

    look(inputs)
    return np.unique(np.concatenate(found))


def _tried(
    found: Found,
    text: str,
    solution: str,
    sandbox: Sandbox,
    cases: Sequence,
    failing: Sequence[int],
    right: Callable[[Any, list[int], int], bool],
) -> str:
    """The site with whose value all cases are right if it is that of ours; "" if there is none."""
    order = sorted(failing, key=lambda i: size(cases[i].inputs)) + [i for i in range(len(cases)) if i not in failing]
    left, seconds = list(_pairs(found))[:PAIRS], SECONDS
    for number in order:
        if not left or seconds <= 0:
            return ""
        results, spent = sandbox.instead(text, solution, left, cases[number].inputs, seconds)
        seconds -= spent
        left = [pair for pair, got in zip(left, results, strict=False) if got is not None and right(*got, number)]
    if not left:
        return ""
    # the first, for what is made of it is right with it, too; and the smallest part of that
    site = min((found.theirs.sites[one] for one, _ in left), key=lambda one: (one.line, len(one.words)))
    return (
        f"Line {site.line}: the value of {site.words} is wrong. With the one that our solution has in its place, all cases are "
        "right."
    )


def _pairs(found: Found) -> Iterator[tuple[int, int]]:
    """Sites of the answer that are not ours, those first whose parts are, each with the sites of ours."""
    others = [k for k, known in enumerate(found.known) if known == OTHER and found.theirs.sites[k].inside != k]
    others.sort(key=lambda k: found.smallest(k) != k)
    for k in others:
        if found.theirs.sites[k].target == "return":  # that the result is wrong is known
            continue
        for place, site in enumerate(found.ours.sites):
            if site.inside != place and found.ours.numbers[0][place] is not None:
                yield k, place
