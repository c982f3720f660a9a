"""Products in bfloat16: they round what they multiply, and sum in float32 (loops/product_bf16.cpp, loops/amx.h).

These are of linear layers, of attention where the processor has AMX (loops/strips.h), and of matmul, so that the products of
Muon's polar factor are rounded as its authors round them (Jordan et al. 2024). Weights, gradients, norms, softmax, loss and the
optimiser's state stay float32; so do the arrays that a product takes and gives.
(Micikevicius et al. 2018, "Mixed precision training"; bfloat16 has the exponent of float32, so that no loss scaling is
needed: Kalamkar et al. 2019.)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from course_lib import native

from . import compiled

_kind: ContextVar[str] = ContextVar("kind", default="float32")


@contextmanager
def computing(kind: str, copies=None, backward: bool = False) -> Iterator[None]:
    """Inside the `with` block layers, attention and matmul of float32 multiply in `kind`: "float32" or "bfloat16". This device
    keeps nothing that it rounds, so `copies` and `backward` change nothing."""
    before = _kind.set(kind)
    try:
        yield
    finally:
        _kind.reset(before)


def instruction() -> str:
    """What this processor multiplies bfloat16 by, "AMX BF16", "AVX-512 BF16" or "NEON BF16"; empty: none, or no compiler."""
    if not hasattr(compiled.loops, "bf16_instruction"):
        compiler = native.find_compiler()
        if compiler is None or not compiled.load(compiler):
            return ""
    return compiled.loops.bf16_instruction().decode()


def is_wanted(*arrays) -> bool:
    """Whether a product of these arrays is to be one of bfloat16: not in plain NumPy, nor in float64."""
    if _kind.get() != "bfloat16" or not hasattr(compiled.loops, "product_bf16"):
        return False
    return all(array.dtype == np.float32 and array.size for array in arrays)


def product(a, b, transpose_a, transpose_b, out) -> None:
    """out (N, M) = a (N, K) @ b (K, M), each transposed if asked; float32 and not empty, out contiguous."""
    K = a.shape[0 if transpose_a else 1]
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    found = compiled.pointers(a, b, out)
    compiled.loops.product_bf16(transpose_a, transpose_b, *found, out.shape[0], K, out.shape[1])
