"""What `when` of a known mistake asks, as data that the page answers (engine/predicates.mjs).

Such a question is a lambda of a few lines in an exercise's file. What it asks of a case alone, its inputs, expected results or
label, is answered here, for each case; what it asks of an answer, its text and what the checker tells, becomes a tree of lists.
Functions of the exercise's file that it calls are put in its place if they are a few assignments and a `return`.

Limits: of results only whether they differ, no counters, and no Python beyond what questions.py reads: else there is no tree.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from course_lib.coach.exercise import Case, Mistake, Wrong
from course_lib.site.questions import OF_ANSWER, SEEN, CannotRead, Reader, source_of


def export(mistake: Wrong | Mistake, cases: list[tuple[Case, Any]]) -> dict | None:
    """{"tree", "facts": for each case a list of [value], or [] where Python raises}; None where it is none for a page.

    cases: with what is expected.
    """
    try:
        reader = Reader()
        tree = reader.call(source_of(mistake.when), [SEEN])
        if not reader.asked & OF_ANSWER and not mistake.once:
            return None
        seen = [SimpleNamespace(inputs=case.inputs, expected=expected, label=case.label) for case, expected in cases]
        asked = _facts_in(tree)
        facts = [fact if number in asked else None for number, fact in enumerate(reader.facts)]
        return {"tree": tree, "facts": [[_answered(fact, one) if fact else [] for fact in facts] for one in seen]}
    except CannotRead:
        return None


def _facts_in(tree: Any) -> set[int]:
    """Numbers of the facts that a tree asks for; others are steps to these, and may be arrays."""
    if not isinstance(tree, list):
        return set()
    return {tree[1]} if tree[:1] == ["fact"] else set().union(*map(_facts_in, tree))


def _answered(fact: Callable, seen: Any) -> list:
    try:
        value = fact(seen)
    except CannotRead:
        raise
    except Exception:  # which means no: diagnosis.holds
        return []
    return [_plain(value)]


def _plain(value: Any) -> Any:
    """A value as JSON holds it; a set as {"set": [...]}."""
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 2) == 1 else value
    if (
        value is None
        or isinstance(value, bool | int | str)
        or (isinstance(value, float) and value == value and abs(value) < 1e300)
    ):
        return value
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(map(_plain, value))}
    raise CannotRead
