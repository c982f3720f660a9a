"""Part b: the products and the attention of the 12m model, forward and backward, in floating-point operations per second."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.benchmarks.gpu.timing import in_turn, print_table
from course_lib.benchmarks.webgpu.timing import Timer
from course_lib.devices import ops
from course_lib.devices.webgpu import adapter
from course_lib.model import GPTConfig

ROUNDS = 3
SIZES = {False: (8, 256), True: (1, 64)}  # B, T; on an adapter in software


def measure() -> dict[str, Any]:
    c, (B, T) = GPTConfig.preset("12m"), SIZES[adapter.in_software()]
    tokens = B * T
    linears = {"q, k, v": (3 * c.channels, c.channels), "into the MLP": (c.hidden, c.channels),
               "out of the MLP": (c.channels, c.hidden), "head": (c.vocab_size, c.channels)}  # fmt: skip
    rows = [row for name, (N, K) in linears.items() for row in _products(name, tokens, N, K)]
    rows += _attention(B, T, c.heads, c.head_size)
    print(f"  {tokens:,} tokens of 12m, float32")
    print_table(rows, {"name": "34", "ms": "10.3f", "gflops": "12.1f"})
    return {"tokens": tokens, "rows": rows}


def _rows(acts: dict[str, tuple[float, Any]]) -> list[dict[str, Any]]:
    """acts: name -> (operations, one call)."""
    found = in_turn({name: Timer(act) for name, (_, act) in acts.items()}, ROUNDS)
    return [{"name": name, "ms": ms, "gflops": 1e-6 * acts[name][0] / ms} for name, ms in found.items()]


def _products(name: str, n: int, N: int, K: int) -> list[dict[str, Any]]:
    """The three products of a linear layer: y (n, N), dx (n, K), dweight (N, K)."""
    t, random = ops("webgpu"), np.random.default_rng(0)
    x, weight, dy = (t.from_numpy(random.normal(size=shape).astype(np.float32)) for shape in ((n, K), (N, K), (n, N)))
    operations = 2.0 * n * N * K
    return _rows(
        {
            f"{name} {K} -> {N}": (operations, lambda: t.matmul(x, weight, transpose_b=True)),
            f"{name}: dx": (operations, lambda: t.matmul(dy, weight)),
            f"{name}: dweight": (operations, lambda: t.matmul(dy, x, transpose_a=True)),
        }
    )


def _attention(B: int, T: int, H: int, D: int) -> list[dict[str, Any]]:
    t, random = ops("webgpu"), np.random.default_rng(0)
    q, k, v, dy = (t.from_numpy(random.normal(size=(B, T, H, D)).astype(np.float32)) for _ in range(4))
    y, logsumexp = t.attention_forward(q, k, v)
    operations = 2 * 2 * B * H * T * T * D / 2  # two products, and half of the pairs
    return _rows(
        {
            "attention forward": (operations, lambda: t.attention_forward(q, k, v)),
            "attention backward": (2.5 * operations, lambda: t.attention_backward(dy, q, k, v, y, logsumexp)),
        }
    )
