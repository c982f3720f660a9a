"""Rules of a kernel's inputs: where a result is wrong, and which cases fail, as what an input holds tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.coach.outcome import Outcome
from course_lib.coach.parts import Part

WIDTHS = (2, 3, 4, 8, 16, 32, 64, 128, 256)  # that may divide a length

PREDICATES: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("is nan", lambda a: a != a),
    ("is infinite", lambda a: np.isinf(a)),
    ("is -inf", lambda a: np.isneginf(a)),
    ("is above 88.7, where expf overflows", lambda a: a > 88.7),
    ("is below -88.7, where expf of its opposite overflows", lambda a: a < -88.7),
    ("is over 88.7 in magnitude, where expf overflows", lambda a: np.abs(a) > 88.7),
    ("is over 65,504 in magnitude, the largest number of half precision", lambda a: np.abs(a) > 65504),
    ("has a fractional part", lambda a: a != np.trunc(a)),
    ("is negative", lambda a: a < 0),
    ("is positive", lambda a: a > 0),
    ("is negative or 0", lambda a: a <= 0),
    ("is 0", lambda a: a == 0),
    ("is not 0", lambda a: a != 0),
)
OVERFLOWS = 7  # the first of them: numbers that are a cause by themselves


def of_inputs(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str], predicates: Sequence[tuple]) -> str:
    """A rule of what an input holds at the same place, or anywhere in the same row."""
    for i, name in enumerate(names):
        for words, holds in predicates:
            for place, spread in (("where `{}` {}", _as_it_is), ("in the rows in which a number of `{}` {}", _in_rows),
                                  ("in the rows in which each number of `{}` {}", _whole_rows)):  # fmt: skip
                masks = []
                for part in (*wrong, *right):
                    mask = _mask_of(part, i, holds, spread)
                    if mask is None or not np.array_equal(mask, part.wrong):
                        break
                    masks.append(mask)
                else:
                    if masks:
                        return f"those {place.format(name, words)}"
    return ""


def thresholds(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str]) -> str:
    """Where an input is large, or small: all wrong elements on one side of all right ones."""
    for i, name in enumerate(names):
        for words, measure in (("", lambda x: x), ("the magnitude of ", np.abs)):
            sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
            for part in (*wrong, *right):
                x = part.outcome.inputs[i] if i < len(part.outcome.inputs) else None
                if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or x.size != part.wrong.size:
                    break
                x = measure(x.reshape(part.shape).astype(np.float64))
                sides[0].append(x[part.wrong])
                sides[1].append(x[~part.wrong])
            else:
                of_wrong, of_right = np.concatenate(sides[0]), np.concatenate(sides[1])
                if len(of_right) < 4 or len(of_wrong) < 2 or np.isnan(of_wrong).any():
                    continue
                if of_wrong.min() > of_right.max():
                    least, most = of_wrong.min(), of_right.max()
                    return f"those where {words}`{name}` is at least {least:.4g} (up to {most:.4g} all are right)"
                if of_wrong.max() < of_right.min():
                    most, least = of_wrong.max(), of_right.min()
                    return f"those where {words}`{name}` is at most {most:.4g} (from {least:.4g} on all are right)"
    return ""


def _mask_of(part: Part, i: int, holds: Callable, spread: Callable) -> np.ndarray | None:
    x = part.outcome.inputs[i] if i < len(part.outcome.inputs) else None
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiu":
        return None
    with np.errstate(all="ignore"):
        return spread(holds(x), part.shape)


def _as_it_is(mask: np.ndarray, shape: tuple) -> np.ndarray | None:
    if mask.size == np.prod(shape):
        return mask.reshape(shape)
    if mask.ndim == 1 and len(shape) > 1 and len(mask) == shape[-1]:
        return np.broadcast_to(mask, shape)
    if mask.ndim == 1 and len(shape) > 1 and len(mask) == shape[-2]:
        return np.broadcast_to(mask[:, None], shape)
    return None


def _in_rows(mask: np.ndarray, shape: tuple) -> np.ndarray | None:
    return _by_rows(mask.any(axis=-1), shape) if mask.ndim > 1 else None


def _whole_rows(mask: np.ndarray, shape: tuple) -> np.ndarray | None:
    return _by_rows(mask.all(axis=-1), shape) if mask.ndim > 1 else None


def _by_rows(rows: np.ndarray, shape: tuple) -> np.ndarray | None:
    if rows.size == np.prod(shape):
        return rows.reshape(shape)
    return (
        np.broadcast_to(rows.reshape(-1, 1), (rows.size, shape[-1])).reshape(shape)
        if rows.size * shape[-1] == np.prod(shape)
        else None
    )


def rule(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
    """What tells the failing cases from the right ones, two of these at least, in words; "" if nothing does."""
    wrong, right = ([o for o in outcomes if o.right is right] for right in (False, True))
    if not wrong or len(right) < 2:
        return ""
    for words, ask in _questions(outcomes[0].inputs, names):
        answers = [[ask(outcome) for outcome in group] for group in (wrong, right)]
        if any(answer is None for group in answers for answer in group):
            continue
        if all(answers[0]) and not any(answers[1]):
            return words
    for words, measure in _measures(outcomes[0].inputs, names):
        of_wrong, of_right = ([measure(outcome) for outcome in group] for group in (wrong, right))
        if any(m is None for m in (*of_wrong, *of_right)):
            continue
        if min(of_wrong) > max(of_right):
            return f"{words.format('at least ' + str(min(of_wrong)))} (with at most {max(of_right)} all are right)"
        if max(of_wrong) < min(of_right):
            return f"{words.format('at most ' + str(max(of_wrong)))} (with at least {min(of_right)} all are right)"
        for w in WIDTHS:
            if all(m % w for m in of_wrong) and not any(m % w for m in of_right):
                return f"{words.format('a number')} that {w} does not divide"
    return ""


def _questions(inputs: tuple, names: Sequence[str]) -> Iterator[tuple[str, Callable[[Outcome], Any]]]:
    for i, name in enumerate(names[: len(inputs)]):
        if isinstance(inputs[i], bool):
            yield f"`{name}` is True", lambda o, i=i: o.inputs[i] is True
            yield f"`{name}` is False", lambda o, i=i: o.inputs[i] is False
        yield f"`{name}` is a null pointer", lambda o, i=i: o.inputs[i] is None
        yield f"`{name}` is no null pointer", lambda o, i=i: o.inputs[i] is not None
        if isinstance(inputs[i], np.ndarray) and inputs[i].dtype.kind == "f":
            for words, holds in (*PREDICATES[:3], PREDICATES[OVERFLOWS + 1]):
                yield f"a number of `{name}` {words}", lambda o, i=i, holds=holds: _any(o.inputs[i], holds)


def _any(x: Any, holds: Callable) -> bool | None:
    return bool(holds(x).any()) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else None


def _measures(inputs: tuple, names: Sequence[str]) -> Iterator[tuple[str, Callable[[Outcome], int | None]]]:
    for i, name in enumerate(names[: len(inputs)]):
        x = inputs[i]
        if isinstance(x, int) and not isinstance(x, bool):
            yield f"`{name}` is {{}}", lambda o, i=i: int(o.inputs[i]) if isinstance(o.inputs[i], int) else None
        for axis in range(x.ndim if isinstance(x, np.ndarray) else 0):
            word = (
                "elements"
                if x.ndim == 1
                else {x.ndim - 1: "columns", x.ndim - 2: "rows"}.get(axis, f"elements along axis {axis}")
            )
            yield f"`{name}` has {{}} {word}", lambda o, i=i, axis=axis, n=x.ndim: _length(o.inputs[i], axis, n)


def _length(x: Any, axis: int, ndim: int) -> int | None:
    return x.shape[axis] if isinstance(x, np.ndarray) and x.ndim == ndim else None
