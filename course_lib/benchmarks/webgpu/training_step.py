"""Part c: training steps of micro, small and 12m on each device of this machine, in turn, and which device is worth it here.

A step is one of `course train`, with its batch by the recipe, and ends with its loss on the host. Where the adapter is software,
12m takes one window of 32 tokens instead, so that a step takes seconds.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from course_lib import recipes
from course_lib.benchmarks.gpu.timing import print_table
from course_lib.benchmarks.gpu.training_step import ours
from course_lib.devices import available_devices
from course_lib.devices.webgpu import adapter
from course_lib.model import GPTConfig

PRESETS = "micro", "small", "12m"
DEVICES = "webgpu", "cpu", "cuda"
WARM_UP, ROUNDS, SECONDS = 1, 7, 3.0  # a device gets no new round after so many seconds, but two at least


def measure() -> dict[str, Any]:
    here = [device for device in DEVICES if device in available_devices()]
    rows = [row for preset in PRESETS for row in _steps(preset, here)]
    print_table(rows, {"name": "20", "tokens": "8,", "ms": "12.1f", "tokens_per_s": "14,.0f"})
    best = worth(rows)
    print(f"\n{best}")
    return {"rows": rows, "worth": best}


def _steps(preset: str, here: list[str]) -> list[dict[str, Any]]:
    config, batch = GPTConfig.preset(preset), recipes.settings(preset).batch
    if preset == "12m" and adapter.in_software():
        config, batch = GPTConfig.preset(preset, context=32), 1
    ways = {device: ours(device, preset, config, batch, "float32") for device in here}
    for step in ways.values():
        for _ in range(WARM_UP):
            step()
    seconds: dict[str, list[float]] = {device: [] for device in here}
    for done in range(ROUNDS):
        for device, step in ways.items():
            if done < 2 or sum(seconds[device]) < SECONDS:
                began = time.perf_counter()
                step()
                seconds[device].append(time.perf_counter() - began)
    return [
        {"name": f"{preset} on {device}", "preset": preset, "device": device, "tokens": batch * config.context,
         "ms": 1e3 * statistics.median(found), "tokens_per_s": batch * config.context / statistics.median(found)}
        for device, found in seconds.items()
    ]  # fmt: skip


def worth(rows: list[dict[str, Any]]) -> str:
    """A sentence: the fastest device for each preset, and by how much."""
    said = []
    for preset in PRESETS:
        fastest, second, *_ = sorted((row for row in rows if row["preset"] == preset), key=lambda row: row["ms"])
        ratio = second["ms"] / fastest["ms"]
        said.append(f"{preset} on {fastest['device']} ({ratio:.1f} times as fast as on {second['device']})")
    return f"Worth it on this machine: {', '.join(said)}."
