"""What is special about the cases that fail, if all of them share it and no case that passes has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from course_lib.coach.compare import plain
from course_lib.coach.outcome import Outcome

EDGE = re.compile(r"is (empty|None|negative|infinite)$|has the length 1$|has one entry$|more than once$|larger than 80")
ENOUGH = 6  # cases in all, of which fewer are divided in many ways by chance
FEW = 2  # cases that must pass, and fail, for a division of them to mean something


def of_cases(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
    """A sentence about the inputs, or ""; names: of the inputs."""
    failing = [outcome for outcome in outcomes if not outcome.right]
    passing = [outcome for outcome in outcomes if outcome.right]
    if len(passing) < FEW or not failing:
        return ""
    shared = set.intersection(*(set(_features(o.inputs, names)) for o in failing))
    shared -= set().union(*(_features(o.inputs, names) for o in passing))
    first = next((one for one in _features(failing[0].inputs, names) if one in shared), "")
    if not first or (len(outcomes) < ENOUGH and not EDGE.search(first)):
        return ""
    if len(failing) < FEW:  # the one case may be special in many ways: only an edge that no other case has is said
        edge = next((one for one in _features(failing[0].inputs, names) if one in shared and EDGE.search(one)), "")
        return f"It goes wrong in just the one case in which {edge}." if edge and len(passing) > FEW else ""
    return f"It goes wrong in just those cases in which {first}."


def of_flags(outcomes: Sequence[Outcome]) -> str:
    """In which direction a True or False is wrong, if it is one; "" else."""
    wrong = [(plain(o.got), plain(o.expected)) for o in outcomes if not o.right]
    if len(wrong) < FEW or not all(isinstance(a, bool) and isinstance(b, bool) for a, b in wrong):
        return ""
    if all(a for a, _ in wrong):
        return "Each wrong result is True where False is right: your condition lets through what it must refuse."
    if not any(a for a, _ in wrong):
        return "Each wrong result is False where True is right: your condition refuses what it must let through."
    return ""


def _features(inputs: tuple, names: Sequence[str]) -> list[str]:
    """What can be said of the inputs of a case, the simplest first."""
    named = [(f"`{names[i]}`" if i < len(names) else f"input {i + 1}", plain(value)) for i, value in enumerate(inputs)]
    found = [words for name, value in named for words in _of_value(name, value)]
    for i, (name, value) in enumerate(named):
        for other, second in named[i + 1 :]:
            found += _of_two(name, value, other, second)
    return found


def _of_value(name: str, value: Any) -> Iterator[str]:
    if value is None or isinstance(value, bool):
        yield f"{name} is {value}"
    elif isinstance(value, int | float):
        yield from _of_number(name, value)
    elif isinstance(value, str | bytes | list | tuple | dict | set):
        yield f"{name} {'is empty' if not value else 'is not empty'}"
        yield f"{name} has {'one entry' if len(value) == 1 else 'more than one entry' if value else 'no entry'}"
        if isinstance(value, str):
            yield f"{name} has {'only ASCII letters' if value.isascii() else 'letters beyond ASCII'}"
        if isinstance(value, list | tuple) and value:
            yield from _of_entries(name, value)
    elif isinstance(value, np.ndarray):
        yield f"{name} has {value.ndim} {'axis' if value.ndim == 1 else 'axes'}"
        if value.ndim > 2:
            yield f"{name} has more than 2 axes"
        if value.ndim > 1:
            yield f"{name} has more than 1 axis"
            if len(set(value.shape)) > 1:
                yield f"the axes of {name} differ in length"
            rows, columns = value.shape[-2:]
            shape = _than("{} rows than columns", rows, columns) if rows != columns else "as many rows as columns"
            yield f"{name} has {shape}"
        for axis, size in enumerate(value.shape):
            long = "is longer than 1" if size > 1 else "has the length 1"
            yield f"axis {axis} of {name} {long}" if size else f"{name} is empty"
        if value.size and value.dtype.kind in "fiu":
            yield from _of_array(name, value)


def _than(words: str, a: float, b: float) -> str:
    return words.format("more" if a > b else "fewer" if "rows" in words else "less")


def _of_number(name: str, value: float) -> Iterator[str]:
    for words, holds in (("is 0", value == 0), ("is not 0", value != 0), ("is 1", value == 1), ("is negative", value < 0),
                         ("is more than 1", value > 1), ("is less than 1", value < 1), ("is infinite", np.isinf(value)),
                         ("is not whole", value % 1 > 0)):  # fmt: skip
        if holds:
            yield f"{name} {words}"


def _of_entries(name: str, value: Sequence) -> Iterator[str]:
    try:
        if len(set(map(repr, value))) < len(value):
            yield f"an entry of {name} occurs more than once"
        else:
            yield f"no entry of {name} occurs twice"
    except Exception:
        return
    numbers = [v for v in value if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(value):
        if min(numbers) < 0:
            yield f"{name} has a negative entry"
        if 0 in numbers:
            yield f"{name} has a 0 in it"
        if 1 in numbers:
            yield f"{name} has a 1 in it"
        if len(numbers) > 1:
            yield f"{name} {'never rises' if all(a >= b for a, b in pairwise(numbers)) else 'rises somewhere'}"
        yield f"{name} has {len(value)} entries"
    if any(hasattr(v, "__len__") and len(v) == 0 for v in value):
        yield f"an entry of {name} is empty"


def _of_array(name: str, value: np.ndarray) -> Iterator[str]:
    if np.isinf(value).any():
        yield f"{name} has an infinite element"
    if (value < 0).any():
        yield f"{name} has negative elements"
    else:
        yield f"{name} has no negative element"
    if (value > 0).any():
        yield f"{name} has positive elements"
    else:
        yield f"{name} has no positive element"
    if (value == 0).any():
        yield f"{name} has a 0 in it"
    if np.abs(value[np.isfinite(value)]).max(initial=0) > 80:
        yield f"{name} has numbers larger than 80 in magnitude"
    if len(np.unique(value)) < value.size:
        yield f"{name} has equal elements"
    else:
        yield f"no two elements of {name} are equal"


def _of_two(name: str, a: Any, other: str, b: Any) -> Iterator[str]:
    numbers = [isinstance(x, int | float) and not isinstance(x, bool) for x in (a, b)]
    if all(numbers):
        yield (
            f"{name} and {other} are equal"
            if a == b
            else f"{name} is less than {other}"
            if a < b
            else f"{name} is more than {other}"
        )
        if a and b and isinstance(a, int) and isinstance(b, int):
            yield f"{name} is {'a' if a % b == 0 else 'no'} multiple of {other}"
    elif isinstance(a, list | tuple | str) and isinstance(b, list | tuple | str):
        yield f"{name} is {'as long as' if len(a) == len(b) else 'shorter than' if len(a) < len(b) else 'longer than'} {other}"
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        yield f"{name} and {other} have {'one shape' if a.shape == b.shape else 'different shapes'}"
    elif isinstance(a, list | tuple | str | np.ndarray) and numbers[1]:
        size = len(a)
        yield f"{other} is {_than('{} than the length of', b, size) if b != size else 'the length of'} {name}"
