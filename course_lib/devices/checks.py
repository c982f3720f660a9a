"""The questions of the contract, one by one: do these shapes fit, is this index inside.

They look at `.shape` and `.dtype` only, so they serve arrays of any device. An answer that is no raises an error in a
sentence that names what was given. contract.py says which op asks which; checking.py asks before a device computes.
"""

from __future__ import annotations

import math
import re
from functools import cache, reduce

import numpy as np

from . import layout


@cache
def _parse(pattern: str) -> list[tuple[str, str, list[tuple[str, int, int]]]]:
    """x (*n, 2F), cos (T, D/2) -> [("x", "*n", [("F", 2, 1)]), ("cos", "", [("T", 1, 1), ("D", 1, 2)])]."""
    parsed = []
    for name, inside in re.findall(r"(\w+) \(([^)]*)\)", pattern):
        words = [word.strip() for word in inside.split(",") if word.strip()]
        leading = words.pop(0) if words and words[0].startswith("*") else ""
        if words and words[-1] == "...":
            leading, words = "...", words[:-1]
        sizes = [re.fullmatch(r"(\d*)(\w*?)(?:/(\d))?", word).groups() for word in words]
        parsed.append((name, leading, [(letter, int(times or 1), int(part or 1)) for times, letter, part in sizes]))
    return parsed


def fit(op: str, pattern: str, *arrays) -> dict:
    """Match the shapes of `arrays` with `pattern`, one entry each; an array that is None is skipped.

    In the pattern a letter is the size of an axis, the same wherever it stands; `D/2` is half of D and `2F` twice F, a number
    is that size; `*n` stands for any number of leading axes, and `...` for any that follow. Returns the sizes by letter. Raises
    ValueError with the pattern and the shapes otherwise.
    """
    sizes: dict = {"": 1}  # a size without a letter is so many times 1
    for (name, leading, letters), array in zip(_parse(pattern), arrays, strict=True):
        if array is None:
            continue
        shape = array.shape
        extra = len(shape) - len(letters)
        if extra < 0 or (extra and not leading):
            raise _misfit(op, pattern, arrays, f"{name} has {len(shape)} axes")
        if leading == "...":
            shape, extra = shape[: len(letters)], 0
        elif leading and sizes.setdefault(leading, shape[:extra]) != shape[:extra]:
            raise _misfit(op, pattern, arrays, f"{leading} is {sizes[leading]} at first and {shape[:extra]} in {name}")
        for (letter, times, part), size in zip(letters, shape[extra:], strict=True):
            found, rest = divmod(size * part, times)
            if not letter and size != times:
                raise _misfit(op, pattern, arrays, f"an axis of {name} is {size} instead of {times}")
            if rest:
                raise _misfit(
                    op, pattern, arrays, f"{times}{letter} is {size} in {name}, which {times} does not divide"
                )
            if sizes.setdefault(letter, found) != found:
                raise _misfit(op, pattern, arrays, f"{letter} is {sizes[letter]} at first and {found} in {name}")
    return sizes


def _misfit(op: str, pattern: str, arrays, reason: str) -> ValueError:
    given = [
        f"{name} {tuple(array.shape)}"
        for (name, _, _), array in zip(_parse(pattern), arrays, strict=True)
        if array is not None
    ]
    return ValueError(f"{op} expects {pattern}, but was given {', '.join(given)}: {reason}.")


def broadcast_shape(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of arrays under NumPy's broadcasting rules. Raises ValueError if there is none."""
    try:
        return reduce(layout.broadcast_shape, map(tuple, shapes))
    except ValueError:
        given = " and ".join(str(tuple(shape)) for shape in shapes)
        raise ValueError(
            f"{op} cannot broadcast the shapes {given}: counted from the right, two axes must be equal, or one of them 1."
        ) from None


def is_number(x) -> bool:
    """Whether x is a number of Python or of NumPy rather than an array of the device."""
    return isinstance(x, bool | int | float | np.generic)


def of_where(condition, a, b) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype of what `where` chooses: that of the array, or float32 of two numbers. Raises ValueError as above."""
    dtype = np.dtype(np.float32) if is_number(a) and is_number(b) else (b if is_number(a) else a).dtype
    return broadcast_shape("where", condition.shape, np.shape(a), np.shape(b)), dtype


def matmul_shape(a, b, transpose_a: bool = False, transpose_b: bool = False) -> tuple[int, ...]:
    """The shape of matmul(a, b). Raises ValueError if the matrices or the leading axes do not fit."""
    given = f"{tuple(a.shape)}{' transposed' * transpose_a} and {tuple(b.shape)}{' transposed' * transpose_b}"
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ValueError(f"matmul expects arrays of two axes or more, but was given {given}.")
    rows, inner = a.shape[:-3:-1] if transpose_a else a.shape[-2:]
    inner_b, columns = b.shape[:-3:-1] if transpose_b else b.shape[-2:]
    if inner != inner_b:
        raise ValueError(
            f"matmul cannot multiply {given}: it needs (..., N, K) and (..., K, M) with the same K, not {inner} and {inner_b}."
        )
    return (*broadcast_shape("matmul", a.shape[:-2], b.shape[:-2]), rows, columns)


def in_dtype(op: str, number, dtype: np.dtype):
    """A number in the dtype of an array. Raises ValueError if a float is to become a whole number."""
    if dtype.kind in "iu" and not float(number).is_integer():
        raise ValueError(f"{op} was given {number!r} and an array of {dtype}: cast the array to float32 first.")
    return dtype.type(number)


def check_out(op: str, out, shape: tuple[int, ...], dtype) -> None:
    """Raises ValueError if `out` is given and has not the shape and dtype of the result."""
    if out is not None and (tuple(out.shape) != tuple(shape) or out.dtype != dtype):
        raise ValueError(
            f"{op} gives {dtype} of shape {tuple(shape)}, but out= is {out.dtype} of shape {tuple(out.shape)}."
        )


def is_bfloat16(dtype: np.dtype) -> bool:
    """Whether arrays of this dtype hold bfloat16: of that dtype, or its bits in uint16."""
    return dtype.itemsize == 2 and dtype.kind in "Vu"  # "V": NumPy has no letter for it


def check_size(op: str, size: int, most: int = layout.MOST_ELEMENTS) -> None:
    """Raises ValueError for arrays of more elements than an int counts."""
    if size > most:
        raise ValueError(f"{op} works on fewer than 2^31 elements at once, but was given {size:,}: split the array.")


def check_view(op: str, size: int, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """Raises ValueError if the view of a buffer of `size` elements would reach outside of it."""
    if len(shape) != len(strides):
        raise ValueError(f"{op} expects one stride for each axis, but was given shape {shape} and strides {strides}.")
    steps = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    first = offset + sum(step for step in steps if step < 0)
    last = offset + sum(step for step in steps if step > 0)
    if math.prod(shape) and not (0 <= first and last < size):
        raise ValueError(
            f"{op}: shape {tuple(shape)} with strides {tuple(strides)} from offset {offset} reaches elements "
            f"{first} to {last} of an array that has {size}."
        )


def check_range(op: str, what: str, lowest: int, highest: int, size: int) -> None:
    """Raises IndexError unless every index is in 0 .. size - 1, given the lowest and the highest of them."""
    if lowest < 0 or highest >= size:
        wrong = lowest if lowest < 0 else highest
        raise IndexError(f"{op}: {what} {wrong} is outside of 0 .. {size - 1}.")


def check_causal(op: str, queries: int, keys: int) -> None:
    """Raises ValueError if some query of a causal op would see no key."""
    if keys < queries:
        raise ValueError(
            f"{op}: with causal=True there must be at least as many keys as queries, but there are {keys} keys and "
            f"{queries} queries, so that the first queries would see nothing."
        )


def check_heads(op: str, heads: int, groups: int) -> None:
    """Raises ValueError unless the query heads can share the key-value heads evenly."""
    if groups == 0 or heads % groups:
        raise ValueError(f"{op}: {heads} query heads cannot share {groups} key-value heads evenly.")


def dropout_threshold(probability: float) -> int:
    """The least random word that keeps an element."""
    return math.ceil(probability * 2**32)  # a word is a whole number: at least this is at least the product


def joined_shape(arrays, axis):
    """(axis from 0, the shape of the arrays joined along it). Raises ValueError if they do not fit."""
    first = arrays[0].shape
    axis = layout.axis_index("concatenate", axis, len(first))
    for array in arrays[1:]:
        shape = array.shape
        if len(shape) != len(first) or shape[:axis] + shape[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            raise ValueError(f"concatenate along axis {axis} cannot join the shapes {first} and {shape}.")
    return axis, (*first[:axis], sum(array.shape[axis] for array in arrays), *first[axis + 1 :])
