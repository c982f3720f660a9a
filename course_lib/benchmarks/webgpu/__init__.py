"""`course bench webgpu --part a|b|c --json FILE`: our WGSL kernels on the adapter of this machine.

    a   memory_bound.py     each memory-bound kernel as a fraction of the copy bandwidth that was measured here
    b   products.py         the products and the attention of the 12m model, in GFLOP/s
    c   training_step.py    training steps on each device of this machine, and which one is worth it

An adapter in software, as Mesa's llvmpipe is one, is called so and gets small sizes: about two minutes in all.
"""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from course_lib.benchmarks import run_parts
from course_lib.devices.webgpu import adapter

PARTS = {"a": "memory_bound", "b": "products", "c": "training_step"}


def run(json_path: str | Path | None = None, part: str = "") -> dict[str, Any]:
    """Run one part, or all in order; print tables, write what was found as JSON if asked, and return it.

    Raises ValueError for a part that does not exist, RuntimeError where there is no adapter.
    """
    return run_parts(__name__, PARTS, part, json_path, _begin)


def _begin() -> tuple[dict[str, Any]]:
    adapter.device()  # where there is none, this says so
    found = about()
    print(f"on {found['name']}, {found['kind']}, with {found['software']}")
    if adapter.in_software():
        print("This adapter is software on the CPU: small sizes, and no word about a GPU.")
    return (found,)


def about() -> dict[str, Any]:
    """What was measured on, as the adapter says it itself."""
    info = adapter.device().adapter_info
    return {
        "name": adapter.adapter_name(),
        "kind": {
            "CPU": "no GPU",
            "IntegratedGPU": "a GPU within the processor",
            "DiscreteGPU": "a GPU of its own",
        }.get(info["adapter_type"], info["adapter_type"]),
        "limits": {name: adapter.limit(name) for name in adapter.WANTED},
        "software": f"{info['description'] or info['backend_type']}, wgpu {metadata.version('wgpu')}, "
        f"Python {platform.python_version()} on {sys.platform}",
    }
