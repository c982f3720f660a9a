"""How the wrong elements of a kernel's results stand to what they should be: a factor that the case knows, an input left out.

Each sentence was found to hold of all wrong elements (`Part`) of all failing cases, two at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.coach import factors, mixed_elements
from course_lib.coach.parts import CLOSE, Part, near, values, which

ANY = "any"  # a case that cannot tell
HALF, BFLOAT = 2**-11, 2**-8  # rounding errors of numbers of 16 bits


def says(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str]) -> str:
    """One sentence, or ""."""
    if words := _wrapped(wrong):
        return words
    if words := _must_be(wrong):
        return words
    if len(wrong) < 2 or sum(part.wrong.sum() for part in wrong) < 4:
        return ""
    with np.errstate(all="ignore"):
        if any(_off(part) < 5 * CLOSE for part in wrong):  # so near to what is right that much would fit
            return _rounded(wrong, names)
        for find in (
            _other_number,
            factors.factor,
            _copied,
            mixed_elements.of_other_elements,
            _input_added,
            _input_multiplied,
            _by_rows,
            mixed_elements.summed,
            mixed_elements.of_neighbours,
            _rounded,
        ):
            if words := find(wrong, names):
                return words
    return ""


def _other_number(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """One number stands in all wrong elements."""
    found = {float(value) for part in wrong for value in part.got[part.wrong][:1]}
    if len(found) == 1 and all((part.got[part.wrong] == next(iter(found))).all() for part in wrong):
        value = found.pop()
        wanted = {float(value) for part in wrong for value in part.expected[part.wrong].tolist()}
        instead = f", where {wanted.pop():g} is right" if len(wanted) == 1 else ""
        return f"{which(wrong)} is {value:g}{instead}."
    return ""


def _must_be(wrong: Sequence[Part]) -> str:
    """In all failing cases 0, or -inf, is right where an element is wrong: as where something was to be masked."""
    for value in (0.0, -np.inf):
        if all((part.expected[part.wrong] == value).all() and not part.wrong.all() for part in wrong):
            if sum(int(part.wrong.sum()) for part in wrong) > 1:
                return (
                    f"The wrong elements are all such that must be {value:g}, as where something is masked or left out."
                )
    return ""


def _alike(x: Any, part: Part) -> Iterator[tuple[str, np.ndarray]]:
    """An input at the place of each element of a result, with the index that it has there."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiu" or not x.size:
        return
    if x.size == part.expected.size:
        yield "", x.reshape(part.shape)
    if x.ndim == 1 and len(part.shape) > 1:
        if len(x) == part.shape[-1]:
            yield " of its column", np.broadcast_to(x, part.shape)
        if len(x) == np.prod(part.shape[:-1]):
            yield " of its row", np.broadcast_to(x.reshape(*part.shape[:-1], 1), part.shape)


def _with_inputs(
    wrong: Sequence[Part], names: Sequence[str], key: Callable[[Part, np.ndarray], Any]
) -> tuple[str, Any]:
    """The first input for which `key` gives the same in all failing cases, with that; "" if there is none."""
    for i, name in enumerate(names):
        for place in ("", " of its column", " of its row"):
            keys, cases = set(), 0
            for part in wrong:
                x = part.outcome.inputs[i] if i < len(part.outcome.inputs) else None
                given = next((array for word, array in _alike(x, part) if word == place), None)
                found = None if given is None else key(part, given[part.wrong].astype(np.float64))
                cases += found != ANY
                keys |= {found} - {ANY}
            if len(keys) == 1 and cases > 1 and (found := keys.pop()) is not None:
                return f"`{name}`{place}", found
    return "", None


def _copied(wrong: Sequence[Part], names: Sequence[str]) -> str:
    def same(part: Part, x: np.ndarray) -> Any:
        got, _ = values(part)
        return (
            "the number"
            if near(got, x)
            else "the opposite"
            if near(got, -x)
            else "the square"
            if near(got, x * x)
            else None
        )

    name, found = _with_inputs(wrong, names, same)
    return f"{which(wrong)} is {found} in {name}." if name else ""


def _input_added(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each element is off by a multiple of an input."""

    def times(part: Part, x: np.ndarray) -> Any:
        got, expected = values(part)
        off = got - expected
        if not np.isfinite(off).all() or not x.any():
            return None
        k = off[np.abs(x).argmax()] / x[np.abs(x).argmax()]
        k = round(k * 4) / 4
        return k if k and near(off, k * x, np.maximum(np.abs(expected), np.abs(x))) else None

    name, k = _with_inputs(wrong, names, times)
    if not name:
        return ""
    if k == -1:
        return f"{which(wrong)} lacks the number in {name}: what came is too small by it."
    return f"{which(wrong)} is too large by {'' if k == 1 else f'{k:g} times '}the number in {name}."


def _input_multiplied(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each element is another by a factor that is an input, or its reciprocal."""

    def power(part: Part, x: np.ndarray) -> Any:
        got, expected = values(part)
        if np.ptp(np.abs(x)) == 0:
            return ANY
        return next(
            (p for p in (1, -1, 2, -2, 0.5, -0.5) if np.isfinite(x**p).all() and near(got, expected * x**p)), None
        )

    name, p = _with_inputs(wrong, names, power)
    words = {
        1: "multiplied by the number in {} once too often",
        -1: "not multiplied by the number in {}, or divided by it once too often",
        2: "multiplied by the square of the number in {}",
        -2: "divided by the square of the number in {}",
        0.5: "multiplied by the square root of the number in {}",
        -0.5: "divided by the square root of the number in {}",
    }
    return f"{which(wrong)} is {words[p].format(name)}." if name else ""


def _by_rows(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each row, or each column, has a factor or a shift of its own."""
    if any(part.wrong.ndim < 2 for part in wrong):
        return ""
    for one, axis in (("row", -1), ("column", -2)):
        for kind in ("factor", "number"):
            informative = 0
            for part in wrong:
                got, expected = (
                    np.moveaxis(x.astype(np.float64), axis, -1).reshape(-1, part.shape[axis])
                    for x in (part.got, part.expected)
                )
                if not np.isfinite(got).all() or not np.isfinite(expected).all():
                    break
                if kind == "factor":
                    at = np.abs(expected).argmax(-1)[:, None]
                    factor = np.take_along_axis(got, at, -1) / np.take_along_axis(expected, at, -1)
                    fits = np.abs(got - factor * expected) <= CLOSE * np.maximum(
                        np.abs(got).max(-1, keepdims=True), 1e-3
                    )
                else:
                    shift = np.sort(got - expected, -1)[:, got.shape[-1] // 2, None]
                    fits = np.abs(got - expected - shift) <= CLOSE * np.maximum(np.abs(expected), np.abs(shift) + 1e-3)
                if not fits.all():
                    break
                informative += got.shape[-1] > 3 and got.shape[0] > 1
            else:
                if informative > 1 and kind == "number" and axis == -1 and (words := _mean_of_row(wrong, names)):
                    return words
                if informative > 1:
                    off = "times a factor" if kind == "factor" else "plus a number"
                    return f"Each {one} is right, {off} that is the same in the whole {one} and another in each {one}."
    return ""


def _mean_of_row(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each row is off by the same multiple of an input's mean in this row."""
    for i, name in enumerate(names):
        found: set[float] = set()
        for part in wrong:
            x = part.outcome.inputs[i] if i < len(part.outcome.inputs) else None
            if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or x.shape != part.shape:
                break
            mean = x.astype(np.float64).mean(-1)
            off = (part.got.astype(np.float64) - part.expected).mean(-1)
            k = off.flat[np.abs(mean).argmax()] / mean.flat[np.abs(mean).argmax()]
            if not near(off, k * mean, np.abs(k * mean).max()):
                break
            found.add(float(f"{k:.3g}"))
        else:
            if len(found) == 1 and (k := found.pop()):
                off = f"{abs(k):g} times the mean" if abs(k) != 1 else "the mean"
                return f"Each row is too {'large' if k > 0 else 'small'} by {off} of its row of `{name}`."
    return ""


def _wrapped(wrong: Sequence[Part]) -> str:
    """Whole numbers that lost their upper bits."""
    if any(part.expected.dtype.kind not in "iu" for part in wrong):
        return ""
    for bits in (32, 16):  # 32 are no coincidence in one case, 16 in two
        if bits == 16 and len(wrong) < 2:
            break
        if all(
            ((part.got[part.wrong].astype(object) - part.expected[part.wrong].astype(object)) % 2**bits == 0).all()
            for part in wrong
        ):
            return f"{which(wrong)} is off by a multiple of 2^{bits}: a number of {bits} bits overflowed."
    return ""


def _rounded(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """The right numbers with fewer digits."""
    if all(part.expected.dtype.kind in "iu" for part in wrong):
        large = all((np.abs(values(part)[1]) >= 2**24).all() and _off(part) < 2**-20 for part in wrong)
        return (
            f"{which(wrong)} is off by less than one in a million, as numbers that passed through a float, which holds 24 bits."
            if large
            else ""
        )
    if any(part.expected.dtype.kind != "f" for part in wrong):
        return ""
    if all(np.array_equal(part.got.astype(np.float16).astype(part.got.dtype), part.got) for part in wrong) and all(
        _off(part) <= 2 * HALF for part in wrong
    ):
        return f"{which(wrong)} is right to three digits, and what came are numbers of half precision."
    if all(_is_bfloat(part.got[part.wrong]) and _off(part) <= 2 * BFLOAT for part in wrong):
        return f"{which(wrong)} is right to two digits, and what came are numbers of bfloat16."
    return ""


def _off(part: Part) -> float:
    got, expected = values(part)
    return float((np.abs(got - expected) / np.maximum(np.abs(expected), 1e-30)).max())


def _is_bfloat(x: np.ndarray) -> bool:
    return x.dtype == np.float32 and not (np.ascontiguousarray(x).view(np.uint32) & 0xFFFF).any()
