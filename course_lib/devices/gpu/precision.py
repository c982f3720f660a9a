"""What the products of one device multiply in, and the bfloat16 copies that it keeps: an object that the device holds.

float32, or bfloat16 with sums in float32 (sm_80 and newer). mixed.py is the ops at a Precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .storage import to_bfloat16


class Precision:
    """`compute` is "float32" or "bfloat16". copies: a `Copies` that keeps what is rounded to bfloat16, or None.

    backward: whether each forward pass has a backward pass, so that its inputs are worth keeping.
    """

    def __init__(self):
        self.compute, self.copies, self.backward = "float32", None, False

    @contextmanager
    def computing(self, kind: str, copies: Copies | None = None, backward: bool = False) -> Iterator[None]:
        """Another `compute`, and other `copies`, inside the `with` block. backward: each forward pass in it has one."""
        before = self.compute, self.copies, self.backward
        self.compute, self.copies, self.backward = kind, copies, backward and copies is not None
        try:
            yield
        finally:
            self.compute, self.copies, self.backward = before
            if copies is not None:
                copies.forget()

    def is_mixed(self, *arrays) -> bool:
        """Whether a product of these arrays is one of bfloat16; arrays that are not float32 are multiplied as they are."""
        return self.compute == "bfloat16" and all(array.dtype == np.float32 for array in arrays)

    def cast_and_save(self, x):
        """An input of a forward pass, rounded; the copy is saved for the backward pass, if there will be one."""
        return self.save(x, to_bfloat16(x))

    def save(self, x, copy):
        """`copy`, which is saved as the copy of x for the backward pass, if there will be one."""
        if self.backward:
            self.copies.keep(x, copy)
        return copy

    def saved_cast(self, x):
        """The same input in the backward pass: the copy that was saved, or a new one."""
        copy = self.copies and self.copies.taken(x)
        return to_bfloat16(x) if copy is None else copy

    def weight(self, weight):
        """A weight, rounded: the copy that is kept of it, or a new one."""
        copy = self.copies and self.copies.of(weight)
        return to_bfloat16(weight) if copy is None else copy


class Copies:
    """bfloat16 copies: of some weights, each made when a product first asks for it, and of what comes into a product, from its
    forward pass to its backward.

    As long as they are in `Precision.computing(...)` nothing but adamw_step may change the weights.
    """

    def __init__(self, weights):
        self._weights = {id(weight): weight for weight in weights}  # kept, so that no other array gets their id
        self._copies: dict = {}
        self._inputs: dict = {}  # id -> (the array, its copy)

    def of(self, weight):
        """Its copy; None for an array that is not one of the weights."""
        if id(weight) in self._weights and id(weight) not in self._copies:
            self._copies[id(weight)] = to_bfloat16(weight, persistent=True)
        return self.made(weight)

    def made(self, weight):
        """Its copy if there is one already, else None."""
        return self._copies.get(id(weight))

    def keep(self, x, copy) -> None:
        """Hold the copy of an input until `taken` asks for it."""
        self._inputs[id(x)] = x, copy

    def taken(self, x):
        """The copy of an input, which is held no longer; None if there is none."""
        return self._inputs.pop(id(x), (x, None))[1]

    def forget(self) -> None:
        """Hold no inputs: those of a step that came to no backward pass."""
        self._inputs.clear()
