"""`course bench gpu --part a|b|c|d|e --json FILE`: our kernels on an NVIDIA card, each part in under eight minutes.

    a   kernel_tests.py    the tests of all kernels and ops, on the card
    b   memory_bound.py    each memory-bound kernel as a share of the copy bandwidth that was measured here
    c   products.py        the versions of matmul against cuBLAS, flash attention against PyTorch's
    d   training_step.py   the step of the 12m model: tokens per second and MFU, against PyTorch, in turn
    e   long_run.py        the 12m model on 61.4 million tokens of stories

Peaks are measured on the card, never taken from a table. Without a card each part runs as far as it goes on the simulator, at
small sizes: that shows that it works, and its times mean nothing.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from course_lib.devices import available_devices

PARTS = {"a": "kernel_tests", "b": "memory_bound", "c": "products", "d": "training_step", "e": "long_run"}


def run(json_path: str | Path | None = None, part: str = "") -> dict[str, Any]:
    """Run one part, or all in order; print tables, write what was found as JSON if asked, and return it."""
    if part and part not in PARTS:
        raise ValueError(f"bench gpu has no part {part!r}: choose one of {', '.join(PARTS)}, or none for all.")
    device = "cuda" if "cuda" in available_devices() else "simulator"
    report: dict[str, Any] = {
        "device": about(device),
        "command": f"course bench gpu{f' --part {part}' if part else ''}",
    }
    print(f"on {report['device']['name']}, with {report['device']['software']}")
    if device == "simulator":
        print(
            "There is no NVIDIA card here: small sizes on the simulator, to show that it runs. Its times mean nothing."
        )
    for letter in part or PARTS:
        print(f"\npart {letter}: {PARTS[letter].replace('_', ' ')}", flush=True)
        report[letter] = import_module(f"{__name__}.{PARTS[letter]}").measure(device)
        if json_path is not None:
            Path(json_path).write_text(json.dumps(report, indent=1) + "\n")
    return report


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
