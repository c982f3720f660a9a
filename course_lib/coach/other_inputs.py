"""Inputs that a kernel may have computed with in place of those that it was given, each with a sentence: see what_if.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.coach.outcome import Outcome

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256)

Change = Callable[[tuple], tuple | None]  # of a case's inputs; None where it changes nothing


def changes(failing: Sequence[Outcome], names: Sequence[str]) -> Iterator[tuple[str, Change]]:
    """Sentences, each with a change of the inputs that it stands for."""
    inputs = failing[0].inputs
    yield from _exchanges(inputs, names)
    for i, name in enumerate(names):
        given = [outcome.inputs[i] for outcome in failing]
        if all(isinstance(x, bool | np.bool_) for x in given):
            for value in (True, False):
                yield (
                    f"These are the results that are right for `{name}` = {value}.",
                    _at(i, lambda x, value=value: None if x == value else value),
                )
        elif all(isinstance(x, int | float) for x in given):
            yield from _numbers(i, name)
        elif any(isinstance(x, np.ndarray) for x in given):
            yield from _arrays(i, name, inputs[i])
    yield from _parts(failing, names)


def _at(i: int, change: Callable[[Any], Any]) -> Change:
    def changed(inputs: tuple) -> tuple | None:
        new = None if inputs[i] is None else change(inputs[i])
        return None if new is None else (*inputs[:i], new, *inputs[i + 1 :])

    return changed


def _numbers(i: int, name: str) -> Iterator[tuple[str, Change]]:
    for words, change in (
        ("0", lambda x: 0 * x), ("1", lambda x: x**0), (f"-{name}", lambda x: -x),
        (f"{name} - 1", lambda x: x - 1), (f"{name} + 1", lambda x: x + 1), (f"1 / {name}", lambda x: 1 / x),
        (f"(int){name}", int), (f"{name} * {name}", lambda x: x * x),
        (f"sqrtf({name})", np.sqrt),
    ):  # fmt: skip
        said = f"These are the results that are right where `{words}` stands for `{name}`."
        yield said, _at(i, lambda x, change=change: _another(x, change))
    for value in (0.1, 0.5, 0.9, 2, 10):
        said = f"These are the results that are right for `{name}` = {value}."
        yield said, _at(i, lambda x, value=value: _another(x, lambda _: value))


def _another(x: Any, change: Callable) -> Any:
    new = change(x)
    new = type(x)(new) if isinstance(new, np.floating) else new
    return None if new == x else new


def _exchanges(inputs: tuple, names: Sequence[str]) -> Iterator[tuple[str, Change]]:
    arrays = [i for i, x in enumerate(inputs) if isinstance(x, np.ndarray)]
    numbers = [i for i, x in enumerate(inputs) if isinstance(x, int | float) and not isinstance(x, bool)]
    for group in (arrays, numbers):
        for a in group:
            for b in group:
                if a < b:
                    said = f"These are the results that are right where `{names[a]}` and `{names[b]}` are exchanged."
                    yield said, lambda given, a=a, b=b: _exchanged(given, a, b)
    for a in arrays:
        for b in arrays:
            if a != b:
                said = f"These are the results that are right where `{names[b]}` is read in place of `{names[a]}`."
                yield said, lambda given, a=a, b=b: _replaced(given, a, b)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype
    return type(a) is type(b)


def _exchanged(given: tuple, a: int, b: int) -> tuple | None:
    new = list(given)
    new[a], new[b] = given[b], given[a]
    return tuple(new) if _alike(given[a], given[b]) else None


def _replaced(given: tuple, a: int, b: int) -> tuple | None:
    return (*given[:a], given[b], *given[a + 1 :]) if _alike(given[a], given[b]) else None


def _arrays(i: int, name: str, first: Any) -> Iterator[tuple[str, Change]]:
    """Changes of the values of one array."""
    found: list[tuple[str, Callable]] = [
        (f"without `{name}` (with 0 for each of its elements)", np.zeros_like),
        (f"without `{name}` (with 1 for each of its elements)", np.ones_like),
        (f"where `{name}` has the other sign", lambda x: -x if x.dtype.kind in "fi" else None),
        (f"where the elements of `{name}` lose their sign", lambda x: np.abs(x) if x.dtype.kind in "fi" else None),
        (f"where the elements of `{name}` lose their fractional parts, as an `int` does that holds them",
         lambda x: np.trunc(x) if x.dtype.kind == "f" else None),
        (f"where the elements of `{name}` are rounded to half precision",
         lambda x: x.astype(np.float16).astype(x.dtype) if x.dtype.kind == "f" else None),
        (f"where the elements of `{name}` are rounded to bfloat16", _as_bfloat16),
        (f"where the elements of `{name}` lose all but their lowest 32 bits", lambda x: _as_type(x, np.int32)),
        (f"where the elements of `{name}` lose all but their lowest 16 bits", lambda x: _as_type(x, np.int16)),
        (f"where the elements of `{name}` are rounded to floats",
         lambda x: x.astype(np.float32).astype(x.dtype) if x.dtype.kind in "iu" else None),
        (f"where `{name}` is false throughout", lambda x: np.zeros_like(x) if x.dtype.kind == "b" else None),
        (f"where `{name}` is inverted", lambda x: ~x if x.dtype.kind == "b" else None),
        (f"where each element of `{name}` is one larger", lambda x: x + 1 if x.dtype.kind in "iu" else None),
        (f"where each element of `{name}` is one smaller", lambda x: x - 1 if x.dtype.kind in "iu" else None),
        (f"where `{name}` is transposed", lambda x: x.swapaxes(-1, -2) if x.ndim > 1 and x.shape[-1] == x.shape[-2] else None),
        (f"where the rows of `{name}` lie as its columns do: its elements are read as those of the transposed matrix",
         lambda x: x.swapaxes(-1, -2).reshape(x.shape) if x.ndim > 1 else None),
        (f"where `{name}` is read as if its rows were as long as its columns",
         lambda x: x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2]).swapaxes(-1, -2) if x.ndim > 1 else None),
    ]  # fmt: skip
    for axis in range(first.ndim if isinstance(first, np.ndarray) else 0):
        one, many = _axis(first.ndim, axis)
        found += [
            (f"where all {many} of `{name}` are as {one} 0", lambda x, axis=axis: _repeated(x, axis)),
            (f"where the {many} of `{name}` come in the reverse order", lambda x, axis=axis: np.flip(x, axis)),
            (f"where the {many} of `{name}` are read one further", lambda x, axis=axis: np.roll(x, -1, axis)),
            (f"where the {many} of `{name}` are read one too early", lambda x, axis=axis: np.roll(x, 1, axis)),
        ]
    for words, change in found:
        yield f"These are the results that are right {words}.", _at(i, lambda x, change=change: _other_array(x, change))


def _other_array(x: Any, change: Callable) -> np.ndarray | None:
    if not isinstance(x, np.ndarray):
        return None
    with np.errstate(all="ignore"):
        new = change(x)
    return None if new is None or np.array_equal(new, x, equal_nan=x.dtype.kind == "f") else np.ascontiguousarray(new)


def _as_bfloat16(x: np.ndarray) -> np.ndarray | None:
    if x.dtype != np.float32:
        return None
    bits = np.ascontiguousarray(x).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def _as_type(x: np.ndarray, kind: type) -> np.ndarray | None:
    return x.astype(kind).astype(x.dtype) if x.dtype.kind in "iu" else None


def _repeated(x: np.ndarray, axis: int) -> np.ndarray:
    return np.broadcast_to(x.take([0], axis), x.shape).copy() if x.shape[axis] else x


def _axis(ndim: int, axis: int) -> tuple[str, str]:
    """What lies along an axis, one and many."""
    if ndim == 1:
        return "element", "elements"
    if axis == ndim - 1:
        return "column", "columns"
    if axis == ndim - 2:
        return "row", "rows"
    return f"slice of axis {axis}", f"slices along axis {axis}"


def _parts(failing: Sequence[Outcome], names: Sequence[str]) -> Iterator[tuple[str, Change]]:
    """A part of an axis is all that counts, in each array that has it; or in one array, where what is left out counts as 0."""
    first = failing[0].inputs
    blocks = {int(np.prod(report.block)) for report in failing[0].reports[-1:] if hasattr(report, "block")}
    for i, x in enumerate(first):
        if not isinstance(x, np.ndarray):
            continue
        for axis in range(x.ndim):
            _, many = _axis(x.ndim, axis)
            for words, chosen in _choices(blocks):
                said = f"These are the results that are right if, of the {many} of `{names[i]}`, {words} counted."
                yield said, lambda given, i=i, axis=axis, chosen=chosen: _taken(given, i, axis, chosen)
                yield said, lambda given, i=i, axis=axis, chosen=chosen: _zeroed(given, i, axis, chosen)


def _choices(blocks: set[int]) -> Iterator[tuple[str, Callable[[int], np.ndarray]]]:
    """Which indices of an axis count, given its length."""
    yield "all but the last", lambda n: np.arange(n - 1)
    yield "all but the first", lambda n: np.arange(1, n)
    yield "only the first", lambda n: np.arange(min(n, 1))
    yield "only the last", lambda n: np.arange(max(n - 1, 0), n)
    for width in sorted({*WIDTHS, *blocks, *(4 * b for b in blocks)}):
        yield f"only the first {width}", lambda n, w=width: np.arange(min(n, w))
        yield f"only the last {width}", lambda n, w=width: np.arange(max(n - w, 0), n)
        yield (
            f"only the whole groups of {width}, without the rest behind them,",
            lambda n, w=width: np.arange(n - n % w),
        )
        yield f"all but the first {width}", lambda n, w=width: np.arange(min(n, w), n)
        yield f"all but the last group of {width}", lambda n, w=width: np.arange((n - 1) // w * w)
        yield (
            f"only the last group of {width} (or what is left of it)",
            lambda n, w=width: np.arange((n - 1) // w * w, n),
        )
        yield f"only those whose index is a multiple of {width}", lambda n, w=width: np.arange(0, n, w)
        yield f"only the last of each {width}", lambda n, w=width: np.arange(w - 1, n, w)
    for block in sorted(blocks):
        for pack in (1, 4, 2, 8):
            each = "" if pack == 1 else f", {pack} at a time"
            for who, count in (("thread 0", 1), ("the first warp", 32)):
                if count < block:
                    yield (
                        f"only those that {who} of {block} threads meets{each},",
                        lambda n, b=block, p=pack, c=count: _of_first_threads(n, b, p, c),
                    )
    yield "all were taken twice", lambda n: np.concatenate([np.arange(n), np.arange(n)])
    yield "the last was taken twice and", lambda n: np.append(np.arange(n), n - 1)
    yield "the first was taken twice and", lambda n: np.append(0, np.arange(n))


def _of_first_threads(n: int, block: int, pack: int, count: int) -> np.ndarray:
    """What the first `count` of a block's threads meet, that take packs in turn, and one by one what is left behind them."""
    i = np.arange(n)
    whole = n // pack * pack
    return np.flatnonzero(np.where(i < whole, i // pack % block, (i - whole) % block) < count)


def _taken(given: tuple, i: int, axis: int, chosen: Callable[[int], np.ndarray]) -> tuple | None:
    length = given[i].shape[axis] if isinstance(given[i], np.ndarray) else 0
    kept = chosen(length) if length else np.arange(0)
    if not len(kept) or np.array_equal(kept, np.arange(length)):
        return None
    new = list(given)
    for k, x in enumerate(given):
        if isinstance(x, np.ndarray):
            for a in range(x.ndim):
                if x.shape[a] == length and (k != i or a == axis):
                    new[k] = new[k].take(kept, a)
    return tuple(new)


def _zeroed(given: tuple, i: int, axis: int, chosen: Callable[[int], np.ndarray]) -> tuple | None:
    x = given[i]
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiu":
        return None
    counts = np.bincount(chosen(x.shape[axis]), minlength=x.shape[axis]) if x.shape[axis] else np.arange(0)
    if (counts == 1).all():
        return None
    shape = [1] * x.ndim
    shape[axis] = -1
    return (*given[:i], x * counts.astype(x.dtype).reshape(shape), *given[i + 1 :])
