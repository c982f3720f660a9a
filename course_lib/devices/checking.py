"""Ops that look at what they are given: the contract's check in front of a device's function, written once for all devices.

A check depends on shapes, dtypes and few other values. What has passed it is remembered, so that a training step, which does the
same thing each time, asks a set one question per op.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from . import contract
from .checks import check_out, check_range, check_size, fit, is_bfloat16, is_number
from .contract import Argument, Op

MOST_REMEMBERED = 1 << 14  # then it begins anew
WHOLE = {"int": ("int32", "int64"), "int32": ("int32",), "uint32": ("uint32",), "bool": ("bool",)}


def check_indices(op: str, what: str, indices, size: int, ignore: int | None = None) -> None:
    """Raises IndexError unless all indices, an array of NumPy, are in 0 .. size - 1, or equal to `ignore`."""
    if not indices.size:
        return
    lowest, highest = int(indices.min()), int(indices.max())
    if lowest >= 0 and highest < size:
        return
    kept = indices if ignore is None else indices[indices != ignore]
    if kept.size:
        check_range(op, what, int(kept.min()), int(kept.max()), size)


@dataclass(frozen=True)
class Limits:
    """What a device takes of what the contract allows."""

    floats: tuple[str, ...] = ("float32", "float64")
    most: int | None = None  # elements of an array
    larger: frozenset[str] = frozenset()  # what may have more: "matmul", or of one argument "gather.x"
    bfloat16: frozenset[str] = frozenset()  # ops that take arrays of it too, all alike
    single: frozenset[str] = frozenset()  # arguments of those that stay float32: "linear_forward.bias"
    check_indices: Callable[..., None] = check_indices


def checked(name: str, function: Callable, limits: Limits) -> Callable:
    """`function` behind the check of op `name`; itself if the contract says nothing of what it is given."""
    op = contract.OPS.get(name)
    if op is None or not (op.arrays or op.lists or op.rule):
        return function
    run = _wrapper(op, limits)(function)
    run.__wrapped__ = function
    return run


@cache
def _wrapper(op: Op, limits: Limits) -> Callable[[Callable], Callable]:
    """What puts the check before a function. It is written out as Python, since it runs before every op of a step: a loop over
    the arguments would take longer than many an op."""
    parameters, key, inside = [], [], []
    for a in op.arguments:
        if a.keyword and "*" not in parameters:
            parameters.append("*")
        parameters.append(f"{a.name}={a.default}" if a.default else a.name)
        if a.number:
            key.append(f"type({a.name}), getattr({a.name}, 'shape', None), getattr({a.name}, 'dtype', None)")
        elif a.each:
            key.append(f"tuple([(x.shape, x.dtype) for x in {a.name}])")
        elif a.optional or a.name == "out":
            key.append(f"{a.name} if {a.name} is None else ({a.name}.shape, {a.name}.dtype)")
        elif a.shape is not None:
            key.append(f"{a.name}.shape, {a.name}.dtype")
        elif a.name in op.reads:
            key.append(f"tuple({a.name})" if a.name in ("shape", "strides") else a.name)
        if a.below:
            ignore = ", ignore_index" if any(other.name == "ignore_index" for other in op.arguments) else ""
            what = "target" if a.name == "targets" else "index"
            inside.append(f"inside({op.name!r}, {what!r}, {a.name}, {_size(op, a.below)}{ignore})")
    given = ", ".join(f"{a.name}={a.name}" if a.keyword else a.name for a in op.arguments if a.name != "out")
    every = ", ".join(f"{a.name}={a.name}" for a in op.arguments)
    lines = [f"def make(function):\n def {op.name}({', '.join(parameters)}):"]
    lines += [f"  key = {', '.join(key)},", "  if key not in seen:", f"   check({every})", "   remember(key)"]
    lines += [f"  {line}" for line in inside]
    if "out=None" in parameters:
        lines.append(f"  if out is not None:\n   return function({given}, out=out)")
    lines += [f"  return function({given})", f" return {op.name}"]
    seen: set = set()

    def remember(key) -> None:
        if len(seen) >= MOST_REMEMBERED:
            seen.clear()
        seen.add(key)

    def check_all(**arguments) -> None:
        check(op, limits, arguments)

    scope = {"seen": seen, "remember": remember, "check": check_all, "inside": limits.check_indices}
    exec(compile("\n".join(lines), f"<check of {op.name}>", "exec"), scope)
    return scope["make"]


def _size(op: Op, letter: str) -> str:
    """Where an op's arguments say how large a letter of its pattern is, or a product of such letters, as Python."""
    if "*" in letter:
        return " * ".join(_size(op, factor) for factor in letter.split("*"))
    for a in op.arrays:
        axes = [axis.strip() for axis in a.shape.split(",")]
        if letter in axes and not a.shape.startswith("*"):
            return f"{a.name}.shape[{axes.index(letter)}]"
    return letter  # an argument


def check(op: Op, limits: Limits, given: dict[str, Any]) -> None:
    """Raises ValueError for shapes that do not fit, and for dtypes and sizes that the device does not take."""
    plain = [a for a in op.arrays if not _is_free(a.shape)]
    sizes = fit(op.name, ", ".join(f"{a.name} ({a.shape})" for a in plain), *(given[a.name] for a in plain))
    shape = op.rule(op.name, sizes, given) if op.rule else None
    dtype = _check_dtypes(op, limits, given)
    if given.get("out") is not None:
        check_out(op.name, given["out"], shape, dtype)
    if limits.most:
        _check_sizes(op, limits, given, shape)


def _is_free(shape: str) -> bool:
    """Whether a pattern is left to the op's rule: (...), (*I, ...), (..., N, K)."""
    return shape.startswith("...") or (shape.startswith("*") and shape.endswith("..."))


def _check_dtypes(op: Op, limits: Limits, given: dict[str, Any]):
    """The dtype that the op's arrays share."""
    found = []  # argument, dtype
    for a in op.arrays:
        x = given[a.name]
        if x is None or (a.number and is_number(x)):
            continue
        if a.kind not in WHOLE:
            found.append((a, x.dtype))
        elif x.dtype.name not in WHOLE[a.kind]:
            wanted = " or ".join(WHOLE[a.kind])
            raise ValueError(f"{op.name} expects {a.name} of {wanted}, but was given {x.dtype}: cast it first.")
    for a in op.lists:
        found += [(a, dtype) for dtype in {x.dtype for x in given[a.name]}]
    if not found:
        return None
    shared = found[0][1]
    if op.name in limits.bfloat16 and is_bfloat16(shared):
        _check_bfloat16(op.name, found, limits)
        return shared
    for a, dtype in found:
        if a.kind != "any":
            _check_float(op.name, a, dtype, limits)
    for _, dtype in found:
        if dtype != shared:
            raise ValueError(
                f"{op.name} expects arrays of one dtype, but was given {shared} and {dtype}: cast one of them."
            )
    return shared


def _check_bfloat16(op: str, found: list[tuple[Argument, Any]], limits: Limits) -> None:
    """Raises ValueError unless all arrays are of the first one's dtype, but for those that stay float32."""
    kinds = set()
    for a, dtype in found:
        if f"{op}.{a.name}" in limits.single:
            _check_float(op, a, dtype, limits)
        else:
            kinds.add(dtype.name)
    if len(kinds) > 1:
        raise ValueError(
            f"{op} on this device takes arrays of float32 or of bfloat16, all alike, but was given {', '.join(sorted(kinds))}: "
            "cast them first, or use the device 'cpu', which computes in float64 too."
        )


def _check_float(op: str, a: Argument, dtype, limits: Limits) -> None:
    only = len(limits.floats) == 1
    whole = a.kind == "number" or (a.kind == "real" and not only)
    if dtype.name in limits.floats or (whole and dtype.kind in "iub"):
        return
    if only:
        raise ValueError(
            f"{op} computes in {limits.floats[0]} on this device, but was given {dtype}: cast it first, or use the device "
            "'cpu', which computes in float64 too."
        )
    raise ValueError(f"{op} computes in {' or '.join(limits.floats)}, but {a.name} is {dtype}: cast it first.")


def _check_sizes(op: Op, limits: Limits, given: dict[str, Any], shape) -> None:
    """Raises ValueError for arrays of more elements than the device counts."""
    if op.name in limits.larger:
        return
    counts = [getattr(given[a.name], "size", 1) for a in op.arrays if f"{op.name}.{a.name}" not in limits.larger]
    counts += [int(np.prod(shape, dtype=np.float64))] if shape is not None else []
    counts += [array.size for a in op.lists for array in given[a.name]]
    check_size(op.name, max(counts, default=0), limits.most)
