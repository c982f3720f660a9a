"""Which elements of a kernel's results are wrong, as a rule: "all columns from 32 on", "the elements behind the last whole group of 4".

A rule is said if it holds of exactly the wrong elements in all failing cases, two at least, and of none in a right case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.coach import compare
from course_lib.coach.outcome import Outcome

WIDTHS = (2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
Rule = Callable[[int], np.ndarray]  # of a length: a mask


@dataclass(frozen=True)
class Part:
    """One part of a result in one case: got and expected, arrays of one shape, and which elements are wrong."""

    outcome: Outcome
    got: np.ndarray
    expected: np.ndarray
    wrong: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.expected.shape


def parts(outcomes: Sequence[Outcome], tolerance: float) -> Iterator[tuple[str, list[Part], list[Part]]]:
    """Each part of the result that is wrong somewhere: its name, as it is in the cases where it is wrong, and where it is right.

    Nothing where it has not come in a failing case.
    """
    failing = [outcome for outcome in outcomes if not outcome.right]
    if not failing or any(o.error or o.difference is None for o in failing):
        return
    first = failing[0]
    many = len(first.expected) if isinstance(first.expected, tuple) else 0
    for place in range(many) if many else (None,):
        found: tuple[list[Part], list[Part]] = ([], [])
        for outcome in outcomes:
            got, expected = outcome.got, outcome.expected
            if outcome.error:
                continue
            if place is not None:
                if not all(isinstance(x, tuple | list) and len(x) > place for x in (got, expected)):
                    return
                got, expected = got[place], expected[place]
            if not isinstance(got, np.ndarray) or not isinstance(expected, np.ndarray):
                continue
            if got.shape != expected.shape or got.dtype.kind not in "fiub" or not expected.ndim:
                break
            wrong = ~compare.close(got, expected, tolerance)
            found[not wrong.any()].append(Part(outcome, got, expected, wrong))
        else:
            if found[0]:
                yield "" if place is None else f"result[{place}]", *found


def rule(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str]) -> str:
    """The wrong elements in words: "the rows from 32 on"; "" where all are wrong, or no rule holds."""
    if len(wrong) < 2 or all(part.wrong.all() for part in wrong) or len({part.wrong.ndim for part in wrong}) > 1:
        return ""
    if words := _of_inputs(wrong, right, names, PREDICATES[:OVERFLOWS]) or _thresholds(wrong, right, names):
        return words
    widths = sorted({*WIDTHS, *(size for part in wrong for size in block(part.outcome))} - {1})
    ndim = wrong[0].wrong.ndim
    for axis in [None, *range(ndim - 1, -1, -1)] if ndim == 1 else [*range(ndim - 1, -1, -1), None]:
        if words := _along(axis, wrong, right, widths):
            return words
    if words := _on_two_axes(wrong, right, widths) or _of_inputs(wrong, right, names, PREDICATES[OVERFLOWS:]):
        return words
    # what is right in other cases may be so by chance: what is said is said of the failing ones alone
    return rule(wrong, [], names) if right else ""


def block(outcome: Outcome) -> set[int]:
    """Sizes of the blocks that were launched: each dimension, and all threads together."""
    found = {tuple(report.block) for report in outcome.reports if hasattr(report, "block")}
    return {int(size) for sizes in found for size in (*sizes, np.prod(sizes))} - {0}


def _along(axis: int | None, wrong: Sequence[Part], right: Sequence[Part], widths: Sequence[int]) -> str:
    """A rule of the index along one axis, or of the place in memory."""
    lines = []
    for part in wrong:
        line = _line(part.wrong, axis)
        if line is None:
            return ""
        lines.append(line)
    lengths = [part.wrong.size if axis is None else part.shape[axis] for part in right]
    return _first_rule(lines, lengths, widths, *_words(wrong[0].wrong.ndim, axis))


def _line(mask: np.ndarray, axis: int | None) -> np.ndarray | None:
    """A mask as one of the index along an axis; None where it depends on other indices too."""
    if axis is None:
        return mask.ravel()
    line = mask.any(axis=tuple(a for a in range(mask.ndim) if a != axis))
    shape = [1] * mask.ndim
    shape[axis] = -1
    return line if np.array_equal(mask, np.broadcast_to(line.reshape(shape), mask.shape)) else None


def _words(ndim: int, axis: int | None) -> tuple[str, str]:
    if axis is None:
        return ("element", "elements") if ndim == 1 else ("element in memory", "elements in memory")
    if axis == ndim - 1:
        return "column", "columns"
    return ("row", "rows") if axis == ndim - 2 else (f"index of axis {axis}", f"indices of axis {axis}")


def _first_rule(lines: Sequence[np.ndarray], right: Sequence[int], widths: Sequence[int], one: str, many: str) -> str:
    if all(line.all() for line in lines):
        return ""
    for words, holds in rules(lines, widths, one, many):
        if all(np.array_equal(holds(len(line)), line) for line in lines) and not any(holds(n).any() for n in right):
            return words
    return ""


def rules(lines: Sequence[np.ndarray], widths: Sequence[int], one: str, many: str) -> Iterator[tuple[str, Rule]]:
    """Rules of an index that may hold, the simplest first."""
    first = {int(line.argmax()) for line in lines}
    yield f"the last {one}", lambda n: np.arange(n) == n - 1
    yield f"{one} 0", lambda n: np.arange(n) == 0
    if len(first) == 1:
        start = first.pop()
        yield f"all {many} from {start} on", lambda n: np.arange(n) >= start
    ends = {int(np.flatnonzero(line)[-1]) + 1 for line in lines}
    if len(ends) == 1:
        end = ends.pop()
        yield f"the first {end} {many}", lambda n: np.arange(n) < end
        yield f"{one} {end - 1}", lambda n: np.arange(n) == end - 1
    yield f"all {many} but the last", lambda n: np.arange(n) < n - 1
    for w in widths:
        yield f"the {many} behind the last whole group of {w}", lambda n, w=w: np.arange(n) >= n - n % w
        yield f"the last {w} {many}", lambda n, w=w: np.arange(n) >= n - w
        yield f"the {many} of the last group of {w}", lambda n, w=w: np.arange(n) >= (n - 1) // w * w
        yield f"the {many} before the last group of {w}", lambda n, w=w: np.arange(n) < (n - 1) // w * w
        yield f"the {many} of whole groups of {w}", lambda n, w=w: np.arange(n) < n - n % w
    longest = max(lines, key=len)
    for w in widths:
        if w >= len(longest):
            break
        seen = np.zeros(w, bool)
        seen[np.flatnonzero(longest) % w] = True
        if not seen.all():
            yield (
                f"the {many} whose index modulo {w} is {_these(seen)}",
                lambda n, w=w, seen=seen: seen[np.arange(n) % w],
            )
        groups = np.zeros(2, bool)
        groups[np.flatnonzero(longest) // w % 2] = True
        if not groups.all():
            words = f"the {many} of each second group of {w}, from {one} {w * int(groups[1])} on"
            yield words, lambda n, w=w, groups=groups: groups[np.arange(n) // w % 2]


def _these(mask: np.ndarray) -> str:
    """Which numbers a mask has, in words."""
    places = np.flatnonzero(mask)
    if len(places) == 1:
        return str(places[0])
    if len(places) == len(mask) - 1:
        return f"not {np.flatnonzero(~mask)[0]}"
    if places[-1] - places[0] == len(places) - 1:
        return f"{places[0]} to {places[-1]}"
    return (
        f"{', '.join(map(str, places[:4]))}{' or others' if len(places) > 4 else ''}"
        if len(places) < 9
        else "one of many"
    )


def _on_two_axes(wrong: Sequence[Part], right: Sequence[Part], widths: Sequence[int]) -> str:
    """A rule of rows and columns together."""
    if wrong[0].wrong.ndim < 2:
        return ""
    for words, holds in (
        ("those on the diagonal", lambda i, j, d: j == i + d), ("those off the diagonal", lambda i, j, d: j != i + d),
        ("those above the diagonal", lambda i, j, d: j > i + d), ("those below the diagonal", lambda i, j, d: j < i + d),
        ("those on the diagonal and above it", lambda i, j, d: j >= i + d),
        ("those on the diagonal and below it", lambda i, j, d: j <= i + d),
    ):  # fmt: skip
        for from_right in (False, True):

            def mask(shape: tuple, holds=holds, from_right=from_right) -> np.ndarray:
                i, j = np.ogrid[: shape[-2], : shape[-1]]
                return np.broadcast_to(holds(i, j, (shape[-1] - shape[-2]) * from_right), shape)

            if _holds(mask, wrong, right):
                return words + (" that ends in the last column of the last row" if from_right else "")
    for joined, word in ((np.logical_or, "and"), (np.logical_and, "where they meet")):
        found = []
        for axis in (-2, -1):
            lines = []
            for part in wrong:
                others = tuple(a for a in range(part.wrong.ndim) if a != axis % part.wrong.ndim)
                lines.append(part.wrong.all(axis=others) if joined is np.logical_or else part.wrong.any(axis=others))
            one, many = _words(2, axis % 2)
            # an axis may have none, or all, in some case
            named = _named_lines(lines, widths, one, many)
            found.append((named, lines))
        if not all(named for named, _ in found):
            continue
        (rows, row_lines), (columns, column_lines) = found
        if all(
            np.array_equal(np.broadcast_to(joined(r[:, None], c), part.shape), part.wrong)
            for part, r, c in zip(wrong, row_lines, column_lines, strict=True)
        ):
            return f"{rows} and {columns}" if word == "and" else f"the elements in {rows} and in {columns} at once"
    return ""


def _named_lines(lines: Sequence[np.ndarray], widths: Sequence[int], one: str, many: str) -> str:
    some = [line for line in lines if line.any()]
    if len(some) < 2:
        return ""
    for words, holds in rules(some, widths, one, many):
        if all(np.array_equal(holds(len(line)), line) for line in lines):
            return words
    return ""


def _holds(mask: Callable[[tuple], np.ndarray], wrong: Sequence[Part], right: Sequence[Part]) -> bool:
    return all(np.array_equal(mask(part.shape), part.wrong) for part in wrong) and not any(
        mask(part.shape).any() for part in right
    )


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


def _of_inputs(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str], predicates: Sequence[tuple]) -> str:
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


def _thresholds(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str]) -> str:
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
                    return f"those where {words}`{name}` is at least {of_wrong.min():.4g} (up to {of_right.max():.4g} all are right)"
                if of_wrong.max() < of_right.min():
                    return f"those where {words}`{name}` is at most {of_wrong.max():.4g} (from {of_right.min():.4g} on all are right)"
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


def telling(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
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
                else {x.ndim - 1: "columns", x.ndim - 2: "rows"}.get(axis, f"places along axis {axis}")
            )
            yield f"`{name}` has {{}} {word}", lambda o, i=i, axis=axis, n=x.ndim: _length(o.inputs[i], axis, n)


def _length(x: Any, axis: int, ndim: int) -> int | None:
    return x.shape[axis] if isinstance(x, np.ndarray) and x.ndim == ndim else None
