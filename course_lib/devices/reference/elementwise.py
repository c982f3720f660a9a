"""Elementwise ops with broadcasting. NumPy has each of them; what is added is that results are contiguous arrays."""

from __future__ import annotations

import numpy as np

__all__ = """
    add subtract multiply divide power maximum negative exp log tanh sqrt sin cos
    equal not_equal less less_equal greater greater_equal where
""".split()


def _unary(function):
    return lambda x, out=None: np.asarray(function(x, order="C")) if out is None else function(x, out=out)


def _binary(function):
    return lambda a, b, out=None: np.asarray(function(a, b, order="C")) if out is None else function(a, b, out=out)


def _comparison(function):
    return lambda a, b: np.asarray(function(a, b, order="C"))


add, subtract, multiply = _binary(np.add), _binary(np.subtract), _binary(np.multiply)
divide, power, maximum = _binary(np.divide), _binary(np.power), _binary(np.maximum)
negative, exp, log = _unary(np.negative), _unary(np.exp), _unary(np.log)
tanh, sqrt = _unary(np.tanh), _unary(np.sqrt)
sin, cos = _unary(np.sin), _unary(np.cos)
equal, not_equal = _comparison(np.equal), _comparison(np.not_equal)
less, less_equal = _comparison(np.less), _comparison(np.less_equal)
greater, greater_equal = _comparison(np.greater), _comparison(np.greater_equal)


def where(condition, a, b, out=None):
    result = np.asarray(np.where(condition, a, b), order="C")
    if out is None:
        return result
    out[...] = result
    return out
