"""Launches counted, and rehearsed: of kernels in CUDA C++ and in WGSL alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_counter: Counter[str] | None = None
_rehearsing = False


def launched(name: str) -> bool:
    """Count a launch; returns whether it is to compute, which it is not in a rehearsal."""
    if _counter is not None:
        _counter[name] += 1
    return not _rehearsing


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Counts the launches inside the `with` block, by file and kernel: "gelu.cu gelu_forward"."""
    global _counter
    before, _counter = _counter, Counter()
    counted = _counter
    try:
        yield counted
    finally:
        _counter = before
        if before is not None:
            before.update(counted)


@contextmanager
def rehearsing() -> Iterator[None]:
    """Inside the `with` block launches are counted and compute nothing: to see what a step needs without waiting for it."""
    global _rehearsing
    before, _rehearsing = _rehearsing, True
    try:
        yield
    finally:
        _rehearsing = before
