"""What a Tensor stands on: a view of a flat buffer, and the entry on the tape of the operation that made it.

This file knows no Tensor class: a result is of the class of its first input.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import numpy as np

from course_lib import autograd
from course_lib.autograd import GraphError, Node
from course_lib.tensor import shapes


class Storage:
    """The flat buffer under one or more views: a device array, its device's ops, and how often it was changed."""

    __slots__ = ("array", "ops", "version")

    def __init__(self, array, ops):
        self.array, self.ops, self.version = array, ops, 0


class Strided:
    """A shape, strides and an offset, in elements, over a storage; and an edge of the tape, or None."""

    __slots__ = ("__weakref__", "edge", "offset", "shape", "storage", "strides")

    @property
    def ops(self):
        """The table of functions of the tensor's device."""
        return self.storage.ops

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.storage.array.dtype)

    def is_contiguous(self) -> bool:
        """Whether the elements are in row-major order without gaps."""
        return shapes.is_contiguous(self.shape, self.strides)

    def array(self):
        """The values as a device array in row-major order: the buffer itself where that is possible, else a copy."""
        whole = self.storage.array
        if not self.is_contiguous():
            return self.ops.strided_copy(whole, self.shape, self.strides, self.offset)
        if self.offset == 0 and whole.shape == self.shape:
            return whole
        return self.ops.view(whole, self.shape, self.offset)


def view_of(cls: type, storage: Storage, shape: tuple, strides: tuple, offset: int) -> Strided:
    """A view of a storage as an object of `cls`, off the tape."""
    view = cls.__new__(cls)
    view.storage, view.shape, view.strides, view.offset, view.edge = storage, shape, strides, offset, None
    return view


def from_array(cls: type, array, ops) -> Strided:
    """A device array as an object of `cls`, off the tape; no copy."""
    shape = tuple(array.shape)
    return view_of(cls, Storage(array, ops), shape, shapes.contiguous_strides(shape), 0)


def record(name: str, inputs: Sequence, outputs, backward: Callable, saved: Sequence = ()):
    """Wrap the device arrays that an operation made as tensors, and write the operation to the tape.

    outputs: one array or a tuple of them. backward: takes one gradient array for each output (None for an output that
    was not used, if there are several), returns one for each input, or None. saved: the tensors whose values `backward`
    reads; it refuses to run if one of them was changed in place since. Returns a Tensor, or a tuple of them.
    """
    if isinstance(inputs, Strided):
        raise TypeError(f"record({name!r}, ...) takes its inputs as a tuple, also when there is only one: (x,).")
    several, cls, ops = isinstance(outputs, tuple), type(inputs[0]), inputs[0].ops
    tensors = [from_array(cls, array, ops) for array in (outputs if several else (outputs,))]
    _write(name, inputs, tensors, backward, saved)
    return tuple(tensors) if several else tensors[0]


def record_view(name: str, x: Strided, shape: tuple, strides: tuple, offset: int, backward: Callable):
    """The same for a view of x: it shares the storage, and its gradient is mapped back by `backward`."""
    view = view_of(type(x), x.storage, shape, strides, offset)
    _write(name, (x,), (view,), backward)
    return view


def _write(name: str, inputs: Sequence, results: Sequence, backward: Callable, saved: Sequence = ()) -> None:
    ops = inputs[0].ops
    for tensor in inputs:
        if tensor.ops is not ops:
            raise ValueError(
                f"{name} got tensors on two devices, {ops.name!r} and {tensor.ops.name!r}. Move one with to(device)."
            )
    if not autograd.recording() or all(tensor.edge is None for tensor in inputs):
        return
    versions = [(tensor.storage, tensor.storage.version) for tensor in saved]

    def checked(*gradients):
        for storage, version in versions:
            if storage.version != version:
                raise GraphError(
                    f"A value that '{name}' needs for its gradient was changed in place after it was used. "
                    "Make the change on a copy, or after backward()."
                )
        found = backward(*gradients)
        if not isinstance(found, tuple) or len(found) != len(inputs):
            got = f"{len(found)} of them" if isinstance(found, tuple) else f"no tuple ({type(found).__name__})"
            raise GraphError(
                f"The rule of '{name}' must return a tuple with one gradient for each of its {len(inputs)} inputs, with a comma "
                f"even for one: (dx,). It returned {got}."
            )
        return found

    node = Node(name, [tensor.edge for tensor in inputs], checked)
    for number, tensor in enumerate(results):
        tensor.edge = (node, number)
        node.outputs.append(weakref.ref(tensor))


def unbroadcast(ops, gradient, shape: tuple[int, ...]):
    """Sum a gradient array over the axes along which `shape` was repeated."""
    if tuple(gradient.shape) == shape:
        return gradient
    return ops.view(ops.sum(gradient, shapes.repeated_axes(shape, tuple(gradient.shape)), True), shape)
