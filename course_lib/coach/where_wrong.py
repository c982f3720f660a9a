"""Which elements of a kernel's results are wrong, as a rule: "all columns from 32 on", "the elements behind the last group of 4".

A rule is said if it holds of exactly the wrong elements in all failing cases, two at least, and of none in a right case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from course_lib.coach.input_rules import OVERFLOWS, PREDICATES, of_inputs, thresholds
from course_lib.coach.parts import Part, block, quantities

WIDTHS = (2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
Rule = Callable[[int], np.ndarray]  # of a length: a mask


def rule(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str]) -> str:
    """The wrong elements in words: "the rows from 32 on"; "" where all are wrong, or no rule holds."""
    if len(wrong) < 2 or all(part.wrong.all() for part in wrong) or len({part.wrong.ndim for part in wrong}) > 1:
        return ""
    if words := of_inputs(wrong, right, names, PREDICATES[:OVERFLOWS]):
        return words
    if all(np.isnan(part.got[part.wrong]).all() for part in wrong) and (words := thresholds(wrong, right, names)):
        return words
    widths = sorted({*WIDTHS, *(size for part in wrong for size in block(part.outcome))} - {1})
    ndim = wrong[0].wrong.ndim
    for axis in [None, *range(ndim - 1, -1, -1)] if ndim == 1 else [*range(ndim - 1, -1, -1), None]:
        if words := _along(axis, wrong, right, widths, names):
            return words
    if words := _on_two_axes(wrong, right, widths) or of_inputs(wrong, right, names, PREDICATES[OVERFLOWS:]):
        return words
    if words := thresholds(wrong, right, names):
        return words
    # what is right in other cases may be so by chance: what is said is said of the failing ones alone
    return rule(wrong, [], names) if right else ""


def _along(
    axis: int | None, wrong: Sequence[Part], right: Sequence[Part], widths: Sequence[int], names: Sequence[str]
) -> str:
    """A rule of the index along one axis, or of the offset in memory."""
    lines = []
    for part in wrong:
        line = _line(part.wrong, axis)
        if line is None:
            return ""
        lines.append(line)
    lengths = [part.wrong.size if axis is None else part.shape[axis] for part in right]
    one, many = _words(wrong[0].wrong.ndim, axis)
    return _first_rule(lines, lengths, widths, one, many) or _beyond_a_size(lines, wrong, many, names)


def _beyond_a_size(lines: Sequence[np.ndarray], wrong: Sequence[Part], many: str, names: Sequence[str]) -> str:
    """The indices from a number on that each case knows, such as the length of an input that a guard should not ask about."""
    sizes = [dict(quantities(part, names)) for part in wrong]
    factors = {
        f"`{names[i]}`"
        for part in wrong
        for i, x in enumerate(part.outcome.inputs[: len(names)])
        if isinstance(x, float)
    }
    for name in sizes[0]:
        of_it = [known.get(name) for known in sizes]
        if None in of_it or len(set(of_it)) == 1 or name in factors:  # a factor of 1.0 is no index
            continue
        if all(np.array_equal(np.arange(len(line)) >= size, line) for size, line in zip(of_it, lines, strict=True)):
            return f"all {many} from {name} on"
    return ""


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
        if 2 * w > len(longest):
            break  # what was seen once does not repeat
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
