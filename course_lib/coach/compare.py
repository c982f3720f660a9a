"""Is a result the expected one; if not, where does it differ first, and how does one say so.

Values are compared as what they are: numbers and arrays with a tolerance, tuples and lists piece by piece, dicts by key,
Tensors by their numbers, everything else by ==. A tuple equals a list, a NumPy number a Python one, an array a list of floats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Difference:
    """The first difference. where: "" or "[1]" or "['loss']" inside the result. index: of the first wrong element of an array.

    part: the same place in words.
    got, expected: the two pieces that differ, arrays where both are arrays of one shape (then `index` is given).
    says: the difference in words.
    """

    says: str
    where: str = ""
    index: tuple[int, ...] | None = None
    got: Any = None
    expected: Any = None
    name: str = ""

    @property
    def part(self) -> str:
        return self.name or f"result{self.where}"


def named(found: Difference | None, names: Sequence[str]) -> Difference | None:
    """The same difference, with the author's names for the entries of a tuple: `dweight` in place of `result[1]`.

    Where a name is several words, an entry of it is one more.
    """
    entry = re.match(r"\[(\d+)\]", found.where) if found else None
    if entry is None or int(entry[1]) >= len(names):
        return found
    name, old = names[int(entry[1])], f"result[{entry[1]}]"
    if " " in name and (more := re.match(r"\[(\d+)\]", found.where[entry.end() :])):
        name, old = f"entry {more[1]} of {name}", f"{old}{more[0]}"
    return replace(found, says=found.says.replace(old, name), name=found.part.replace(old, name))


def difference(got: Any, expected: Any, tolerance: float, where: str = "") -> Difference | None:
    """The first difference between two values, None if they are equal within the tolerance."""
    got, expected = plain(got), plain(expected)
    if isinstance(expected, np.ndarray) or _is_number(expected):
        return _numbers(got, expected, tolerance, where)
    if isinstance(expected, tuple | list):
        if isinstance(got, np.ndarray) and got.ndim == 1 and _is_measured(expected):
            got = got.tolist()
        if not isinstance(got, tuple | list):
            return _kind(got, expected, where)
        if len(got) != len(expected):
            return Difference(f"{_it(where)} has {_count(got)}, expected {len(expected)}", where, None, got, expected)
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(got, expected, strict=True))]
    elif isinstance(expected, dict):
        if not isinstance(got, dict):
            return _kind(got, expected, where)
        if got.keys() != expected.keys():
            lacks = [key for key in expected if key not in got]
            extra = [key for key in got if key not in expected]
            said = [f"lacks {', '.join(map(repr, lacks[:3]))}"] * bool(lacks)
            said += [f"has {', '.join(map(repr, extra[:3]))} too many"] * bool(extra)
            return Difference(f"{_it(where)} {' and '.join(said)}", where, None, got, expected)
        pairs = [(f"{where}[{key!r}]", got[key], expected[key]) for key in expected]
    else:
        try:
            same = bool(got == expected)
        except Exception:
            same = False
        if same:
            return None
        short = max(len(repr(got)), len(repr(expected))) <= 60
        says = f"is {got!r}, expected {expected!r}" if short else "is not the expected one"
        return Difference(f"{_it(where)} {says}", where, None, got, expected)
    for place, a, b in pairs:
        if found := difference(a, b, tolerance, place):
            return found
    return None


def plain(value: Any) -> Any:
    """A Tensor as its array, a NumPy number as a Python number, an array without axes as a number."""
    if hasattr(value, "numpy") and hasattr(value, "requires_grad"):
        value = value.numpy()
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype != object):
        return value.item()
    return value


def text(value: Any, limit: int = 400) -> str:
    """A value as a person reads it: small arrays whole, large ones with their shape and corners."""
    value = plain(value)
    if isinstance(value, np.ndarray):
        if value.size <= 1 << 16:
            value = np.where(value == 0, np.zeros_like(value), value) if value.dtype.kind == "f" else value  # no "-0."
        body = np.array2string(value, precision=4, suppress_small=_ordinary(value), threshold=16, edgeitems=4,
                               max_line_width=88)  # fmt: skip
        shown = body if value.ndim == 1 and value.size <= 16 else f"{body}  shape {value.shape}"
    elif isinstance(value, float):
        shown = f"{value:.6g}"
    elif isinstance(value, dict) and _measures(value):
        shown = "{" + ", ".join(f"{key!r}: {text(v, limit)}" for key, v in value.items()) + "}"
    elif isinstance(value, tuple | list) and _measures(value):
        inner = ", ".join(text(v, limit) for v in value)
        shown = f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    else:
        try:
            shown = repr(value)
        except ValueError:  # Python writes no number of so many digits
            shown = "a number of thousands of digits"
    return shown if len(shown) <= limit else f"{shown[:limit]} ... ({len(shown):,} characters in all)"


def _measures(value: Any) -> bool:
    """Whether there is a float or an array in it, however deep: those are shown rounded."""
    if isinstance(value, dict):
        return any(map(_measures, value.values()))
    if isinstance(value, tuple | list):
        return any(map(_measures, value))
    return isinstance(plain(value), np.ndarray | float)


def _numbers(got: Any, expected: Any, tolerance: float, where: str) -> Difference | None:
    if isinstance(expected, bool) or (isinstance(expected, np.ndarray) and expected.dtype.kind == "b"):
        tolerance = 0.0
    if isinstance(got, tuple | list) and isinstance(expected, np.ndarray):
        try:
            got = np.asarray(got)
        except ValueError:
            return _kind(got, expected, where)
    if not (isinstance(got, np.ndarray) or _is_number(got)) or (
        isinstance(got, np.ndarray) and got.dtype.kind not in "fiub"
    ):
        return _kind(got, expected, where)
    a, b = np.asarray(got), np.asarray(expected)
    if a.shape != b.shape:
        return Difference(f"{_it(where)} has the shape {a.shape}, expected {b.shape}", where, None, got, expected)
    wrong = ~close(a, b, tolerance)
    if not wrong.any():
        return None
    if not a.shape:
        return Difference(f"{_it(where)} is {text(got)}, expected {text(expected)}", where, None, got, expected)
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = index[0] if len(index) == 1 else index
    count, first = int(wrong.sum()), f"element {place}: {text(a[index])}, expected {text(b[index])}"
    are = "is wrong:" if count == 1 else "are wrong; the first is"
    of = "The one element of" if a.size == 1 else f"{count:,} of {a.size:,} elements of"
    said = f"{of} {_it(where, inside=True)} {are} {first}"
    return Difference(said, where, index, a, b)


def changed(before: Sequence, after: Sequence) -> list[int]:
    """Which values of two rows differ, by number."""
    return [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if difference(b, a, 0.0)]


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Which elements of two arrays of one shape are equal: whole numbers exactly, others within the tolerance."""
    if (a.dtype.kind in "biu" and b.dtype.kind in "biu") or tolerance == 0.0:
        return (a == b) | ((a != a) & (b != b))  # a nan is the nan that it was
    if "O" in (a.dtype.kind, b.dtype.kind):  # a whole number that no type of NumPy holds
        return np.asarray(a == b)
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(b) & (np.abs(a - b) <= tolerance * np.maximum(1.0, np.abs(b)))
    return near | (a == b) | (np.isnan(a) & np.isnan(b))


def _count(entries: Sequence) -> str:
    return "no entries" if not entries else "1 entry" if len(entries) == 1 else f"{len(entries)} entries"


def _kind(got: Any, expected: Any, where: str) -> Difference:
    says = f"{_it(where)} is {_a(got)}, expected {_a(expected)}"
    if kind_of(got).startswith("np."):
        says += ": np.asarray makes a plain one, in which `*` multiplies element by element and no element is hidden"
    return Difference(says, where, None, got, expected)


def _a(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "True or False"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if _is_number(value):
        return "a number"
    names = {str: "a text", tuple: "a tuple", list: "a list", dict: "a dict", set: "a set"}
    return names.get(type(value), f"of type {kind_of(value)}")


def kind_of(value: Any) -> str:
    """The name of a value's type, as it was before it became plain data (plain.py)."""
    return getattr(value, "kind", None) or type(value).__name__


def _it(where: str, inside: bool = False) -> str:
    return f"result{where}" if where else "the result" if inside else "The result"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | complex)


def _is_measured(expected: tuple | list) -> bool:
    """A list of numbers with a float among them: an array says the same."""
    whole = not any(isinstance(x, float) for x in expected)
    return isinstance(expected, list) and all(map(_is_number, expected)) and not (expected and whole)


def _ordinary(array: np.ndarray) -> bool:
    """Whether plain decimals show an array well."""
    if array.dtype.kind != "f" or not array.size:
        return False
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    return bool(sizes.size) and sizes.min() >= 1e-3 and sizes.max() < 1e5
