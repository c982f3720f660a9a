"""The cpu device: compiled C++ loops for matrix products and the fused ops, NumPy for the rest.

Without a compiler (or with COURSE_COMPILER=none) the same ops run in NumPy alone, slower: `course bench cpu` says how much.
Contract: `course_lib/devices/contract.py`.

    memory.py storage.py                 arrays in recycled memory
    arithmetic.py products.py            elementwise and reductions in NumPy; matrix products
    bfloat16.py                          products that multiply in bfloat16
    plain_*.py                           the fused ops in NumPy
    quantised.py                         linear layers with quantised weights
    compiled*.py loops/*.cpp             products and fused ops in C++, and the functions that call them
"""

from __future__ import annotations

from collections.abc import Callable

from course_lib import native

from .. import reference
from ..reference import dropout
from ..reference import quantised as plain_quantised
from . import (
    arithmetic,
    bfloat16,
    compiled,
    compiled_layers,
    compiled_recurrences,
    compiled_training,
    memory,
    plain_attention,
    plain_layers,
    plain_training,
    products,
    quantised,
    storage,
)  # fmt: skip
from .bfloat16 import computing as computing

PLAIN = (storage, arithmetic, products, plain_layers, plain_attention, plain_training, plain_quantised, dropout)
COMPILED = (compiled_layers, compiled_recurrences, compiled_training, quantised)  # these cover what they can


def table() -> dict[str, Callable]:
    """Every op by its name."""
    ops = {name: getattr(file, name) for file in PLAIN for name in file.__all__}
    compiler = native.find_compiler()
    if compiler and compiled.load(compiler):
        ops |= {name: getattr(file, name) for file in COMPILED for name in file.__all__}
    return ops


def release() -> None:
    memory.release()


def bfloat16_instruction() -> str:
    return bfloat16.instruction()


def bfloat16_is_faster(channels: int) -> bool:
    return products.bfloat16_is_faster(channels)


def products_by() -> str:
    return "compiled loops" if hasattr(compiled.loops, "gemm") else reference.products_by()
