"""Questions every device asks before it computes: do these shapes fit, is this index inside.

They look at `.shape` and `.dtype` only, so they serve arrays of any device. An answer that is no raises an error in a
sentence that names what was given. The patterns are those of the contract in `course_lib/devices/__init__.py`.
"""

from __future__ import annotations

import math
import re
from functools import cache


@cache
def _parse(pattern: str) -> list[tuple[str, bool, list[tuple[str, int]]]]:
    """x (*n, K), cos (T, D/2) -> [("x", True, [("K", 1)]), ("cos", False, [("T", 1), ("D", 2)])]."""
    parsed = []
    for name, inside in re.findall(r"(\w+) \(([^)]*)\)", pattern):
        words = [word.strip() for word in inside.split(",") if word.strip()]
        leading = bool(words) and words[0] == "*n"
        letters = [word.partition("/") for word in words[leading:]]
        parsed.append((name, leading, [(letter, int(divisor or 1)) for letter, _, divisor in letters]))
    return parsed


def fit(op: str, pattern: str, *arrays) -> dict:
    """Match the shapes of `arrays` with `pattern`, one entry each; an array that is None is skipped.

    In the pattern a letter is the size of an axis, the same wherever it stands; `D/2` is half of D; `*n` stands for any
    number of leading axes. Returns the sizes by letter. Raises ValueError with the pattern and the shapes otherwise.
    """
    sizes: dict = {}
    for (name, leading, letters), array in zip(_parse(pattern), arrays, strict=True):
        if array is None:
            continue
        shape = array.shape
        extra = len(shape) - len(letters)
        if extra < 0 or (extra and not leading):
            raise _misfit(op, pattern, arrays, f"{name} has {len(shape)} axes")
        if leading and sizes.setdefault("*n", shape[:extra]) != shape[:extra]:
            raise _misfit(op, pattern, arrays, f"*n is {sizes['*n']} at first and {shape[:extra]} in {name}")
        for (letter, divisor), size in zip(letters, shape[extra:], strict=True):
            if sizes.setdefault(letter, size * divisor) != size * divisor:
                raise _misfit(
                    op, pattern, arrays, f"{letter} is {sizes[letter]} at first and {size * divisor} in {name}"
                )
    return sizes


def _misfit(op: str, pattern: str, arrays, reason: str) -> ValueError:
    given = [
        f"{name} {tuple(array.shape)}"
        for (name, _, _), array in zip(_parse(pattern), arrays, strict=True)
        if array is not None
    ]
    return ValueError(f"{op} wants {pattern}, but was given {', '.join(given)}: {reason}.")


def broadcast_shape(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of arrays under NumPy's broadcasting rules. Raises ValueError if there is none."""
    axes = max(len(shape) for shape in shapes)
    result = []
    for sizes in zip(*((1,) * (axes - len(shape)) + tuple(shape) for shape in shapes), strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError(
                f"{op} cannot broadcast the shapes {' and '.join(str(tuple(shape)) for shape in shapes)}: counted from "
                "the right, two axes must be equal, or one of them 1."
            )
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def matmul_shape(a, b, transpose_a: bool = False, transpose_b: bool = False) -> tuple[int, ...]:
    """The shape of matmul(a, b). Raises ValueError if the matrices or the leading axes do not fit."""
    given = f"{tuple(a.shape)}{' transposed' * transpose_a} and {tuple(b.shape)}{' transposed' * transpose_b}"
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ValueError(f"matmul wants arrays of two axes or more, but was given {given}.")
    rows, inner = a.shape[:-3:-1] if transpose_a else a.shape[-2:]
    inner_b, columns = b.shape[:-3:-1] if transpose_b else b.shape[-2:]
    if inner != inner_b:
        raise ValueError(f"matmul cannot multiply {given}: the inner lengths are {inner} and {inner_b}.")
    return (*broadcast_shape("matmul", a.shape[:-2], b.shape[:-2]), rows, columns)


def check_out(op: str, out, shape: tuple[int, ...], dtype) -> None:
    """Raises ValueError if `out` is given and has not the shape and dtype of the result."""
    if out is not None and (tuple(out.shape) != tuple(shape) or out.dtype != dtype):
        raise ValueError(
            f"{op} gives {dtype} of shape {tuple(shape)}, but out= is {out.dtype} of shape {tuple(out.shape)}."
        )


def check_view(op: str, size: int, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    """Raises ValueError if the view of a buffer of `size` elements would reach outside of it."""
    if len(shape) != len(strides):
        raise ValueError(f"{op} wants one stride for each axis, but was given shape {shape} and strides {strides}.")
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


def check_probability(op: str, probability: float) -> None:
    """Raises ValueError unless 0 <= probability < 1."""
    if not 0 <= probability < 1:
        raise ValueError(f"{op} drops with a probability from 0 to below 1, but was given {probability}.")


def dropout_threshold(op: str, probability: float, random) -> int:
    """The least random word that keeps an element. Raises ValueError unless 0 <= probability < 1, and random has one axis."""
    fit(op, "random (R)", random)
    check_probability(op, probability)
    return math.ceil(probability * 2**32)  # a word is a whole number: at least this is at least the product


def attention_sizes(op: str, pattern: str, causal: bool, *arrays) -> dict:
    """The sizes by letter. Raises ValueError for shapes that do not fit and for a query that would see no key."""
    sizes = fit(op, pattern, *arrays)
    T, S, H, G = (sizes[letter] for letter in "TSHG")
    if G == 0 or H % G:
        raise ValueError(f"{op}: {H} query heads cannot share {G} key-value heads evenly.")
    if causal:
        check_causal(op, T, S)
    if S == 0 and T:
        raise ValueError(f"{op}: there are {T} queries, but no key that they could look at.")
    return sizes


def check_write(x, values, strides: tuple[int, ...], offset: int) -> None:
    """Raises ValueError unless `values` fit into that view of x, and have its dtype."""
    check_view("strided_write", x.size, values.shape, strides, offset)
    if values.dtype != x.dtype:
        raise ValueError(
            f"strided_write puts values into an array of their own dtype, but was given {values.dtype} for {x.dtype}: "
            "cast them first."
        )


def joined_shape(arrays, axis):
    """(axis from 0, the shape of the arrays joined along it). Raises ValueError if they do not fit."""
    first = arrays[0].shape
    if not -len(first) <= axis < len(first):
        raise ValueError(f"concatenate: axis {axis} does not exist in an array of shape {first}.")
    axis %= len(first)
    for array in arrays[1:]:
        shape = array.shape
        if len(shape) != len(first) or shape[:axis] + shape[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            raise ValueError(f"concatenate along axis {axis} cannot join the shapes {first} and {shape}.")
    return axis, (*first[:axis], sum(array.shape[axis] for array in arrays), *first[axis + 1 :])
