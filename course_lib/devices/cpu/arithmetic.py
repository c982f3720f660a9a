"""Elementwise ops, reductions and selections in NumPy, with results in recycled memory."""

from __future__ import annotations

import numpy as np

from ..axes import reduced_shape
from ..checks import broadcast_shape
from ..reference import elementwise, reductions
from ..reference.reductions import argmax, scatter_add
from .memory import SMALL, empty

__all__ = [
    "add", "argmax", "cos", "divide", "equal", "exp", "gather", "greater", "greater_equal", "less", "less_equal", "log",
    "max", "maximum", "multiply", "negative", "not_equal", "power", "scatter_add", "sin", "sqrt", "subtract", "sum",
    "tanh", "where",
]  # fmt: skip


def _result(out, result_dtype, *inputs):
    """`out`, or a new array for the result; a number takes the dtype of the array."""
    if out is not None:
        return out
    first = inputs[0]
    if all(type(x) is np.ndarray and x.shape == first.shape and x.dtype == first.dtype for x in inputs):
        shape, dtype = first.shape, first.dtype
    else:
        shape, dtype = broadcast_shape("a result", *map(np.shape, inputs)), np.result_type(*inputs)
    return empty(shape, result_dtype or dtype)


def _unary(function):
    return lambda x, out=None: function(x, out=_result(out, None, x))


def _binary(function):
    return lambda a, b, out=None: function(a, b, out=_result(out, None, a, b))


def _comparison(function):
    return lambda a, b: function(a, b, out=_result(None, "bool", a, b))


add, subtract, multiply = _binary(np.add), _binary(np.subtract), _binary(np.multiply)
divide, maximum, _power = _binary(np.divide), _binary(np.maximum), _binary(np.power)
negative, exp, log = _unary(np.negative), _unary(np.exp), _unary(np.log)
tanh, sqrt = _unary(np.tanh), _unary(np.sqrt)
sin, cos = _unary(np.sin), _unary(np.cos)
equal, not_equal = _comparison(np.equal), _comparison(np.not_equal)
less, less_equal = _comparison(np.less), _comparison(np.less_equal)
greater, greater_equal = _comparison(np.greater), _comparison(np.greater_equal)


def power(a, b, out=None):
    """NumPy takes 100 times longer for x**3 than for x * x * x."""
    if type(a) is np.ndarray and a.dtype.kind == "f" and isinstance(b, int | float) and b in (3, 4):
        out = _result(out, None, a)
        square = np.multiply(a, a, out=empty(a.shape, a.dtype))
        return np.multiply(square, a if b == 3 else square, out=out)
    return _power(a, b, out)


def where(condition, a, b, out=None):
    if out is not None or np.shape(a) != condition.shape or np.shape(b) != condition.shape:
        return elementwise.where(condition, a, b, out)
    result = empty(condition.shape, np.result_type(a, b))
    np.copyto(result, b)
    np.copyto(result, a, where=condition)
    return result


def _reduce(function, x, axis, keepdims):
    """Written into recycled memory if the result is large."""
    if axis is None or x.nbytes < SMALL:
        return np.asarray(function(x, axis=axis, keepdims=keepdims))
    shape = reduced_shape("a reduction", x.shape, axis, keepdims)
    return function(x, axis=axis, keepdims=keepdims, out=empty(shape, x.dtype))


def sum(x, axis=None, keepdims=False):
    if x.dtype.kind != "f":
        return reductions.sum(x, axis, keepdims)
    return _reduce(np.sum, x, axis, keepdims)


def max(x, axis=None, keepdims=False):
    return _reduce(np.max, x, axis, keepdims)


def gather(x, indices):
    if x.dtype.kind != "f":
        return reductions.gather(x, indices)
    shape = (*indices.shape, *x.shape[1:])
    return np.take(x, indices, axis=0, out=empty(shape, x.dtype), mode="clip")  # inside already; "raise" would buffer
