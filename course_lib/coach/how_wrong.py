"""How the wrong elements of a kernel's results stand to what they should be: a factor that the case knows, an input that is missing.

Each sentence was found to hold of all wrong elements (`Part`) of all failing cases, two at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.coach.where_wrong import Part, block

ANY = "any"  # a case that cannot tell
CLOSE = 2e-4  # of values that were computed by different ways
HALF, BFLOAT = 2**-11, 2**-8  # rounding errors of numbers of 16 bits


def says(wrong: Sequence[Part], right: Sequence[Part], names: Sequence[str]) -> str:
    """One sentence, or ""."""
    if words := _wrapped(wrong):
        return words
    if len(wrong) < 2 or sum(part.wrong.sum() for part in wrong) < 4:
        return ""
    with np.errstate(all="ignore"):
        if any(_off(part) < 5 * CLOSE for part in wrong):  # so near to what is right that much would fit
            return _rounded(wrong, names)
        for find in (
            _other_number,
            _copied,
            _of_other_elements,
            _input_added,
            _input_multiplied,
            _factor,
            _by_rows,
            _summed,
            _of_neighbours,
            _rounded,
        ):
            if words := find(wrong, names):
                return words
    return ""


def _which(wrong: Sequence[Part]) -> str:
    return "Every element" if all(part.wrong.all() for part in wrong) else "Every wrong element"


def _values(part: Part) -> tuple[np.ndarray, np.ndarray]:
    return part.got[part.wrong].astype(np.float64), part.expected[part.wrong].astype(np.float64)


def _near(a: Any, b: Any, scale: Any = None) -> bool:
    """Whether all of two arrays are equal, relative to the larger of 1e-3 and what is expected."""
    scale = np.abs(b) if scale is None else scale
    return bool(np.all(np.isfinite(a) & np.isfinite(b)) and np.all(np.abs(a - b) <= CLOSE * np.maximum(scale, 1e-3)))


def _other_number(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """One number stands in all wrong elements."""
    found = {float(value) for part in wrong for value in part.got[part.wrong][:1]}
    if len(found) == 1 and all((part.got[part.wrong] == list(found)[0]).all() for part in wrong):
        value = found.pop()
        wanted = {float(value) for part in wrong for value in part.expected[part.wrong].tolist()}
        instead = f", where {wanted.pop():g} is right" if len(wanted) == 1 else ""
        return f"{_which(wrong)} is {value:g}{instead}."
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
        got, _ = _values(part)
        return (
            "the number"
            if _near(got, x)
            else "the opposite"
            if _near(got, -x)
            else "the square"
            if _near(got, x * x)
            else None
        )

    name, found = _with_inputs(wrong, names, same)
    return f"{_which(wrong)} is {found} in {name}." if name else ""


def _input_added(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each element is off by a multiple of an input."""

    def times(part: Part, x: np.ndarray) -> Any:
        got, expected = _values(part)
        off = got - expected
        if not np.isfinite(off).all() or not x.any():
            return None
        k = off[np.abs(x).argmax()] / x[np.abs(x).argmax()]
        k = round(k * 4) / 4
        return k if k and _near(off, k * x, np.maximum(np.abs(expected), np.abs(x))) else None

    name, k = _with_inputs(wrong, names, times)
    if not name:
        return ""
    if k == -1:
        return f"{_which(wrong)} lacks the number in {name}: what came is too small by it."
    return f"{_which(wrong)} is too large by {'' if k == 1 else f'{k:g} times '}the number in {name}."


def _input_multiplied(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each element is another by a factor that is an input, or its reciprocal."""

    def power(part: Part, x: np.ndarray) -> Any:
        got, expected = _values(part)
        if np.ptp(np.abs(x)) == 0:
            return ANY
        return next(
            (p for p in (1, -1, 2, -2, 0.5, -0.5) if np.isfinite(x**p).all() and _near(got, expected * x**p)), None
        )

    name, p = _with_inputs(wrong, names, power)
    words = {1: "multiplied by the number in {} once too often", -1: "not multiplied by the number in {}, or divided by it once too often",
             2: "multiplied by the square of the number in {}", -2: "divided by the square of the number in {}",
             0.5: "multiplied by the square root of the number in {}", -0.5: "divided by the square root of the number in {}"}  # fmt: skip
    return f"{_which(wrong)} is {words[p].format(name)}." if name else ""


def quantities(part: Part, names: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Numbers that a case knows, with their names."""
    for i, name in enumerate(names[: len(part.outcome.inputs)]):
        x = part.outcome.inputs[i]
        if isinstance(x, int | float) and not isinstance(x, bool):
            yield f"`{name}`", float(x)
        if isinstance(x, np.ndarray):
            if x.size == 1:
                yield f"the number in `{name}`", float(x.ravel()[0])
            words = (
                ["elements"]
                if x.ndim == 1
                else [*(f"places along axis {a}" for a in range(x.ndim - 2)), "rows", "columns"]
            )
            for word, size in zip(words, x.shape, strict=True):
                yield f"the number of {word} of `{name}`", float(size)
    for size in sorted(block(part.outcome)):
        if size > 1:
            yield "the number of threads of a block, or of one of its dimensions", float(size)
    for size in (2, 3, 4, 8, 16, 32, 64):
        yield str(size), float(size)


FACTORS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("{}", lambda q: q), ("1 / {}", lambda q: 1 / q), ("the square root of {}", lambda q: q**0.5),
    ("1 / the square root of {}", lambda q: q**-0.5), ("the square of {}", lambda q: q * q), ("1 / the square of {}", lambda q: q**-2),
    ("n / (n - 1), with n for {},", lambda q: q / (q - 1)), ("(n - 1) / n, with n for {},", lambda q: (q - 1) / q),
    ("the square root of n / (n - 1), with n for {},", lambda q: (q / (q - 1)) ** 0.5),
    ("the square root of (n - 1) / n, with n for {},", lambda q: ((q - 1) / q) ** 0.5),
    ("n / (n + 1), with n for {},", lambda q: q / (q + 1)), ("(n + 1) / n, with n for {},", lambda q: (q + 1) / q),
)  # fmt: skip


def _factor(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """All wrong elements of a case are off by one factor, or by one number, which the case knows."""
    every = _which(wrong)
    if (finite := [part for part in wrong if np.isfinite(part.got[part.wrong]).all()]) != wrong:
        wrong, every = finite, "Every wrong element that is finite"
    if len(wrong) < 2:
        return ""
    for word, off in (("times what it should be", _ratio), ("too large", _shift)):
        numbers = [off(part) for part in wrong]
        if any(number is None for number in numbers):
            continue
        if off is _ratio and all(abs(number + 1) < 1e-3 for number in numbers):
            return f"{every} has the wrong sign; its magnitude is right."
        for sign, small in (
            (1, word),
            (-1, "times what it should be, with the other sign" if off is _ratio else "too small"),
        ):
            left: set[str] | None = None
            for part, number in zip(wrong, numbers, strict=True):
                fits = set()
                for name, quantity in quantities(part, names):
                    for form, function in FACTORS if off is _ratio else FACTORS[:2]:
                        try:
                            value = sign * function(quantity)
                        except (ZeroDivisionError, OverflowError):
                            continue
                        if (
                            isinstance(value, float)
                            and abs(number - value) <= 2e-3 * abs(value) + 1e-12
                            and (off is _shift or value != 1)
                        ):
                            fits.add(form.format(name))
                left = fits if left is None else left & fits
            if left:
                return f"{every} is {min(left, key=lambda text: (len(text), text))} {small}."
    return ""


def _ratio(part: Part) -> float | None:
    got, expected = _values(part)
    if not expected.any():
        return None
    at = np.abs(expected).argmax()
    factor = got[at] / expected[at]
    return factor if factor and _near(got, factor * expected, np.abs(factor * expected).max()) else None


def _shift(part: Part) -> float | None:
    got, expected = _values(part)
    shift = float(np.median(got - expected))
    return (
        shift
        if shift and _near(got - expected, np.full_like(got, shift), np.maximum(abs(shift), np.abs(expected)))
        else None
    )


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
                    shift = np.median(got - expected, -1, keepdims=True)
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
            if not _near(off, k * mean, np.abs(k * mean).max()):
                break
            found.add(float(f"{k:.3g}"))
        else:
            if len(found) == 1 and (k := found.pop()):
                off = f"{abs(k):g} times the mean" if abs(k) != 1 else "the mean"
                return f"Each row is too {'large' if k > 0 else 'small'} by {off} of its row of `{name}`."
    return ""


def _gathers(wrong: Sequence[Part]) -> Iterator[tuple[str, Callable[[np.ndarray, int], np.ndarray]]]:
    """Which element's result stands at place i, of n in all."""
    widths = sorted({2, 4, 8, 16, 32, 64, 128, 256, *(size for part in wrong for size in block(part.outcome))} - {1})
    yield "0", lambda i, n: 0 * i
    yield "n - 1 - i", lambda i, n: n - 1 - i
    for k in (1, 2, 4, 32):
        yield f"i + {k}", lambda i, n, k=k: i + k
        yield f"i - {k}", lambda i, n, k=k: i - k
    for w in widths:
        yield f"i % {w}", lambda i, n, w=w: i % w
        yield f"i / {w}", lambda i, n, w=w: i // w
        yield f"i / {w} * {w}", lambda i, n, w=w: i // w * w
        yield f"i + {w}", lambda i, n, w=w: i + w
        yield f"i - {w}", lambda i, n, w=w: i - w
        yield f"i * {w}", lambda i, n, w=w: i * w
        yield f"i / {w} * {w} + {w - 1} - i % {w}", lambda i, n, w=w: i // w * w + w - 1 - i % w


def _of_other_elements(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """What stands at one index is the right result of another."""
    ndim = wrong[0].wrong.ndim
    words = {0: "element"} if ndim == 1 else {ndim - 1: "column", ndim - 2: "row"}
    for axis, word in words.items():
        for formula, gather in _gathers(wrong):
            informative = 0
            for part in wrong:
                n = part.shape[axis]
                place = np.broadcast_to(np.arange(n).reshape([-1 if a == axis else 1 for a in range(ndim)]), part.shape)
                source = gather(place, n)
                inside = (source >= 0) & (source < n) & part.wrong
                moved = np.take_along_axis(part.expected, np.clip(source, 0, n - 1), axis)
                exact = part.expected.dtype.kind in "iu"
                if not (np.array_equal if exact else _near)(part.got[inside], moved[inside]):
                    break
                if not inside.any() or inside.sum() * 2 < part.wrong.sum():
                    break
                informative += len(set(part.got[inside].tolist())) > 1 or formula == "0"
            else:
                if informative > 1:
                    return f"Where {word} i is wrong, it has the right result of {word} {formula}."
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
            return f"{_which(wrong)} is off by a multiple of 2^{bits}: a number of {bits} bits overflowed."
    return ""


def _summed(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """What came is the sum of the right results up to there: nothing began anew."""
    ndim = wrong[0].wrong.ndim
    for axis in range(ndim - 1, -1, -1):
        word = "element" if ndim == 1 else {ndim - 1: "column", ndim - 2: "row"}.get(axis, f"index of axis {axis}")
        if sum(part.shape[axis] > 2 for part in wrong) and all(
            _near(
                part.got.astype(np.float64),
                part.expected.astype(np.float64).cumsum(axis),
                np.abs(part.expected).max() + 1,
            )
            for part in wrong
        ):
            return f"Each {word} has the sum of the right results of all {word}s up to it: the sum is never set to 0 in between."
    lags = sorted({size for part in wrong for size in block(part.outcome)})
    for lag in lags:
        for axis in range(ndim - 1, -1, -1):
            word = "element" if ndim == 1 else {ndim - 1: "column", ndim - 2: "row"}.get(axis, f"index of axis {axis}")
            if all(part.shape[axis] > lag and _adds_up(part, axis, lag) for part in wrong):
                return f"{word.capitalize()} i has the right result plus what stands in {word} i - {lag}: a sum is not set to 0 in between."
    return ""


def _adds_up(part: Part, axis: int, lag: int) -> bool:
    got, expected = (np.moveaxis(x.astype(np.float64), axis, 0) for x in (part.got, part.expected))
    return _near(got[:lag], expected[:lag]) and _near(got[lag:], expected[lag:] + got[:-lag], np.abs(got).max() + 1)


def _of_neighbours(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each element has what is right for it and its neighbours together: their sum, their maximum or their minimum."""
    for part in wrong:
        got, expected = part.got.ravel().astype(np.float64), part.expected.ravel().astype(np.float64)
        for width in (2, 4, 8, 16, 32):
            filled = -(-len(got) // width) * width - len(got)
            together = [
                np.pad(expected, (0, filled), constant_values=none).reshape(-1, width)
                for none in (0.0, -np.inf, np.inf)
            ]
            found = (together[0].sum(1), together[1].max(1), together[2].min(1))
            if any(_near(got, each.repeat(width)[: len(got)]) for each in found):
                break
        else:
            return ""
    if not sum(part.got.size > 2 for part in wrong):
        return ""
    return (
        "Each element has what is right for several neighbouring elements together: the reduction goes over more lanes than work on "
        "one of them."
    )


def _rounded(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """The right numbers with fewer digits."""
    if all(part.expected.dtype.kind in "iu" for part in wrong):
        large = all((np.abs(_values(part)[1]) >= 2**24).all() and _off(part) < 2**-20 for part in wrong)
        return (
            f"{_which(wrong)} is off by less than one in a million, as after a sum of floats, which hold 24 bits."
            if large
            else ""
        )
    if any(part.expected.dtype.kind != "f" for part in wrong):
        return ""
    if all(np.array_equal(part.got.astype(np.float16).astype(part.got.dtype), part.got) for part in wrong) and all(
        _off(part) <= 2 * HALF for part in wrong
    ):
        return f"{_which(wrong)} is right to three digits, and what came are numbers of half precision."
    if all(_is_bfloat(part.got[part.wrong]) and _off(part) <= 2 * BFLOAT for part in wrong):
        return f"{_which(wrong)} is right to two digits, and what came are numbers of bfloat16."
    return ""


def _off(part: Part) -> float:
    got, expected = _values(part)
    return float((np.abs(got - expected) / np.maximum(np.abs(expected), 1e-30)).max())


def _is_bfloat(x: np.ndarray) -> bool:
    return x.dtype == np.float32 and not (np.ascontiguousarray(x).view(np.uint32) & 0xFFFF).any()
