"""Elementwise ops, reductions and selections in NumPy, with results in recycled memory."""

from __future__ import annotations

import numpy as np

from ..checks import broadcast_shape, check_out
from ..reference import elementwise, reductions
from ..reference.reductions import argmax, scatter_add
from .memory import SMALL, empty

__all__ = [
    "add", "argmax", "divide", "equal", "exp", "gather", "greater", "greater_equal", "less", "less_equal", "log",
    "max", "maximum", "multiply", "negative", "not_equal", "power", "scatter_add", "sqrt", "subtract", "sum",
    "tanh", "where",
]  # fmt: skip


def _result(op, out, result_dtype, *inputs):
    """`out`, checked, or a new array for the result; a number takes the dtype of the array."""
    first = inputs[0]
    if all(type(x) is np.ndarray and x.shape == first.shape and x.dtype == first.dtype for x in inputs):
        shape, dtype = first.shape, first.dtype
    else:
        shape, dtype = broadcast_shape(op, *map(np.shape, inputs)), np.result_type(*inputs)
    if out is None:
        return empty(shape, result_dtype or dtype)
    check_out(op, out, shape, dtype)
    return out


def _unary(function):
    name = function.__name__

    def op(x, out=None):
        return function(x, out=_result(name, out, None, x))

    return op


def _binary(function):
    name = function.__name__

    def op(a, b, out=None):
        return function(a, b, out=_result(name, out, None, a, b))

    return op


def _comparison(function):
    name = function.__name__

    def op(a, b):
        return function(a, b, out=_result(name, None, "bool", a, b))

    return op


add, subtract, multiply = _binary(np.add), _binary(np.subtract), _binary(np.multiply)
divide, maximum, _power = _binary(np.divide), _binary(np.maximum), _binary(np.power)
negative, exp, log = _unary(np.negative), _unary(np.exp), _unary(np.log)
tanh, sqrt = _unary(np.tanh), _unary(np.sqrt)
equal, not_equal = _comparison(np.equal), _comparison(np.not_equal)
less, less_equal = _comparison(np.less), _comparison(np.less_equal)
greater, greater_equal = _comparison(np.greater), _comparison(np.greater_equal)


def power(a, b, out=None):
    """NumPy takes 100 times longer for x**3 than for x * x * x."""
    if type(a) is np.ndarray and a.dtype.kind == "f" and isinstance(b, int | float) and b in (3, 4):
        out = _result("power", out, None, a)
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
    axes = {a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,)) if -x.ndim <= a < x.ndim}
    kept = [1 if i in axes else length for i, length in enumerate(x.shape)]
    shape = kept if keepdims else [length for i, length in enumerate(x.shape) if i not in axes]
    return function(x, axis=axis, keepdims=keepdims, out=empty(tuple(shape), x.dtype))


def sum(x, axis=None, keepdims=False):
    if x.dtype.kind != "f":
        return reductions.sum(x, axis, keepdims)
    return _reduce(np.sum, x, axis, keepdims)


def max(x, axis=None, keepdims=False):
    return _reduce(np.max, x, axis, keepdims)


def gather(x, indices):
    if x.dtype.kind != "f" or not indices.size or indices.min() < 0 or indices.max() >= x.shape[0]:
        return reductions.gather(x, indices)
    shape = (*indices.shape, *x.shape[1:])
    return np.take(x, indices, axis=0, out=empty(shape, x.dtype), mode="clip")  # inside already; "raise" would buffer
