"""Elementwise ops with broadcasting. NumPy has each of them; what is added is that results are contiguous arrays."""

from __future__ import annotations

import numpy as np

__all__ = """
    add subtract multiply divide power maximum negative exp log tanh sqrt
    equal not_equal less less_equal greater greater_equal where
""".split()


def _apply(function, inputs, out=None):
    """function(*inputs) as a contiguous array, written into `out` if it is given."""
    return np.asarray(function(*inputs, order="C")) if out is None else function(*inputs, out=out)


def add(a, b, out=None):
    return _apply(np.add, (a, b), out)


def subtract(a, b, out=None):
    return _apply(np.subtract, (a, b), out)


def multiply(a, b, out=None):
    return _apply(np.multiply, (a, b), out)


def divide(a, b, out=None):
    return _apply(np.divide, (a, b), out)


def power(a, b, out=None):
    return _apply(np.power, (a, b), out)


def maximum(a, b, out=None):
    return _apply(np.maximum, (a, b), out)


def negative(x, out=None):
    return _apply(np.negative, (x,), out)


def exp(x, out=None):
    return _apply(np.exp, (x,), out)


def log(x, out=None):
    return _apply(np.log, (x,), out)


def tanh(x, out=None):
    return _apply(np.tanh, (x,), out)


def sqrt(x, out=None):
    return _apply(np.sqrt, (x,), out)


def equal(a, b):
    return _apply(np.equal, (a, b))


def not_equal(a, b):
    return _apply(np.not_equal, (a, b))


def less(a, b):
    return _apply(np.less, (a, b))


def less_equal(a, b):
    return _apply(np.less_equal, (a, b))


def greater(a, b):
    return _apply(np.greater, (a, b))


def greater_equal(a, b):
    return _apply(np.greater_equal, (a, b))


def where(condition, a, b, out=None):
    result = np.asarray(np.where(condition, a, b), order="C")
    if out is None:
        return result
    out[...] = result
    return out
