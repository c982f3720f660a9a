"""The part of Tensor that moves no data: reshape, transpose, broadcast, index. Each gives a view and its backward rule."""

from __future__ import annotations

from typing import Self

import numpy as np

from course_lib import autograd
from course_lib.autograd import GraphError
from course_lib.devices.layout import axis_index
from course_lib.tensor import shapes
from course_lib.tensor.recording import Strided, record, record_view, unbroadcast, view_of


class Views(Strided):
    """Methods that give other views of the same elements."""

    __slots__ = ()

    def detach(self) -> Self:
        """The same buffer, off the tape: no gradient flows through it."""
        return view_of(type(self), self.storage, self.shape, self.strides, self.offset)

    def reshape(self, *shape) -> Self:
        """The same elements in another shape; one length may be -1. Copies first if the elements are not in order."""
        shape = shapes.resolve_shape(shapes.as_shape(shape), self.size)
        if not self.is_contiguous():
            return self.contiguous().reshape(shape)
        ops, before = self.ops, self.shape
        return record_view("reshape", self, shape, shapes.contiguous_strides(shape), self.offset,
                            lambda dy: (ops.view(dy, before),))  # fmt: skip

    def contiguous(self) -> Self:
        """This tensor if it is in row-major order, else a copy that is."""
        if self.is_contiguous():
            return self
        return record("contiguous", (self,), self.array(), lambda dy: (dy,))

    def transpose(self, *axes) -> Self:
        """Axes in another order, reversed if none are named, as in NumPy. Free: only the strides are exchanged."""
        axes = shapes.as_shape(axes) if axes else tuple(reversed(range(self.ndim)))
        axes = tuple(axis_index("transpose", axis, self.ndim) for axis in axes)
        if sorted(axes) != list(range(self.ndim)):
            raise ValueError(f"transpose{axes} must name each of the {self.ndim} axes of the shape {self.shape} once.")
        shape = tuple(self.shape[axis] for axis in axes)
        strides = tuple(self.strides[axis] for axis in axes)
        ops, before, back = self.ops, self.shape, [axes.index(axis) for axis in range(self.ndim)]

        def backward(dy):
            steps = shapes.contiguous_strides(shape)
            return (ops.strided_copy(dy, before, tuple(steps[axis] for axis in back), 0),)

        return record_view("transpose", self, shape, strides, self.offset, backward)

    @property
    def T(self) -> Self:
        return self.transpose()

    def swapaxes(self, a: int, b: int) -> Self:
        """Two axes exchanged."""
        axes = list(range(self.ndim))
        a, b = (axis_index("swapaxes", axis, self.ndim) for axis in (a, b))
        axes[a], axes[b] = b, a
        return self.transpose(axes)

    def broadcast_to(self, *shape) -> Self:
        """Shown in a larger shape without copying: repeated axes get stride 0."""
        shape = shapes.as_shape(shape)
        strides = shapes.broadcast_strides(self.shape, self.strides, shape)
        ops, before = self.ops, self.shape
        return record_view("broadcast", self, shape, strides, self.offset, lambda dy: (unbroadcast(ops, dy, before),))

    def __getitem__(self, key) -> Self:
        """Ints, slices, None and '...' give a view; one array of ints gives rows (a copy)."""
        if isinstance(key, Strided | np.ndarray | list):
            return self._rows(key)
        shape, strides, offset = shapes.index_view(key, self.shape, self.strides, self.offset)
        ops, before = self.ops, self.shape
        _, inner_strides, inner_offset = shapes.index_view(key, before, shapes.contiguous_strides(before), 0)

        def backward(dy):
            dx = ops.zeros(before, dy.dtype)
            ops.strided_write(dx, dy, inner_strides, inner_offset)
            return (dx,)

        return record_view("slice", self, shape, strides, offset, backward)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _rows(self, indices) -> Self:
        indices = indices if isinstance(indices, Strided) else type(self)(np.asarray(indices), device=self.device)
        if indices.dtype.kind not in "iu":
            raise IndexError(
                f"Rows are picked by an array of ints, not of {indices.dtype}. For a mask use functional.where."
            )
        ops, rows, picks = self.ops, self.shape[0], indices.array()
        return record("gather", (self,), ops.gather(self.array(), picks),
                      lambda dy: (ops.scatter_add(dy, picks, rows),))  # fmt: skip

    def __setitem__(self, key, value) -> None:
        """Change elements in place. Not for tensors on the tape: the rule of its backward pass would be wrong."""
        if self.requires_grad and autograd.recording():
            raise GraphError(
                "This tensor is on the tape, so changing it in place would make its gradient wrong. "
                "Build a new tensor instead, or change it under `with no_grad():`."
            )
        shape, strides, offset = shapes.index_view(key, self.shape, self.strides, self.offset)
        value = value if isinstance(value, Strided) else type(self)(value, dtype=self.dtype, device=self.device)
        self.ops.strided_write(self.storage.array, value.broadcast_to(shape).array(), strides, offset)
        self.storage.version += 1
