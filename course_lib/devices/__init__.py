"""Devices: for each machine that can compute, one table of plain functions, with one contract for all.

`ops("cpu")` gives a table; `ops("cpu").gelu_forward(x)` runs an op. Tensors, autograd and modules stand above and know no
device; a device knows no Tensor. Everything a device must do is written once: on this page, and for each op in a line of
contract.py, by which every table checks what it is given (checking.py).

Arrays
------
An array is whatever the device computes with (a NumPy array, a CuPy array, a WebGPU buffer). It has `.shape` (tuple),
`.dtype` (a NumPy dtype) and `.size`, and it is contiguous, in row-major order. Views (transpose, slice, broadcast) are
the Tensor's business: it keeps shape, strides and offset, all counted in elements, over a flat buffer. Ops return new
arrays; those marked [out] take `out=`, an array of the result's shape and dtype (it may be one of the inputs, unless the
op is a matmul or a copy). Ops compute in the dtype of their floating-point inputs, float32 or float64; a Python number
takes the array's dtype. Indices and targets are int32 or int64. Shapes that do not fit raise ValueError naming both, indices
outside raise IndexError, but for one case: while a step is captured as a CUDA graph, and when it is replayed, its values
are not checked. An index outside of a table then gives zeros and adds nothing, a target outside of the vocabulary has loss 0
(embedding.cu, cross_entropy.cu); gather and scatter_add are not for such a step.

Training in bfloat16
--------------------
    with computing("cpu", "bfloat16"):                linear layers multiply in bfloat16 and sum in float32, on devices that can
                                                      (attention too, matmul on the CPU); arrays stay float32

Adding a device: write `devices/NAME.py` with a function `table()` that returns a dict of the names in contract.py, functions
that compute and need check nothing, and `limits()` if it takes less than the contract allows; list it in `LOADERS` below, and run
`tests/test_ops.py`, which tries every op on every device.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType, SimpleNamespace

from . import composed, contract
from .checking import Limits, checked

__doc__ = f"{__doc__}{contract.TABLE}"

# Modules whose `table()` builds the device; `available()` says whether this machine has it. One that multiplies bfloat16 has
# `computing(kind, copies, backward)` too, and `Copies(weights)` if it keeps what it rounds. One that can replay a step as a
# whole has `CapturedStep(work)`. `limits()` says what it does not take. `problem(as_gpu)`, `hardware()`, `release()`,
# `bfloat16_instruction()` and `bfloat16_is_faster(channels)` answer the functions of these names below.
LOADERS = {name: f"course_lib.devices.{name}" for name in ("reference", "cpu", "simulator", "cuda", "webgpu")}

_tables: dict[str, Table] = {}
_overlays: list[Overlay] = []  # the newest stands last


class Table(SimpleNamespace):
    """The ops of a device by name, each behind its check, with what was laid on them by `overlay`."""

    __slots__ = ("limits", "own")  # beside the ops: what the device takes, and its own functions

    def __init__(self, name: str, functions: dict[str, Callable], limits: Limits):
        super().__init__(name=name)
        self.limits, self.own = limits, {}
        missing = {op: f for op, f in composed.compose(self).items() if op not in functions}
        self.own = {op: checked(op, function, limits) for op, function in (functions | missing).items()}
        self.settle()

    def __reduce__(self):
        return ops, (self.name,)  # a copy of a tensor is on the same device

    def settle(self) -> None:
        """For each op the newest overlay; else, if it is several ops in one and something lies on one of those, it is made of
        them, to reach that; else the device's own."""
        laid = {one.name: one.function for one in _overlays if one.device in (None, self.name)}
        made = {
            op: f for op, f in composed.compose(self).items() if op not in laid and laid.keys() & composed.PARTS[op]
        }
        vars(self).update(self.own)
        vars(self).update({op: checked(op, function, self.limits) for op, function in (made | laid).items()})


def available_devices() -> list[str]:
    """Names of the devices that this machine can compute on, in the order of `LOADERS`."""
    found = []
    for name in LOADERS:
        available = getattr(_module(name), "available", None)
        if available is None or available():
            found.append(name)
    return found


def ops(name: str) -> Table:
    """The table of functions of device `name`, loaded on first use. Raises ValueError for a name that is not known."""
    if name not in _tables:
        module = _module(name)
        _tables[name] = Table(name, module.table(), getattr(module, "limits", Limits)())
    return _tables[name]


def _module(name: str) -> ModuleType:
    if name not in LOADERS:
        raise ValueError(f"There is no device named {name!r}. Choose one of: {', '.join(LOADERS)}.")
    return importlib.import_module(LOADERS[name])


def computing(name: str, kind: str, copies=None, backward: bool = False) -> AbstractContextManager:
    """Inside the `with` block device `name` multiplies in `kind`, "float32" or "bfloat16"; one that cannot, in float32.

    copies: of `rounded_copies`. backward: whether each forward pass in the block has a backward pass.
    """
    own = getattr(_module(name), "computing", None)
    return nullcontext() if own is None else own(kind, copies, backward)


def products_by(name: str) -> str:
    """What multiplies matrices on device `name`, in words, and with it the last bits."""
    own = getattr(_module(name), "products_by", None)
    return f"kernels of the device {name}" if own is None else own()


def problem(name: str, as_gpu: bool = False) -> str:
    """Why this machine cannot compute on device `name`, in a sentence; as_gpu: or why it is no faster there than the CPU."""
    own = getattr(_module(name), "problem", None)
    return "" if own is None else own(as_gpu)


def hardware(name: str) -> str:
    """What device `name` runs on, by the name that it has itself; empty if it has none."""
    own = getattr(_module(name), "hardware", None)
    return "" if own is None else own()


def release(name: str) -> None:
    """Give memory that device `name` keeps for the next step back to the system, where it keeps some."""
    if own := getattr(_module(name), "release", None):
        own()


def bfloat16_instruction(name: str) -> str:
    """What the processor of device `name` multiplies bfloat16 by; empty if it does not."""
    own = getattr(_module(name), "bfloat16_instruction", None)
    return "" if own is None else own()


def bfloat16_is_faster(name: str, channels: int) -> bool:
    """Whether linear layers of so many channels are faster in bfloat16 on device `name`, which can multiply it."""
    own = getattr(_module(name), "bfloat16_is_faster", None)
    return True if own is None else own(channels)


def rounded_copies(name: str, weights: list):
    """Where device `name` keeps bfloat16 copies of weights (arrays) from one product to the next; None if it does not."""
    own = getattr(_module(name), "Copies", None)
    return None if own is None else own(weights)


def captured_step(name: str, work: Callable[..., tuple]):
    """`work` as one launch, on a device that can capture it (gpu/capture.py says what that asks of it); else None."""
    own = getattr(_module(name), "CapturedStep", None)
    return None if own is None else own(work)


class Overlay:
    """One op replaced by another function, on one device or on all, until `remove()` or the end of a `with` block."""

    def __init__(self, name: str, function: Callable, device: str | None):
        self.name, self.function, self.device = name, function, device

    def remove(self) -> None:
        """Put back what stands below: the newest of the overlays that are left, or the device's own op."""
        if self in _overlays:
            _overlays.remove(self)
            _settle()

    def __enter__(self) -> Overlay:
        return self

    def __exit__(self, *exception) -> None:
        self.remove()


def _settle() -> None:
    for table in _tables.values():
        table.settle()


def overlay(name: str, function: Callable, device: str | None = None) -> Overlay:
    """Put `function` in the place of op `name` at once, on `device` or on every device; returns a handle to undo it."""
    if device is not None or not _tables:
        ops(device or "reference")  # a misspelt name is refused now rather than at the first use
    for table in _tables.values():
        if device in (None, table.name) and name not in table.own:
            raise ValueError(f"Device {table.name!r} has no op named {name!r}: check the spelling.")
    _overlays.append(Overlay(name, function, device))
    _settle()
    return _overlays[-1]
