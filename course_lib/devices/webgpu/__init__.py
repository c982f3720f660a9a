"""The webgpu device: our kernels in WGSL on any GPU, through the package wgpu.

adapter.py       the GPU, its limits, its errors
memory.py        arrays, and the pool of their memory
source.py        WGSL text: includes, constants, arguments
commands.py      launches and copies, handed in together
launching.py     kernels compiled once, and what stands in their place
storage.py elementwise.py reductions.py selections.py products.py layers.py normalisation.py softmax.py attention.py
recurrences.py loss.py dropout.py optimiser.py quantised.py paging.py    the ops

Contract: `course_lib/devices/contract.py`. Limits: floats are float32 and whole numbers have 32 bits; one GPU; an array takes
no more than the adapter binds at once (128 MiB at least). A view that begins where the adapter cannot bind is a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ..checking import Limits

FILES = """
    storage elementwise reductions selections products layers normalisation softmax attention recurrences loss dropout
    optimiser quantised paging
""".split()


def available() -> bool:
    """Whether this machine has a WebGPU adapter; `problem()` says why not."""
    return not problem()


def problem(as_gpu: bool = False) -> str:
    adapter = import_module(f"{__name__}.adapter")
    return adapter.problem_as_gpu() if as_gpu else adapter.problem()


def hardware() -> str:
    return import_module(f"{__name__}.adapter").adapter_name()


def table() -> dict[str, Callable]:
    """Every op by its name."""
    files = [import_module(f"{__name__}.{name}") for name in FILES]
    return {op: getattr(file, op) for file in files for op in file.__all__}


def limits() -> Limits:
    """What it takes of what the contract allows."""
    return import_module(f"{__name__}.selections").LIMITS
