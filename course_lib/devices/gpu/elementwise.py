"""Elementwise ops with broadcasting: kernels/arithmetic.cu, kernels/compare.cu and kernels/unary.cu.

Three ways through memory, the simplest that fits: arrays of one shape, side by side; an array and a number; and for shapes
that broadcast, a view for each input.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..checks import broadcast_shape, in_dtype, is_number, of_where
from ..layout import broadcast_strides
from .launching import (
    OF_SIZE,
    THREADS,
    TYPES,
    WORDS,
    blocks,
    empty,
    instances,
    kernel,
    vector_width,
)  # fmt: skip
from .storage import fill
from .views import views

__all__ = """
    add subtract multiply divide power maximum negative exp log tanh sqrt sin cos
    equal not_equal less less_equal greater greater_equal where
""".split()


def _binary(op: str) -> Callable:
    functor = op.capitalize()

    def run(a, b, out=None):
        if is_number(a) or is_number(b):
            return _with_number(op, functor, a, b, out)
        shape = a.shape if a.shape == b.shape else broadcast_shape(op, a.shape, b.shape)
        y = empty(a, shape) if out is None else out
        name = TYPES[a.dtype.name]
        if not y.size:
            return y
        if a.shape == b.shape:
            width = vector_width(a, b, y)
            run = _arithmetic(f"binary<{functor}, {name}, {width}>")
            run((blocks(y.size, THREADS * width),), (THREADS,), (a, b, y, y.size))
            return y
        layouts = views(op, shape, *(broadcast_strides(x.shape, shape) for x in (a, b)))
        run = _arithmetic(f"broadcast<{functor}, {name}>")
        run((blocks(y.size),), (THREADS,), (a, b, y, *layouts, y.size))
        return y

    run.__name__ = run.__qualname__ = op
    return run


def _with_number(op: str, functor: str, a, b, out):
    first = is_number(a)
    x, number = (b, a) if first else (a, b)
    dtype = x.dtype
    y = empty(x, x.shape) if out is None else out
    if y.size:
        width = vector_width(x, y)
        run = _arithmetic(f"with_number<{functor}, {TYPES[dtype.name]}, {str(first).lower()}, {width}>")
        run((blocks(y.size, THREADS * width),), (THREADS,), (x, in_dtype(op, number, dtype), y, y.size))
    return y


def _arithmetic(name: str):
    """One instance; the usual ones are compiled together."""
    ops = "Add", "Subtract", "Multiply", "Divide", "Power", "Maximum"
    instances("arithmetic.cu", *(f"binary<{op}, float, {width}>" for op in ops for width in (4, 1)),
           *(f"with_number<{op}, float, {first}, 4>" for op in ops for first in ("true", "false")),
           *(f"broadcast<{op}, float>" for op in ops))  # fmt: skip
    return kernel("arithmetic.cu", name)


add, subtract, multiply = _binary("add"), _binary("subtract"), _binary("multiply")
divide, power, maximum = _binary("divide"), _binary("power"), _binary("maximum")


def _unary(op: str) -> Callable:
    functor = op.capitalize()

    def run(x, out=None):
        y = empty(x, x.shape) if out is None else out
        if y.size:
            width = vector_width(x, y)
            functors = ("Negative", "Exp", "Log", "Tanh", "Sqrt", "Sin", "Cos")
            instances("unary.cu", *(f"unary<{functor}, float, {width}>" for functor in functors for width in (4, 1)))
            run = kernel("unary.cu", f"unary<{functor}, {TYPES[x.dtype.name]}, {width}>")
            run((blocks(y.size, THREADS * width),), (THREADS,), (x, y, y.size))
        return y

    run.__name__ = run.__qualname__ = op
    return run


negative, exp, log, tanh, sqrt = _unary("negative"), _unary("exp"), _unary("log"), _unary("tanh"), _unary("sqrt")
sin, cos = _unary("sin"), _unary("cos")


def _array(op: str, x, like, dtype: np.dtype):
    """x itself, or a number as an array of no axes beside `like`."""
    return fill(empty(like, (), dtype), in_dtype(op, x, dtype)) if is_number(x) else x


def _comparison(op: str, functor: str, swapped: bool = False) -> Callable:
    def run(a, b):
        like = b if is_number(a) else a
        a, b = _array(op, a, like, like.dtype), _array(op, b, like, like.dtype)
        shape = broadcast_shape(op, a.shape, b.shape)
        if swapped:
            a, b = b, a
        y = empty(a, shape, "bool")
        if y.size:
            functors = ("Equal", "NotEqual", "Less", "LessEqual")
            instances("compare.cu", *(f"compare<{functor}, float>" for functor in functors), "where<unsigned int>")
            run = kernel("compare.cu", f"compare<{functor}, {TYPES[a.dtype.name]}>")
            layouts = views(op, shape, *(broadcast_strides(x.shape, shape) for x in (a, b)))
            run((blocks(y.size),), (THREADS,), (a, b, y, *layouts, y.size))
        return y

    run.__name__ = run.__qualname__ = op
    return run


equal, not_equal = _comparison("equal", "Equal"), _comparison("not_equal", "NotEqual")
less, less_equal = _comparison("less", "Less"), _comparison("less_equal", "LessEqual")
greater, greater_equal = _comparison("greater", "Less", True), _comparison("greater_equal", "LessEqual", True)


def where(condition, a, b, out=None):
    shape, dtype = of_where(condition, a, b)
    a, b = (_array("where", x, condition, dtype) for x in (a, b))
    y = empty(condition, shape, dtype) if out is None else out
    if y.size:
        word = WORDS[dtype.itemsize]
        layouts = views("where", shape, *(broadcast_strides(x.shape, shape) for x in (condition, a, b)))
        run = kernel("compare.cu", f"where<{OF_SIZE[dtype.itemsize]}>")
        arguments = (condition, a.view(word), b.view(word), y.view(word), *layouts, y.size)
        run((blocks(y.size),), (THREADS,), arguments)
    return y
