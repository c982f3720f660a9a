"""What all wrong results have in common: said only if it holds in every failing case, and in two different ones at least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.coach.compare import difference, plain
from course_lib.coach.outcome import Outcome

TOLERANCE = 1e-6
Pair = tuple[Any, Any, tuple]  # got, expected, the inputs


def of_values(outcomes: Sequence[Outcome], names: Sequence[str]) -> str:
    """A sentence, or "". names: of the inputs."""
    failing = [outcome for outcome in outcomes if not outcome.right]
    if any(outcome.difference is None for outcome in failing):
        return ""
    whole = [(plain(o.got), plain(o.expected), o.inputs) for o in failing]
    places = {(o.difference.where, o.difference.part) for o in failing}
    if words := _said(whole, names, "the result"):
        return words
    if len(places) > 1 or not failing[0].difference.where:
        return ""
    parts = [(plain(o.difference.got), plain(o.difference.expected), o.inputs) for o in failing]
    return _said(parts, names, places.pop()[1])


def _said(pairs: list[Pair], names: Sequence[str], it: str) -> str:
    if not any(difference(b, pairs[0][1], 0.0) for _, b, _ in pairs):
        return ""  # one expected result alone proves nothing
    for test in (_returned, _other_axis, _arrangement, _always, _numbers):
        if words := test(pairs, names, it):
            return words[0].upper() + words[1:]
    return ""


def _same(a: Any, b: Any) -> bool:
    return difference(a, b, TOLERANCE) is None


def _returned(pairs: list[Pair], names: Sequence[str], it: str) -> str:
    """An input given back as it was."""
    for number in range(min(len(inputs) for *_, inputs in pairs)):
        # an input of one kind with what is expected, which varies: else it may be equal by chance
        if all(_same(got, inputs[number]) and type(got) is type(plain(inputs[number])) for got, _, inputs in pairs):
            if any(_size(got) > 1 for got, *_ in pairs) or len({repr(got) for got, *_ in pairs}) > 2:
                name = f"`{names[number]}`" if number < len(names) else f"input {number + 1}"
                return f"in every case that fails, {it} is {name} as it was given: nothing is done to it."
    return ""


def _other_axis(pairs: list[Pair], names: Sequence[str], it: str) -> str:
    """One number for each column of a matrix where it must be one for each row, or the other way round."""
    sizes = [tuple(x.shape if isinstance(x, np.ndarray) and x.ndim == 1 else () for x in pair[:2]) for pair in pairs]
    if not all(got and wanted for got, wanted in sizes):
        return ""
    for number in range(min(len(inputs) for *_, inputs in pairs)):
        given = [plain(inputs[number]) for *_, inputs in pairs]
        if not all(isinstance(x, np.ndarray) and x.ndim == 2 for x in given):
            continue
        for one, other, wanted in (("column", "row", 0), ("row", "column", 1)):
            fits = [
                b == (x.shape[wanted],) and a == (x.shape[1 - wanted],) for (a, b), x in zip(sizes, given, strict=True)
            ]
            if all(fits) and any(a != b for a, b in sizes):
                name = f"`{names[number]}`" if number < len(names) else f"input {number + 1}"
                return (
                    f"{it} has a number for each {one} of {name}, and not for each {other}: reduce over the other axis."
                )
    return ""


def _arrangement(pairs: list[Pair], names: Sequence[str], it: str) -> str:
    """The right entries, and one more or less, or in another arrangement."""
    if _flat_index(pairs):
        return f"in every case that fails, {it} is an index into all elements in a row: `np.unravel_index` gives row and column."
    tests: list[tuple[str, Callable[[Any, Any], bool]]] = [
        ("is inside of one more list or tuple than it should be", lambda a, b: len(a) == 1 and _same(a[0], b)),
        (
            "has the right value first, and something more beside it",
            lambda a, b: isinstance(a, tuple) and len(a) > 1 and _same(a[0], b),
        ),
    ]
    if all(isinstance(a, tuple | list) and not isinstance(b, tuple | list) for a, b, _ in pairs):
        tests += [
            ("is a list of several: only its last entry is asked for", lambda a, b: len(a) > 1 and _same(a[-1], b)),
            ("is a list of several: only its first entry is asked for", lambda a, b: len(a) > 1 and _same(a[0], b)),
        ]
    if all(isinstance(b, tuple | list) and not isinstance(a, tuple | list) for a, b, _ in pairs):
        tests += [
            (f"is only part {i + 1} of what is asked for", lambda a, b, i=i: len(b) > i and _same(a, b[i]))
            for i in range(3)
        ]
    if all(
        isinstance(a, tuple | list | np.ndarray) and isinstance(b, tuple | list | np.ndarray) for a, b, _ in pairs
    ) and any(len(b) > 1 for _, b, _ in pairs):
        tests += OF_ENTRIES
    if all(isinstance(a, dict) and isinstance(b, dict) for a, b, _ in pairs):
        tests += OF_KEYS
    for words, test in tests:
        if _all(test, pairs):
            return f"in every case that fails, {it} {words}."
    return ""


OF_ENTRIES: list[tuple[str, Callable[[Any, Any], bool]]] = [
    ("lacks its last entry, and is right otherwise", lambda a, b: len(b) == len(a) + 1 and _same(a, b[:-1])),
    ("lacks its first entry, and is right otherwise", lambda a, b: len(b) == len(a) + 1 and _same(a, b[1:])),
    ("has one entry too many at its end, and is right otherwise", lambda a, b: len(a) == len(b) + 1 and _same(a[:-1], b)),
    ("has one entry too many at its beginning, and is right otherwise", lambda a, b: len(a) == len(b) + 1 and _same(a[1:], b)),
    ("has the right beginning, and ends too early", lambda a, b: 0 < len(a) < len(b) and _same(a, b[: len(a)])),
    ("has the right beginning, and then goes on too long", lambda a, b: len(a) > len(b) > 0 and _same(a[: len(b)], b)),
    ("is flat: its entries are right, and must stand in tuples or lists of their own",
     lambda a, b: _nested(b) and not _nested(a) and _same(list(a), _flat(b))),
    ("has the right entries in the reverse order", lambda a, b: len(b) > 1 and _same(a[::-1], b)),
    ("has the right entries in the wrong order", lambda a, b: len(b) > 1 and _sorted(a) == _sorted(b)),
    ("has the right entries, some of them too often", lambda a, b: len(a) > len(b) and _set(a) == _set(b)),
    ("has the right entries, some of them too seldom", lambda a, b: len(a) < len(b) and _set(a) == _set(b)),
    ("lacks entries, and has no wrong one", lambda a, b: len(a) < len(b) and _set(a) < _set(b)),
    ("has entries that must not be there, and lacks none", lambda a, b: len(a) > len(b) and _set(a) > _set(b)),
]  # fmt: skip
OF_KEYS: list[tuple[str, Callable[[Any, Any], bool]]] = [
    ("lacks keys, and what it has is right", lambda a, b: a.keys() < b.keys() and all(_same(a[k], b[k]) for k in a)),
    ("has keys that must not be there, and is right otherwise",
     lambda a, b: a.keys() > b.keys() and all(_same(a[k], b[k]) for k in b)),
]  # fmt: skip


def _flat_index(pairs: list[Pair]) -> bool:
    arrays = [[one for one in inputs if isinstance(one, np.ndarray) and one.ndim > 1] for *_, inputs in pairs]
    if not all(arrays) or not all(isinstance(a, int) and isinstance(b, tuple) for a, b, _ in pairs):
        return False
    return all(
        len(b) == len(x[0].shape) and 0 <= a < x[0].size and np.unravel_index(a, x[0].shape) == b
        for (a, b, _), x in zip(pairs, arrays, strict=True)
    )


def _all(test: Callable[[Any, Any], bool], pairs: list[Pair]) -> bool:
    try:
        return all(test(a, b) for a, b, _ in pairs)
    except Exception:  # these values have no length, no order, no hash
        return False


def _always(pairs: list[Pair], names: Sequence[str], it: str) -> str:
    """The same value in all of at least three cases."""
    if (
        len(pairs) > 2
        and len({repr(b) for _, b, _ in pairs}) > 2
        and all(isinstance(a, str | int | float) for a, *_ in pairs)
    ):
        if all(_same(a, pairs[0][0]) for a, *_ in pairs):
            return f"{it} is {pairs[0][0]!r} in every case that fails, whatever is given."
    return ""


def _numbers(pairs: list[Pair], names: Sequence[str], it: str) -> str:
    """The same thing done to every number: a factor, an offset, a root."""
    arrays = []
    for got, expected, inputs in pairs:
        try:
            a, b = np.asarray(got, np.float64), np.asarray(expected, np.float64)
        except (TypeError, ValueError):
            return ""
        if a.shape != b.shape or isinstance(got, bool) or isinstance(expected, bool):
            return ""
        arrays.append((a, b, inputs))
    with np.errstate(all="ignore"):
        if words := _infinite(arrays, it):
            return words
        if not all(np.isfinite(a).all() and np.isfinite(b).all() for a, b, _ in arrays):
            return ""
        if len({round(float(v), 6) for _, b, _ in arrays for v in b.ravel()[:50]}) < 3:
            return ""  # so few numbers fit by chance
        return _by_sizes(arrays, names, it) or _by_formula(arrays, it)


def _infinite(arrays: list, it: str) -> str:
    if all(
        np.isinf(b).any() and np.abs(a[np.isinf(b)]).min() > 1e4 and np.isfinite(a[np.isinf(b)]).all()
        for a, b, _ in arrays
    ):
        return f"{it} has a large number where it must be infinite: `np.inf` is a number like any other."
    return ""


def _by_formula(arrays: list, it: str) -> str:
    everywhere = f"in every case that fails, {it} is"
    factors = [
        a.ravel()[i] / b.ravel()[i] for a, b, _ in arrays if b.size for i in [np.abs(b).argmax()] if b.ravel()[i]
    ]
    if factors and math.isfinite(factors[0]) and _close_all(arrays, lambda b: factors[0] * b):
        if abs(factors[0] + 1) < 1e-9:
            return f"in every case that fails, {it} has the wrong sign."
        for base in (2, 10):
            if abs(factors[0] * math.log(base) - 1) < 1e-6:
                return f"{everywhere} 1 / log({base}) times what it should be, as with a log of base {base} for the natural one."
            if abs(factors[0] / math.log(base) - 1) < 1e-6:
                return (
                    f"{everywhere} log({base}) times what it should be, as with the natural log for one of base {base}."
                )
        return f"{everywhere} {factors[0]:.4g} times what it should be."
    shift = float((arrays[0][0] - arrays[0][1]).ravel()[0]) if arrays[0][0].size else 0.0
    if shift and _close_all(arrays, lambda b: b + shift):
        return f"{everywhere} {abs(shift):.4g} too {'large' if shift > 0 else 'small'}."
    for words, formula in (
        ("the square of what it should be", np.square), ("the square root of what it should be", np.sqrt),
        ("the exp of what it should be", np.exp), ("the log of what it should be", np.log),
        ("1 minus what it should be", lambda b: 1 - b), ("1 divided by what it should be", lambda b: 1 / b),
        ("what it should be without its sign", np.abs), ("what it should be, rounded down", np.floor),
        ("what it should be, rounded up", np.ceil), ("what it should be, rounded", np.rint),
        ("what it should be without the fractional part", np.trunc),
    ):  # fmt: skip
        if _close_all(arrays, formula):
            return f"{everywhere} {words}."
    return ""


def _by_sizes(arrays: list, names: Sequence[str], it: str) -> str:
    """A factor that is another one in each case: a length of an input, or a number that is given."""
    ratios = []
    for a, b, _ in arrays:
        usable = b != 0
        if not usable.any():
            return ""
        ratio = (a[usable] / b[usable]).ravel()
        if not np.allclose(ratio, ratio[0], rtol=1e-5) or not np.allclose(a[~usable], 0):
            return ""
        ratios.append(float(ratio[0]))
    if len({round(ratio, 5) for ratio in ratios}) < 2:
        return ""
    given = [dict(_quantities(inputs, names)) for *_, inputs in arrays]
    for name in given[0]:
        if not all(name in one and one[name] > 0 for one in given):
            continue
        n = np.array([one[name] for one in given], np.float64)
        root = f"by the root of {name}"
        for words, factor in ((f"{name} times too large", n), (f"{name} times too small", 1 / n),
                              (f"too large {root}", np.sqrt(n)), (f"too small {root}", 1 / np.sqrt(n)),
                              (f"divided by n - 1 where n is meant (n: {name})", n / np.maximum(n - 1, 1)),
                              (f"divided by n where n - 1 is meant (n: {name})", (n - 1) / n)):  # fmt: skip
            if np.allclose(ratios, factor, rtol=1e-5):
                return f"in every case that fails, {it} is {words}."
    return ""


def _quantities(inputs: tuple, names: Sequence[str]) -> Iterator[tuple[str, float]]:
    for number, value in enumerate(inputs):
        name = f"`{names[number]}`" if number < len(names) else f"input {number + 1}"
        value = plain(value)
        if isinstance(value, np.ndarray):
            yield f"the number of elements of {name}", value.size
            for axis, size in enumerate(value.shape):
                yield f"the length of axis {axis} of {name}", size
        elif isinstance(value, list | tuple | str | dict):
            yield f"the length of {name}", len(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value


def _close_all(arrays: list, formula: Callable[[np.ndarray], np.ndarray]) -> bool:
    return all(np.allclose(a, formula(b), rtol=1e-5, atol=1e-7) for a, b, _ in arrays)


def _nested(x: Any) -> bool:
    return isinstance(x, tuple | list) and any(isinstance(one, tuple | list) for one in x)


def _flat(x: Any) -> list:
    return [value for one in x for value in (_flat(one) if isinstance(one, tuple | list) else [one])]


def _sorted(x: Any) -> list:
    return sorted(map(repr, np.asarray(x).tolist() if isinstance(x, np.ndarray) else x))


def _set(x: Any) -> set:
    return set(_sorted(x))


def _size(x: Any) -> int:
    return x.size if isinstance(x, np.ndarray) else len(x) if isinstance(x, list | tuple | str | dict) else 1
