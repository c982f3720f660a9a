"""Part a: kernels whose time is the time that their bytes take, as a fraction of what a plain copy reaches on this adapter.

The works, and how their bytes are counted, are those of `course bench gpu`, part b.
"""

from __future__ import annotations

from typing import Any

from course_lib.benchmarks.gpu.memory_bound import works
from course_lib.benchmarks.gpu.timing import in_turn, print_table
from course_lib.benchmarks.webgpu.timing import Timer
from course_lib.devices import ops
from course_lib.devices.webgpu import adapter

ROUNDS = 3
SIZES = {False: (1 << 24, 1024), True: (1 << 16, 256)}  # elements of float32, channels; on an adapter in software


def measure() -> dict[str, Any]:
    n, C = SIZES[adapter.in_software()]
    t = ops("webgpu")
    x = t.zeros((n,))
    bandwidth = 8 * n / in_turn({"copy": Timer(lambda: t.copy(x))}, ROUNDS)["copy"] / 1e6
    print(f"  a copy of {4 * n / 1e6:,.1f} MB moves {bandwidth:,.1f} GB/s (read and written bytes together)")
    rows = []
    for name, moved, act in works(t, n, C):
        ms = in_turn({name: Timer(act)}, ROUNDS)[name]
        rows.append({"name": name, "ms": ms, "gb_per_s": moved / ms / 1e6, "share": moved / ms / 1e6 / bandwidth})
    print_table(rows, {"name": "34", "ms": "10.3f", "gb_per_s": "12.1f", "share": "9.1%"})
    return {"copy_gb_per_s": bandwidth, "elements": n, "rows": rows}
