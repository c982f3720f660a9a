"""What the launch code of every CUDA op needs: its kernels, new arrays where the old ones lie, and a count of launches.

An op keeps no state of its device. NumPy arrays are the simulator's and CuPy arrays the GPU's, so the arrays decide where a
kernel runs and where its result is made; the same function serves both tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.cuda import Kernel
from course_lib.cuda.source import KERNELS

from .. import checking, replacing, watching
from ..checks import check_size
from ..layout import MOST_ELEMENTS, THREADS, blocks
from . import card, guarded

# What a dtype is called in CUDA C++. bfloat16 lies in arrays of uint16 where no package gives NumPy that type.
TYPES = {
    "float32": "float", "float64": "double", "int32": "int", "int64": "long long", "uint32": "unsigned int",
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "uint16": "unsigned short", "int16": "short",
    "uint64": "unsigned long long", "bfloat16": "__nv_bfloat16", "float16": "__half",
}  # fmt: skip
OF_SIZE = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
WORDS = {size: np.dtype(f"uint{8 * size}") for size in OF_SIZE}

counting, rehearsing = watching.counting, watching.rehearsing

_capturing = False
_arena: Any = None


class Counted(Kernel):
    """A kernel whose launches can be counted."""

    def __call__(self, *launch, **options) -> None:
        if watching.launched(f"{self.source.name} {self.name.partition('<')[0]}"):
            super().__call__(*launch, **options)


def _counted(file: str | Path, name: str, *options: str) -> Kernel:
    return Counted(KERNELS / file, name, options)


def kernel(file: str, name: str, *options: str) -> Callable[..., None]:
    """The kernel `name` of kernels/`file`, or what was put in its place, compiled at its first launch."""
    return replacing.chosen(_counted, file, name, *options)


@cache
def instances(file: str, *names: str) -> None:
    """Name the instances of a template that are wanted most, so that the first launch of one compiles them together."""
    for name in names:
        kernel(file, name)


@contextmanager
def captured() -> Iterator[None]:
    """Inside the `with` block launches are recorded into a graph: nothing may ask the device for a value."""
    global _capturing
    _capturing = True
    try:
        yield
    finally:
        _capturing = False


def refuse_in_capture() -> None:
    """Raises RuntimeError while a graph is captured: the values are not computed yet."""
    if _capturing:
        raise RuntimeError("a value was asked for while the launches were only being written down")


def is_host(array: Any) -> bool:
    """Whether an array is the simulator's."""
    return isinstance(array, np.ndarray)


@contextmanager
def using(source: Any) -> Iterator[None]:
    """Inside the `with` block new arrays come from `source`, an arena."""
    global _arena
    before, _arena = _arena, source
    try:
        yield
    finally:
        _arena = before


def allocate(memory: Any, shape, dtype):
    """A new array from the arena in use, else from the memory of its device."""
    return (memory if _arena is None else _arena).empty(shape, dtype)


def empty(like: Any, shape, dtype=None, persistent: bool = False):
    """A new array on the device where `like` lies, of its dtype if none is given; what is in it is not defined.

    persistent: it is kept beyond the training step that it is made in, so it comes from no arena.
    """
    memory = guarded if is_host(like) else card
    dtype = like.dtype if dtype is None else np.dtype(dtype)
    return memory.empty(shape, dtype) if persistent else allocate(memory, shape, dtype)


def zeros(like: Any, shape, dtype=None):
    """The same, filled with zeros."""
    array = empty(like, shape, dtype)
    clear(array)
    return array


def clear(array: Any) -> None:
    """Fill with zero bytes, as a launch, so that it can be captured."""
    check_size("zeros", array.size)
    if array.size:
        size = array.dtype.itemsize
        words = array if array.dtype == WORDS[size] else array.view(WORDS[size])
        kernel("strided_copy.cu", f"fill<{OF_SIZE[size]}>")((blocks(array.size),), (THREADS,), (words, 0, array.size))


def address(array: Any) -> int:
    """Where the first element lies on its device."""
    return array.__array_interface__["data"][0] if is_host(array) else array.data.ptr


def or_null(array: Any | None) -> Any:
    """An array that a kernel may do without, a bias for example; None becomes the null pointer."""
    return 0 if array is None else array


def vector_width(*arrays: Any) -> int:
    """How many elements one instruction may move: as many as fill 16 bytes if all arrays begin on 16 bytes, else 1."""
    return 16 // arrays[0].dtype.itemsize if all(address(array) % 16 == 0 for array in arrays) else 1


def check_indices(op: str, what: str, indices: Any, size: int, ignore: int | None = None) -> None:
    """Raises IndexError unless all indices are in 0 .. size - 1, or equal to `ignore`.

    They are read by the host for that; while a graph is captured that is not possible, and nothing is checked, as the contract
    says.
    """
    if not _capturing:
        checking.check_indices(op, what, indices if is_host(indices) else indices.get(), size, ignore)


# What the kernels take: float32, or all of bfloat16 but for what is a sum, and as many elements as an int counts but for these,
# whose indices have 64 bits.
LIMITS = checking.Limits(
    floats=("float32",),
    most=MOST_ELEMENTS,
    larger=frozenset(
        """
        matmul linear_forward linear_backward linear_backward_input linear_gelu_forward linear_gelu_backward
        linear_cross_entropy linear_residual linear_row_scale
        attention_forward attention_backward cross_entropy_forward cross_entropy_backward cache_append cache_attention
        paged_append paged_gather.pages paged_attention_forward paged_append_int8 paged_attention_int8_forward
        embedding_forward.table gather.x view strided_copy.x
        strided_write.x
        """.split()
    ),
    bfloat16=frozenset(
        """
        matmul linear_forward linear_backward linear_backward_input linear_gelu_forward linear_residual
        linear_row_scale attention_forward attention_backward cache_append cache_attention paged_append paged_gather
        paged_attention_forward
        """.split()
    ),
    single=frozenset(
        """
        linear_forward.bias linear_gelu_forward.bias linear_residual.bias linear_row_scale.scale attention_backward.logsumexp
        """.split()
    ),
    check_indices=check_indices,
)


def limits() -> checking.Limits:
    """What the kernels take of what the contract allows."""
    return LIMITS
