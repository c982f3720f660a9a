"""Tensor: a shape, strides and an offset over a flat device buffer, with an entry on the tape.

Views (transpose, slice, broadcast, most reshapes) share the buffer and cost nothing; an operation that needs its input in
row-major order asks for `array()`, which copies only where it must. Arithmetic is done by the device's table of ops
(`course_lib.devices`), gradients by the tape (`course_lib.autograd`). Fused operations stand in `functional.py`.

Limits: all operands of an operation are on one device and of one dtype. A tensor that the tape still needs must not be
changed in place: `backward()` then refuses, rather than give a wrong gradient.
"""

from __future__ import annotations

import math
import weakref

import numpy as np

from course_lib import autograd
from course_lib.autograd import GraphError, Node, no_grad
from course_lib.devices import ops as device_ops
from course_lib.tensor import shapes
from course_lib.tensor.arithmetic import Arithmetic, matmul
from course_lib.tensor.recording import Storage, from_array, record
from course_lib.tensor.views import Views

__all__ = ["GraphError", "Tensor", "matmul", "no_grad", "record", "tensor_from_array"]


class Tensor(Views, Arithmetic):
    """An n-dimensional array with gradients.

    data: numbers, nested lists, a NumPy array or a Tensor (copied). dtype: float32 unless told otherwise; arrays of
    integers or booleans keep theirs. device: a name of `course_lib.available_devices()`. name: shown in drawings.
    `grad` holds the gradient after `backward()`, added up over calls until it is set to None.
    """

    __slots__ = ()
    __array_priority__ = 1000  # so that numpy_array * tensor asks the tensor

    def __init__(self, data, dtype=None, device: str = "cpu", requires_grad: bool = False, name: str = ""):
        values = data.numpy() if isinstance(data, Tensor) else data
        keeps_dtype = isinstance(values, np.ndarray | np.generic) and values.dtype.kind in "iub"
        try:
            values = np.asarray(values, dtype=dtype or (None if keeps_dtype else np.float32))
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"A Tensor is made of numbers: one number, an array, or lists in which all rows have the same length. NumPy "
                f"says of this {type(data).__name__}: {error}"
            ) from None
        table = device_ops(device)
        self.storage = Storage(table.from_numpy(np.ascontiguousarray(values).reshape(values.shape)), table)
        self.shape, self.strides, self.offset = values.shape, shapes.contiguous_strides(values.shape), 0
        self.edge = None
        if requires_grad:
            self.requires_grad_(name)

    # What it is

    @property
    def device(self) -> str:
        return self.storage.ops.name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def requires_grad(self) -> bool:
        return self.edge is not None

    @property
    def node(self) -> Node | None:
        """How it was made: the entry of the tape, with its name and parents; None off the tape."""
        return self.edge[0] if self.edge else None

    @property
    def grad(self) -> Tensor | None:
        """Gradient of this leaf, same shape; elsewhere only after `backward(keep_gradients=True)`."""
        gradient = self.edge[0].gradient if self.edge else None
        if isinstance(gradient, list):
            gradient = gradient[self.edge[1]]
        return None if gradient is None else tensor_from_array(gradient, self.ops)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if self.edge is None:
            raise GraphError("This tensor has no gradient to set: make it with requires_grad=True.")
        self.edge[0].gradient = None if value is None else value.array()

    def requires_grad_(self, name: str = "") -> Tensor:
        """Make this tensor a leaf of the tape, in place."""
        if self.dtype.kind != "f":
            raise GraphError(
                f"Only floating-point tensors have gradients; this one is {self.dtype}. Use astype('float32')."
            )
        self.edge = (Node("leaf"), 0)
        self.node.label = name
        self.node.outputs.append(weakref.ref(self))
        return self

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("A tensor of shape () holds one number and has no length.")
        return self.shape[0]

    def __repr__(self) -> str:
        values = np.array2string(self.numpy(), precision=4, separator=", ", threshold=200, prefix="Tensor(")
        made = f", made by {self.node.name}" if self.edge and not self.node.is_leaf else ""
        return f"Tensor({values}, shape={self.shape}, dtype={self.dtype}, device={self.device!r}{made})"

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    # Out of the device

    def numpy(self) -> np.ndarray:
        """A NumPy array of its own with the values."""
        return np.array(self.ops.to_numpy(self.array())).reshape(self.shape)

    def item(self) -> float | int | bool:
        """The one number of a tensor of size 1."""
        if self.size != 1:
            raise ValueError(f"item() needs a tensor with one element; this one has the shape {self.shape}.")
        return self.ops.to_numpy(self.array()).reshape(()).item()

    def to(self, device: str) -> Tensor:
        """A copy on another device, off the tape."""
        return Tensor(self.numpy(), dtype=self.dtype, device=device)

    def astype(self, dtype) -> Tensor:
        """A copy in another dtype. Gradients come back in the dtype of this one."""
        ops, before = self.ops, self.dtype
        if np.dtype(dtype).kind != "f":
            return tensor_from_array(ops.cast(self.array(), dtype), ops)
        return record("astype", (self,), ops.cast(self.array(), dtype), lambda dy: (ops.cast(dy, before),))

    # Gradients

    def backward(
        self, gradient: Tensor | None = None, retain_graph: bool = False, keep_gradients: bool = False
    ) -> None:
        """Add to the `grad` of every leaf the gradient of this tensor.

        gradient: the gradient that arrives here, 1 for a single number. retain_graph: allow another backward through the
        same graph. keep_gradients: fill `grad` of the tensors in between as well. Raises GraphError off the tape.
        """
        if self.edge is None:
            raise GraphError(
                "backward() starts at a tensor that depends on a leaf with requires_grad=True; this one does not "
                "(or it was computed under no_grad())."
            )
        if gradient is None and self.size != 1:
            raise GraphError(
                f"backward() of a tensor of shape {self.shape} needs the gradient that arrives here, of the same shape. "
                "Did you mean the sum or the mean of it?"
            )
        ops = self.ops
        start = ops.full(self.shape, 1.0, self.dtype) if gradient is None else gradient.broadcast_to(self.shape).array()
        with no_grad():
            autograd.backward(self.edge, start, ops.add, retain_graph, keep_gradients)


def tensor_from_array(array, ops) -> Tensor:
    """A tensor off the tape around a device array; no copy."""
    return from_array(Tensor, array, ops)
