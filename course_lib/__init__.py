"""The finished pieces of the course, each imported by the chapters after the one that builds it.

`from course_lib import Tensor, no_grad, gradcheck, available_devices` works, and each name is looked up only when it is
asked for, so that `import course_lib` alone costs nothing and needs no package.
"""

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# Idle threads of NumPy's BLAS sleep after 2^4 ticks of the clock; they would spin for 2^28, and starve other programs. It is
# read when NumPy is imported, and inherited by the notebooks of `course lab`. (OpenBLAS, driver/others/blas_server.c)
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

_HOMES = {
    "Tensor": "course_lib.tensor",
    "no_grad": "course_lib.tensor",
    "gradcheck": "course_lib.gradcheck",
    "available_devices": "course_lib.devices",
}
__all__ = ["Tensor", "available_devices", "gradcheck", "no_grad"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'course_lib' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next look-up finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


class _Course(ModuleType):
    """Importing the submodule course_lib.gradcheck binds that name to the module; here the function must keep it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Course
