"""Kernels in the place of ours: in CUDA C++ and in WGSL alike, since a file's ending says which."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

LaunchListener = Callable[[Exception | None, float], None]  # what went wrong, and the seconds until the launch returned

# (file, kernel) -> another text, its listener, and its kernels, made as they are asked for
_replaced: dict[tuple[str, str], tuple[Path, LaunchListener, dict]] = {}


class Replacement:
    """A kernel in the place of one of ours, which takes over for good where a launch fails."""

    def __init__(self, theirs: Callable, ours: Callable, listener: LaunchListener):
        self.theirs, self.ours, self.listener, self.failed = theirs, ours, listener, False

    def __call__(self, *launch: Any, **arguments: Any) -> None:
        if not self.failed:
            began = perf_counter()
            try:
                self.theirs(*launch, **arguments)
                self.listener(None, perf_counter() - began)
                return
            except Exception as error:
                self.failed = True
                self.listener(error, 0.0)
        self.ours(*launch, **arguments)


def chosen(make: Callable, file: str, name: str, *more: Any) -> Callable:
    """make(file, name, *more), a kernel of kernels/`file`, or what was put in its place; made once."""
    if (found := _replaced.get((file, name.partition("<")[0]))) is None:
        return ours(make, file, name, *more)
    path, listener, made = found
    if (name, more) not in made:
        made[name, more] = Replacement(make(path, name, *more), ours(make, file, name, *more), listener)
    return made[name, more]


@cache
def ours(make: Callable, file: str, name: str, *more: Any) -> Callable:
    """A kernel of kernels/`file`."""
    return make(file, name, *more)


def replace(file: str, name: str, path: Path, listener: LaunchListener) -> Callable[[], None]:
    """Launch the kernel `name` of the file `path` in the place of the one of kernels/`file`; returns what undoes it.

    listener: called at each launch, with None or what went wrong, and its seconds: a text that does not compile is found at its
    first launch. From then on ours runs again. The kernel takes the same arguments (in WGSL by the same names, whatever its
    bindings' numbers are) and constants, and is a template if ours is.
    """
    _replaced[file, name] = Path(path), listener, {}

    def undo() -> None:
        _replaced.pop((file, name), None)

    return undo


def replaced(file: str, *names: str) -> bool:
    """Whether one of these kernels of kernels/`file` has been replaced: what does without it must then use it after all."""
    return any((file, name) in _replaced for name in names)
