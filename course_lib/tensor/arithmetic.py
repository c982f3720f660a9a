"""The part of Tensor that computes: elementwise operations, matmul, reductions, each with its gradient rule beside it.

In a rule, `dy` is the gradient that arrives, an array of the device, and the result is one gradient for each input.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Self

from course_lib.devices.axes import reduced_shape
from course_lib.devices.checks import matmul_shape
from course_lib.tensor import shapes
from course_lib.tensor.recording import Strided, from_array, record, unbroadcast, view_of


class Arithmetic(Strided):
    """Operators and methods that make new values."""

    __slots__ = ()

    def __add__(self, other) -> Self:
        return _binary("add", self, other, lambda ops, dy, a, b, y: (dy, dy), saves="")

    def __sub__(self, other) -> Self:
        return _binary("subtract", self, other, lambda ops, dy, a, b, y: (dy, ops.negative(dy)), saves="")

    def __rsub__(self, other) -> Self:
        return -self + other

    def __mul__(self, other) -> Self:
        return _binary("multiply", self, other, lambda ops, dy, a, b, y: (ops.multiply(dy, b), ops.multiply(dy, a)))

    def __truediv__(self, other) -> Self:
        def backward(ops, dy, a, b, y):
            da = ops.divide(dy, b)
            return da, ops.negative(ops.multiply(da, y))  # d(a/b)/db = -(a/b)/b

        return _binary("divide", self, other, backward)

    def __rtruediv__(self, other) -> Self:
        return _lift(other, self) / self

    def __pow__(self, exponent: float) -> Self:
        """x ** number."""
        if not isinstance(exponent, int | float):
            raise TypeError(f"x ** p needs a number p, not {type(exponent).__name__}. For tensors use exp(p * log(x)).")
        x, ops = self.array(), self.ops
        return record("power", (self,), ops.power(x, exponent),
                      lambda dy: (ops.multiply(dy, ops.multiply(ops.power(x, exponent - 1), exponent)),),
                      saved=(self,))  # fmt: skip

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Self:
        ops = self.ops
        return record("negative", (self,), ops.negative(self.array()), lambda dy: (ops.negative(dy),))

    def exp(self) -> Self:
        return _unary("exp", self, lambda ops, dy, x, y: ops.multiply(dy, y))

    def log(self) -> Self:
        return _unary("log", self, lambda ops, dy, x, y: ops.divide(dy, x))

    def tanh(self) -> Self:
        return _unary("tanh", self, lambda ops, dy, x, y: ops.multiply(dy, ops.subtract(1.0, ops.multiply(y, y))))

    def sqrt(self) -> Self:
        return _unary("sqrt", self, lambda ops, dy, x, y: ops.divide(ops.multiply(dy, 0.5), y))

    def sin(self) -> Self:
        return _unary("sin", self, lambda ops, dy, x, y: ops.multiply(dy, ops.cos(x)))

    def cos(self) -> Self:
        return _unary("cos", self, lambda ops, dy, x, y: ops.negative(ops.multiply(dy, ops.sin(x))))

    def __matmul__(self, other: Self) -> Self:
        return matmul(self, other)

    def __lt__(self, other) -> Self:
        return _compare("less", self, other)

    def __le__(self, other) -> Self:
        return _compare("less_equal", self, other)

    def __gt__(self, other) -> Self:
        return _compare("greater", self, other)

    def __ge__(self, other) -> Self:
        return _compare("greater_equal", self, other)

    def equal(self, other) -> Self:
        """Elementwise equality (`==` keeps its meaning for Python: the same object)."""
        return _compare("equal", self, other)

    # Reductions

    def sum(self, axis=None, keepdims: bool = False) -> Self:
        """Sum over all axes, one axis or a tuple of axes."""
        ops, shape, kept = self.ops, self.shape, reduced_shape("sum", self.shape, axis, keepdims=True)
        return record("sum", (self,), ops.sum(self.array(), axis, keepdims),
                      lambda dy: (_spread(ops, dy, kept, shape),))  # fmt: skip

    def mean(self, axis=None, keepdims: bool = False) -> Self:
        """Mean over all axes, one axis or a tuple of axes."""
        means = math.prod(reduced_shape("mean", self.shape, axis, keepdims=True))
        return self.sum(axis, keepdims) * (means / self.size if means else 1.0)

    def max(self, axis=None, keepdims: bool = False) -> Self:
        """Largest element. Its gradient is divided equally between equal largest elements."""
        x, ops, shape, kept = self.array(), self.ops, self.shape, reduced_shape("max", self.shape, axis, keepdims=True)
        y = ops.max(x, axis, keepdims)

        def backward(dy):
            winners = ops.cast(ops.equal(x, ops.view(y, kept)), dy.dtype)
            each = ops.divide(ops.view(dy, kept), ops.sum(winners, axis, True))
            return (ops.multiply(winners, _spread(ops, each, kept, shape)),)

        return record("max", (self,), y, backward, saved=(self,))

    def argmax(self, axis: int = -1) -> Self:
        """Position of the largest element along an axis, the first of equals, as int64."""
        return from_array(type(self), self.ops.argmax(self.array(), axis), self.ops)


def _lift(value, like: Strided) -> Strided:
    """A number or array as a tensor of the same device and dtype."""
    return value if isinstance(value, Strided) else type(like)(value, dtype=like.dtype, device=like.device)


def _same_dtype(name: str, a: Strided, b: Strided) -> None:
    if a.dtype != b.dtype:
        raise TypeError(f"{name} got {a.dtype} and {b.dtype}. Bring both to one dtype with astype(...).")


def _unary(name: str, x: Strided, rule: Callable) -> Strided:
    ops, array = x.ops, x.array()
    y = getattr(ops, name)(array)
    return record(name, (x,), y, lambda dy: (rule(ops, dy, array, y),), saved=(x,))


def _binary(name: str, a: Strided, b, rule: Callable, saves: str = "ab") -> Strided:
    """An elementwise operation of two tensors, or of a tensor and a number. rule: (ops, dy, a, b, y) -> da, db."""
    ops = a.ops
    if isinstance(b, int | float):
        x, y = a.array(), None
        y = getattr(ops, name)(x, b)
        return record(name, (a,), y, lambda dy: (rule(ops, dy, x, b, y)[0],), saved=(a,) if saves else ())
    b = _lift(b, a)
    _same_dtype(name, a, b)
    shapes.broadcast_shape(a.shape, b.shape)  # refuse here, with both shapes named
    x, z = a.array(), b.array()
    y = getattr(ops, name)(x, z)

    def backward(dy):
        da, db = rule(ops, dy, x, z, y)
        return unbroadcast(ops, da, a.shape), unbroadcast(ops, db, b.shape)

    return record(name, (a, b), y, backward, saved=(a, b) if saves else ())


def _compare(name: str, a: Strided, b) -> Strided:
    other = b if isinstance(b, int | float) else _lift(b, a).array()
    return from_array(type(a), getattr(a.ops, name)(a.array(), other), a.ops)


def matmul(a: Strided, b: Strided) -> Strided:
    """a (..., N, K) @ b (..., K, M) -> (..., N, M); leading axes broadcast. A transposed view is never copied."""
    if not isinstance(b, Strided):
        raise ValueError(f"matmul multiplies two tensors, but was given {a.shape} and {type(b).__name__}.")
    matmul_shape(a, b)  # refuse here, with the shapes before any is transposed
    _same_dtype("matmul", a, b)
    ops = a.ops
    (x, x_transposed), (z, z_transposed) = _matrix(a), _matrix(b)
    y = ops.matmul(x, z, x_transposed, z_transposed)

    def backward(dy):
        da = ops.matmul(dy, z, False, not z_transposed)  # dA = dY B^T
        db = ops.matmul(x, dy, not x_transposed, False)  # dB = A^T dY
        return unbroadcast(ops, da, a.shape), unbroadcast(ops, db, b.shape)

    return record("matmul", (a, b), y, backward, saved=(a, b))


def _matrix(x: Strided):
    """The array of x for a matmul, and whether it holds x with its last two axes swapped."""
    if not x.is_contiguous():
        shape = (*x.shape[:-2], x.shape[-1], x.shape[-2])
        strides = (*x.strides[:-2], x.strides[-1], x.strides[-2])
        transposed = view_of(type(x), x.storage, shape, strides, x.offset)
        if transposed.is_contiguous():
            return transposed.array(), True
    return x.array(), False


def _spread(ops, dy, kept: tuple[int, ...], shape: tuple[int, ...]):
    """The gradient of a sum: dy, of shape `kept`, repeated along the summed axes."""
    strides = shapes.broadcast_strides(kept, shapes.contiguous_strides(kept), shape)
    return ops.strided_copy(dy, shape, strides, 0)
