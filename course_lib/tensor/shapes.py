"""Arithmetic of views: shapes, strides and offsets, counted in elements. Plain tuples in, plain tuples out.

Element (i, j, ...) of a view stands in the buffer at offset + i * strides[0] + j * strides[1] + ...
"""

from __future__ import annotations

import math
import operator

from course_lib.devices.layout import broadcast_shape


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides: the last axis moves by one element. (2, 3, 4) -> (12, 4, 1)."""
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements are in row-major order without gaps. The stride of an axis of length 1 never counts."""
    step = 1
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return True


def as_shape(shape) -> tuple[int, ...]:
    """Both spellings, reshape(2, 3) and reshape((2, 3)), as a tuple of ints."""
    if len(shape) == 1 and not hasattr(shape[0], "__index__"):
        shape = shape[0]
    return tuple(operator.index(length) for length in shape)


def resolve_shape(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Fill in a -1. Raises ValueError if `size` elements do not fit `shape`."""
    if shape.count(-1) == 1:
        known = math.prod(length for length in shape if length != -1)
        if known > 0 and size % known == 0:
            return tuple(size // known if length == -1 else length for length in shape)
    elif min(shape, default=0) >= 0 and math.prod(shape) == size:
        return shape
    raise ValueError(f"{size} elements do not fit the shape {shape}. The product of its lengths must be {size}.")


def broadcast_strides(shape: tuple[int, ...], strides: tuple[int, ...], to: tuple[int, ...]) -> tuple[int, ...]:
    """Strides that show `shape` as `to`: an axis that is repeated gets stride 0. Raises ValueError if it does not fit."""
    if len(to) < len(shape) or broadcast_shape(shape, to) != to:
        raise ValueError(f"The shape {shape} cannot be broadcast to {to}: only axes of length 1 can be repeated.")
    missing = len(to) - len(shape)
    repeated = [0 if length == 1 != target else stride
                for length, stride, target in zip(shape, strides, to[missing:], strict=True)]  # fmt: skip
    return (0,) * missing + tuple(repeated)


def repeated_axes(shape: tuple[int, ...], to: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of `to` along which `shape` was repeated: those that a gradient must be summed over."""
    missing = len(to) - len(shape)
    return tuple(
        axis for axis, length in enumerate(to) if axis < missing or (shape[axis - missing] == 1 and length != 1)
    )


def index_view(key, shape: tuple[int, ...], strides: tuple[int, ...], offset: int):
    """What x[key] shows, for ints, slices, None and one Ellipsis: (shape, strides, offset)."""
    keys = list(key) if isinstance(key, tuple) else [key]
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    if taken > len(shape):
        raise IndexError(f"{taken} indices were given, but the tensor of shape {shape} has only {len(shape)} axes.")
    if not any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    position = next(i for i, k in enumerate(keys) if k is Ellipsis)
    keys[position : position + 1] = [slice(None)] * (len(shape) - taken)
    new_shape, new_strides, axis = [], [], 0
    for k in keys:
        if k is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        length, stride = shape[axis], strides[axis]
        if isinstance(k, slice):
            start, stop, step = k.indices(length)
            count = len(range(start, stop, step))
            new_shape.append(count)
            new_strides.append(stride * step)
            offset += start * stride if count else 0
        else:
            try:
                i = operator.index(k)
            except TypeError:
                raise IndexError(
                    f"A tensor cannot be indexed with {k!r}. Use ints, slices, None, '...', or one array of ints that "
                    "picks rows."
                ) from None
            if not -length <= i < length:
                raise IndexError(
                    f"Index {i} is outside axis {axis} of the shape {shape}: it goes from 0 to {length - 1}."
                )
            offset += (i % length) * stride
        axis += 1
    return tuple(new_shape), tuple(new_strides), offset
