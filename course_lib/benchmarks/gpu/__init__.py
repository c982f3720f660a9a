"""`course bench gpu --part a|b|c|d|e --json FILE`: our kernels on an NVIDIA card, each part in under eight minutes.

    a   kernel_tests.py    the tests of all kernels and ops, on the card
    b   memory_bound.py    each memory-bound kernel as a fraction of the copy bandwidth that was measured here
    c   products.py        the versions of matmul against cuBLAS, flash attention against PyTorch's
    d   training_step.py   the step of the 12m model: tokens per second and MFU, against PyTorch, in turn
    e   long_run.py        the 12m model on 61.4 million tokens of stories

Peaks are measured on the card, never taken from a table. Without a card each part runs as far as it goes on the simulator, at
small sizes: that shows that it works, and its times mean nothing.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

from course_lib.benchmarks import run_parts
from course_lib.devices import available_devices

PARTS = {"a": "kernel_tests", "b": "memory_bound", "c": "products", "d": "training_step", "e": "long_run"}


def run(json_path: str | Path | None = None, part: str = "") -> dict[str, Any]:
    """Run one part, or all in order; print tables, write what was found as JSON if asked, and return it."""
    return run_parts(__name__, PARTS, part, json_path, _begin)


def _begin() -> tuple[dict[str, Any], str]:
    device = "cuda" if "cuda" in available_devices() else "simulator"
    found = about(device)
    print(f"on {found['name']}, with {found['software']}")
    if device == "simulator":
        print(
            "There is no NVIDIA card here: small sizes on the simulator, to show that it runs. Its times mean nothing."
        )
    return found, device


def about(device: str) -> dict[str, Any]:
    """What was measured on: the card's name, memory and clocks as it says them itself."""
    if device != "cuda":
        return {"name": "the simulator", "software": f"Python {platform.python_version()}"}
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return {
        "name": properties["name"].decode(),
        "memory_gb": properties["totalGlobalMem"] / 1e9,
        "multiprocessors": properties["multiProcessorCount"],
        "capability": f"{properties['major']}.{properties['minor']}",
        "software": f"CuPy {cupy.__version__}, driver for CUDA {cupy.cuda.runtime.driverGetVersion() / 1000:g}, "
        f"Python {platform.python_version()} on {sys.platform}",
    }
