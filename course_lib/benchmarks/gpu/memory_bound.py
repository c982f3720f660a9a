"""Part b: kernels whose time is the time that their bytes take, as a fraction of what a plain copy reaches on this card.

The bytes are those that must move: each input read once, each output written once. The copy is the driver's own, of as many
bytes as the largest arrays here. Bar: 90 % on arrays of 256 MB and more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.benchmarks.gpu.timing import in_turn, print_table, timer
from course_lib.devices import ops

BAR = 0.9
ELEMENTS = {"cuda": 1 << 26, "simulator": 1 << 12}  # 256 MB of float32, and as many as the simulator likes
CHANNELS = {"cuda": 1024, "simulator": 64}


def measure(device: str) -> dict[str, Any]:
    n = ELEMENTS[device]
    bandwidth = copy_bandwidth(device, n)
    print(f"  a copy moves {bandwidth:,.1f} GB/s (read and written bytes together)")
    rows = []
    for name, moved, act in works(ops(device), n, CHANNELS[device]):
        ms = in_turn({name: timer(device, act)})[name]
        rows.append({"name": name, "ms": ms, "gb_per_s": moved / ms / 1e6, "share": moved / ms / 1e6 / bandwidth})
    print_table(rows, {"name": "34", "ms": "10.3f", "gb_per_s": "12.1f", "share": "9.1%"})
    below = [row["name"] for row in rows if row["share"] < BAR]
    if device == "cuda":
        print(
            f"  {len(rows) - len(below)} of {len(rows)} reach {BAR:.0%}"
            + (f"; not: {', '.join(below)}" if below else "")
        )
    return {"copy_gb_per_s": bandwidth, "elements": n, "rows": rows}


def copy_bandwidth(device: str, n: int) -> float:
    """GB/s of a plain copy, bytes read and written counted."""
    table = ops(device)
    x, y = table.zeros((n,)), table.zeros((n,))

    def copy() -> None:
        if device == "cuda":
            y.data.copy_from_device_async(x.data, x.nbytes)
        else:
            np.copyto(y, x)

    best = min(in_turn({"copy": timer(device, copy)})["copy"] for _ in range(3))
    return 8 * n / max(best, 1e-6) / 1e6


def works(t, n: int, C: int):
    """(name, bytes that must move, one call) of table t, on arrays of n elements in rows of C."""
    rows = n // C
    made: dict[tuple, Any] = {}

    def array(*shape: int, number: int = 0):
        if (shape, number) not in made:
            values = np.random.default_rng(number).normal(size=1 << 12).astype(np.float32)
            size = int(np.prod(shape))
            made[shape, number] = t.from_numpy(np.resize(values, size).reshape(shape))
        return made[shape, number]

    x, dy, b, w = array(rows, C), array(rows, C, number=1), array(C), array(C, number=1)
    out = t.empty((rows, C))
    yield "add", 12 * n, lambda: t.add(x, dy, out=out)
    yield "multiply by a number", 8 * n, lambda: t.multiply(x, 2.0, out=out)
    yield "strided copy, rows apart", 4 * n, _strided(t, array(rows, C), rows, C)
    if t.name != "webgpu":  # WGSL has no such numbers
        yield "cast to bfloat16", 6 * n, _cast(x)
    yield "gelu forward", 8 * n, lambda: t.gelu_forward(x)
    yield "gelu backward", 12 * n, lambda: t.gelu_backward(dy, x)
    yield "bias + gelu forward", 8 * n, lambda: t.bias_gelu_forward(x, b)
    yield "bias + gelu backward", 12 * n, lambda: t.bias_gelu_backward(dy, x, b)
    yield "swiglu forward", 6 * n, lambda: t.swiglu_forward(x)
    random = t.from_numpy(np.array([1, 2, 3], np.uint32))
    yield "dropout", 8 * n, lambda: t.dropout_forward(x, 0.1, random, 0)
    yield "sum of rows", 4 * n, lambda: t.sum(x, axis=1)
    yield "sum of columns", 4 * n, lambda: t.sum(x, axis=0)
    yield "sum of all", 4 * n, lambda: t.sum(x)
    yield "softmax forward", 8 * n, lambda: t.softmax_forward(x)
    yield "softmax backward", 12 * n, lambda: t.softmax_backward(dy, x)
    _, mean, rstd = t.layernorm_forward(x, w, b, 1e-5)
    yield "layernorm forward", 8 * n, lambda: t.layernorm_forward(x, w, b, 1e-5)
    yield "layernorm backward", 12 * n, lambda: t.layernorm_backward(dy, x, w, mean, rstd, True)
    yield "residual + layernorm forward", 16 * n, lambda: t.residual_layernorm_forward(x, dy, w, b, 1e-5)
    yield "rmsnorm forward", 8 * n, lambda: t.rmsnorm_forward(x, w, 1e-5)
    yield "rmsnorm backward", 12 * n, lambda: t.rmsnorm_backward(dy, x, w, rstd)
    q, cos, sin = array(1, n // 512, 8, 64), array(n // 512, 32), array(n // 512, 32, number=1)
    yield "rope forward", 8 * n + 8 * cos.size, lambda: t.rope_forward(q, cos, sin)
    targets = t.from_numpy(np.arange(rows, dtype=np.int32) % C)
    loss, logsumexp = t.cross_entropy_forward(x, targets)
    yield "cross-entropy forward", 4 * n, lambda: t.cross_entropy_forward(x, targets)
    yield "cross-entropy backward", 8 * n, lambda: t.cross_entropy_backward(loss, x, targets, logsumexp)
    yield "global norm", 4 * n, lambda: t.global_norm([x])
    p, m, v = (t.copy(x) for _ in range(3))
    t.multiply(v, v, out=v)
    settings, norm = t.from_numpy(np.array([1e-4, 0.5, 0.5], np.float32)), t.global_norm([x])
    options = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": [0.1], "max_norm": 1.0}
    yield "adamw step", 28 * n, lambda: t.adamw_step([p], [dy], [m], [v], settings, norm, **options)


def _strided(t, x, rows: int, C: int) -> Callable[[], Any]:
    """The first half of each row, as a split takes it."""
    return lambda: t.strided_copy(x, (rows, C // 2), (C, 1))


def _cast(x) -> Callable[[], Any]:
    from course_lib.devices.gpu import storage

    return lambda: storage.to_bfloat16(x)
