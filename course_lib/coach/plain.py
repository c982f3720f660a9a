"""What an answer gives back, as plain data: the judge reads nothing else from the process that ran it.

Numbers, NumPy's too, text, bytes, None, arrays, and lists, tuples, sets and dicts of them, and what the simulators reported. A
Tensor comes as its array. Anything else comes as an `Other`: its type and its `repr`, which equal nothing.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = "fiubcSU"  # of arrays and numbers
MOST_BYTES = 256 << 20  # of one array
DEEPEST = 100  # lists in lists
EXACT = (type(None), bool, int, float, complex, str, bytes, range, slice)
CLASSES = {
    ("course_lib.coach.plain", "Other"), ("course_lib.coach.outcome", "RaisedError"),
    ("course_lib.cuda.report", "Report"), ("course_lib.cuda.report", "Issue"), ("course_lib.cuda.report", "Line"),
    ("course_lib.wgsl.report", "Report"), ("course_lib.wgsl.report", "Line"),
    ("numpy", "ndarray"), ("numpy", "dtype"),
    *(("builtins", name) for name in ("complex", "range", "slice", "set", "frozenset")),
    *((f"numpy.{core}.{module}", name) for core in ("core", "_core")
      for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))),
}  # fmt: skip


class NotPlain(ValueError):
    """What came is not data of the kinds above: the answer has written where only its process may."""


@dataclass(frozen=True, repr=False)
class Other:
    """A value of a kind that no exercise asks for."""

    kind: str
    shown: str

    def __repr__(self) -> str:
        return self.shown


def as_plain(value: Any, depth: int = 0) -> Any:
    """A value as plain data."""
    if hasattr(value, "numpy") and hasattr(value, "requires_grad"):
        value = value.numpy()
    if type(value) in EXACT:
        return value
    if isinstance(value, np.generic):
        return value if value.dtype.kind in KINDS else _other(value)
    if isinstance(value, np.ndarray):
        # a subclass computes in ways of its own: a matrix multiplies where an array takes element by element
        usual = type(value) is np.ndarray and value.dtype.kind in KINDS and value.nbytes <= MOST_BYTES
        return value if usual else _other(value)
    if depth > DEEPEST:
        return _other(value)
    if isinstance(value, dict):
        return {as_plain(key, depth + 1): as_plain(one, depth + 1) for key, one in value.items()}
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            return kind(as_plain(one, depth + 1) for one in value)
    for kind in (bool, int, float, str, bytes):
        if isinstance(value, kind):
            return kind(value)
    return _other(value)


def _other(value: Any) -> Other:
    kind = type(value).__name__
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        kind = f"np.{'ma.' if isinstance(value, np.ma.MaskedArray) else ''}{kind}"
    elif isinstance(value, np.ndarray):
        kind = f"an array of {'objects' if value.dtype == object else f'{value.nbytes:,} bytes'}"
    try:
        shown = repr(value)
    except Exception:
        shown = f"<{kind}>"
    return Other(kind, shown[:2000])


def loads(data: bytes) -> Any:
    """What an answer's process wrote, by pickle. Raises NotPlain for anything that is not data."""
    try:
        return _Reader(io.BytesIO(data)).load()
    except NotPlain:
        raise
    except Exception as error:
        raise NotPlain(str(error)) from None


class _Reader(pickle.Unpickler):
    """Reads data alone: a pickle may otherwise call any function of this process."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in CLASSES:
            raise NotPlain(f"{module}.{name}")
        return super().find_class(module, name)
