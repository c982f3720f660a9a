"""Elementwise ops with broadcasting: kernels/arithmetic.wgsl, power.wgsl, compare.wgsl, where.wgsl and unary.wgsl."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..checks import broadcast_shape, in_dtype, is_number, of_where
from ..layout import blocks, broadcast_strides
from .launching import empty, kernel
from .memory import TYPES
from .storage import fill, stored, views

__all__ = """
    add subtract multiply divide power maximum negative exp log tanh sqrt sin cos
    equal not_equal less less_equal greater greater_equal where
""".split()

ARITHMETIC = "add", "subtract", "multiply", "divide", "maximum"  # OP of arithmetic.wgsl is the index in this list
COMPARISONS = "equal", "not_equal", "less", "less_equal"
UNARY = "negative", "exp", "log", "tanh", "sqrt", "sin", "cos"


def _bits(number) -> int:
    """A NumPy number as the word that a kernel finds it in."""
    return int(stored(np.array([number])).view(np.uint32)[0])


def _apply(op: str, a, b, out, dtype: np.dtype | None = None, swapped: bool = False):
    """y = a op b by a kernel of include/binary.wgsl. dtype: of the result, if it is not that of the arrays."""
    number = a if is_number(a) else b if is_number(b) else None
    first = number is a and number is not None
    arrays = [x for x in (a, b) if not is_number(x)]
    kind = arrays[0].dtype
    shapes = [x.shape for x in arrays]
    shape = shapes[0] if len(set(shapes)) == 1 else broadcast_shape(op, *shapes)
    y = empty(arrays[0], shape, dtype or kind) if out is None else out
    if not y.size:
        return y
    constants = {"T": TYPES[kind.name], "U": TYPES[y.dtype.name], "FIRST": first != swapped}
    if op == "power":
        file = "power.wgsl"
    elif op in ARITHMETIC:
        file, constants["OP"] = "arithmetic.wgsl", ARITHMETIC.index(op)
    else:
        file, constants["OP"] = "compare.wgsl", COMPARISONS.index(op)
    if number is not None:
        run = kernel(file, "with_number", **constants)
        run(blocks(y.size), a=arrays[0], y=y, number=_bits(in_dtype(op, number, kind)), n=y.size)
        return y
    if swapped:
        a, b = b, a
    if a.shape == b.shape:
        kernel(file, "binary", **constants)(blocks(y.size), a=a, b=b, y=y, n=y.size)
        return y
    sizes, strides, axes = views(op, shape, *(broadcast_strides(x.shape, shape) for x in (a, b)))
    run = kernel(file, "broadcast", **constants)
    run(blocks(y.size), a=a, b=b, y=y, sizes=sizes, a_strides=strides[0], b_strides=strides[1], axes=axes, n=y.size)
    return y


def _binary(op: str) -> Callable:
    def run(a, b, out=None):
        return _apply(op, a, b, out)

    run.__name__ = run.__qualname__ = op
    return run


add, subtract, multiply = _binary("add"), _binary("subtract"), _binary("multiply")
divide, power, maximum = _binary("divide"), _binary("power"), _binary("maximum")


def _comparison(name: str, op: str, swapped: bool = False) -> Callable:
    def run(a, b):
        return _apply(op, a, b, None, np.dtype(bool), swapped)

    run.__name__ = run.__qualname__ = name
    return run


equal, not_equal = _comparison("equal", "equal"), _comparison("not_equal", "not_equal")
less, less_equal = _comparison("less", "less"), _comparison("less_equal", "less_equal")
greater, greater_equal = _comparison("greater", "less", True), _comparison("greater_equal", "less_equal", True)


def _unary(op: str) -> Callable:
    def run(x, out=None):
        if op == "negative" and x.dtype.kind != "f":
            return _apply("multiply", x, -1, out)
        y = empty(x, x.shape) if out is None else out
        if y.size:
            kernel("unary.wgsl", "unary", OP=UNARY.index(op))(blocks(y.size), x=x, y=y, n=y.size)
        return y

    run.__name__ = run.__qualname__ = op
    return run


negative, exp, log, tanh, sqrt = _unary("negative"), _unary("exp"), _unary("log"), _unary("tanh"), _unary("sqrt")
sin, cos = _unary("sin"), _unary("cos")


def where(condition, a, b, out=None):
    shape, dtype = of_where(condition, a, b)
    a, b = (fill(empty(condition, (), dtype), in_dtype("where", x, dtype)) if is_number(x) else x for x in (a, b))
    y = empty(condition, shape, dtype) if out is None else out
    if y.size:
        arrays = {"condition": condition, "a": a, "b": b}
        sizes, strides, axes = views("where", shape, *(broadcast_strides(x.shape, shape) for x in arrays.values()))
        steps = dict(zip(("c_strides", "a_strides", "b_strides"), strides, strict=True))
        kernel("where.wgsl", "choose")(blocks(y.size), **arrays, y=y, sizes=sizes, **steps, axes=axes, n=y.size)
    return y
