"""The cpu device: NumPy and BLAS, compiled loops where they pay."""

from __future__ import annotations

from collections.abc import Callable

from .. import reference


def table() -> dict[str, Callable]:
    """Every op by its name."""
    return reference.table()
