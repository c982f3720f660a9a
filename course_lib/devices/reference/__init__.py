"""The reference device: every op of the contract in plain NumPy, written to be read.

It computes in the dtype it is given: in float64 it is what all other devices are tested against. It prefers the formula
to speed and keeps whole intermediates, so it is for small arrays. Contract: `course_lib/devices/contract.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from course_lib import native

from . import (
    attention,
    dropout,
    elementwise,
    layers,
    loss,
    normalisation,
    optimiser,
    quantised,
    recurrences,
    reductions,
    storage,
)

FILES = (
    storage, elementwise, reductions, layers, quantised, normalisation, attention, recurrences, loss, dropout, optimiser,
)  # fmt: skip


def table() -> dict[str, Callable]:
    """Every op by its name."""
    return {name: getattr(file, name) for file in FILES for name in file.__all__}


def products_by() -> str:
    """NumPy's BLAS adds up in an order that depends on its number of threads, which is set before it is loaded."""
    return f"NumPy with OPENBLAS_NUM_THREADS={native.threads()}"
