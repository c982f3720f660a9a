"""`course bench webgpu --part a|b|c --json FILE`: our WGSL kernels on the adapter of this machine.

    a   memory_bound.py     each memory-bound kernel as a share of the copy bandwidth that was measured here
    b   products.py         the products and the attention of the 12m model, in GFLOP/s
    c   training_step.py    training steps on each device of this machine, and which one is worth it

An adapter in software, as Mesa's llvmpipe is one, is called so and gets small sizes: about two minutes in all.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from course_lib.devices.webgpu import adapter

PARTS = {"a": "memory_bound", "b": "products", "c": "training_step"}


def run(json_path: str | Path | None = None, part: str = "") -> dict[str, Any]:
    """Run one part, or all in order; print tables, write what was found as JSON if asked, and return it.

    Raises ValueError for a part that does not exist, RuntimeError where there is no adapter.
    """
    if part and part not in PARTS:
        raise ValueError(f"bench webgpu has no part {part!r}: choose one of {', '.join(PARTS)}, or none for all.")
    adapter.device()  # where there is none, this says so
    command = f"course bench webgpu{f' --part {part}' if part else ''}"
    report: dict[str, Any] = {"device": about(), "command": command}
    print(f"on {report['device']['name']}, {report['device']['kind']}, with {report['device']['software']}")
    if adapter.in_software():
        print("This adapter is software on the CPU: small sizes, and no word about a GPU.")
    for letter in part or PARTS:
        print(f"\npart {letter}: {PARTS[letter].replace('_', ' ')}", flush=True)
        report[letter] = import_module(f"{__name__}.{PARTS[letter]}").measure()
        if json_path is not None:
            Path(json_path).write_text(json.dumps(report, indent=1) + "\n")
    return report


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
