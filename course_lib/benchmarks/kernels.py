"""`course bench kernels`: CUDA C++ on the simulator against NumPy, in turn, the best of several rounds; and what checking costs.

No bar is in seconds: the simulator is there to test and to teach with. What must hold is the order of the versions (a
register-tiled matmul beats a naive one, as on a GPU) and that nothing is absurdly slow.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.benchmarks import versions
from course_lib.cuda import Kernel, asarray, empty, runtime, sanitize, zeros

SOURCES = Path(__file__).parent / "kernels.cu"
WAITING = Path(__file__).parent / "kernels_waiting.cu"
ROUNDS = 5
PAUSE = 0.15  # seconds: the threads of NumPy's BLAS keep the processors busy for most of that after a product
F = np.float32


def run(json_path: str | os.PathLike | None = None) -> list[dict[str, Any]]:
    """Measure, print a table, write it as JSON if asked; returns the rows: name, ms of both, largest error."""
    rows = [_row(*work) for work in _works()]
    print(f"simulator with {runtime.workers()} workers; best of {ROUNDS} rounds in turn")
    print(f"{'':34}{'simulator, ms':>14}{'NumPy, ms':>12}{'error':>10}")
    for row in rows:
        print(f"{row['name']:34}{row['ms']:14.1f}{row['numpy_ms']:12.1f}{row['error']:10.1e}")
    checked = _checked()
    print(f"checked mode: {checked['ns_per_access']:.0f} ns per memory access ({checked['name']})")
    counts = versions.run()
    if json_path is not None:
        found = {"rounds": ROUNDS, "rows": rows, "checked": checked, "versions": counts}
        Path(json_path).write_text(json.dumps(found, indent=1) + "\n")
    return rows


def _row(name: str, ours: Callable[[], Any], theirs: Callable[[], np.ndarray], result: np.ndarray) -> dict[str, Any]:
    ours()
    error = float(np.abs(np.asarray(result, np.float64) - theirs()).max())
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for kept, act in zip(times, (ours, theirs), strict=True):
            time.sleep(PAUSE)
            began = time.perf_counter()
            act()
            kept.append(time.perf_counter() - began)
    return {"name": name, "ms": 1e3 * min(times[0]), "numpy_ms": 1e3 * min(times[1]), "error": error}


def _works():
    """(name, a launch, the same in NumPy, where the launch writes), largest arrays first."""
    yield from _elementwise(12_000_000)
    yield from _matmul(512)
    yield from _rows(4096, 384)
    yield from _attention(24, 256, 64)


def _elementwise(n: int):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(n, dtype=F) for _ in range(2))
    x, y, out = asarray(a), asarray(b), empty(n)
    grid = ((n + 255) // 256,)
    add, gelu, adamw = (Kernel(SOURCES, name) for name in ("add", "gelu", "adamw"))
    host = np.empty_like(a)
    yield "add, 12M", lambda: add(grid, (256,), (x, y, out, n)), lambda: np.add(a, b, out=host), out

    def numpy_gelu():
        return 0.5 * a * (1 + np.tanh(F(0.7978845608) * (a + F(0.044715) * a * a * a)))

    yield "GELU, 12M", lambda: gelu(grid, (256,), (x, out, n)), numpy_gelu, out
    settings = (1e-3, 0.9, 0.95, 1e-8, 0.1, 0.1, 0.05)
    p, m, v = asarray(a), zeros(n), zeros(n)
    hp, hm, hv = a.copy(), np.zeros_like(a), np.zeros_like(a)

    def numpy_adamw():
        nonlocal hp, hm, hv
        lr, b1, b2, eps, decay, c1, c2 = map(F, settings)
        hm, hv = b1 * hm + (1 - b1) * b, b2 * hv + (1 - b2) * b * b
        hp = hp - lr * ((hm / c1) / (np.sqrt(hv / c2) + eps) + decay * hp)
        return hp

    yield "AdamW, 12M", lambda: adamw(grid, (256,), (p, m, v, y, n, *settings)), numpy_adamw, p


def _matmul(n: int):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((n, n), dtype=F) for _ in range(2))
    x, y, out = asarray(a), asarray(b), zeros((n, n))
    naive = Kernel(SOURCES, "matmul_naive")
    yield "matmul 512, naive", lambda: naive((n // 16, n // 16), (16, 16), (x, y, out, n, n, n)), lambda: a @ b, out
    for tile in (16, 32):
        kernel = Kernel(WAITING, f"matmul_tiled<{tile}>")
        shape = ((n // tile, n // tile), (tile, tile))
        yield f"matmul 512, tiles of {tile}", lambda k=kernel, s=shape: k(*s, (x, y, out, n, n, n)), lambda: a @ b, out
    registers = Kernel(WAITING, "matmul_registers")
    yield (
        "matmul 512, register tiles",
        lambda: registers((n // 64, n // 64), (64,), (x, y, out, n, n, n)),
        lambda: a @ b,
        out,
    )


def _rows(rows: int, columns: int):
    rng = np.random.default_rng(2)
    a, gain, bias = rng.standard_normal((rows, columns), dtype=F), *rng.standard_normal((2, columns)).astype(F)
    x, g, b, out = asarray(a), asarray(gain), asarray(bias), empty((rows, columns))

    def numpy_layernorm():
        d = a - a.mean(-1, keepdims=True)
        return d / np.sqrt((d * d).mean(-1, keepdims=True) + F(1e-5)) * gain + bias

    def numpy_softmax():
        e = np.exp(a - a.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    block, warp, soft = (Kernel(WAITING, name) for name in ("layernorm_block", "layernorm_warp", "softmax_warp"))
    size = f"{rows} x {columns}"
    yield (f"LayerNorm {size}, block per row", lambda: block((rows,), (128,), (x, g, b, out, columns, 1e-5)),
           numpy_layernorm, out)  # fmt: skip
    yield (f"LayerNorm {size}, warp per row", lambda: warp((rows // 8,), (256,), (x, g, b, out, rows, columns, 1e-5)),
           numpy_layernorm, out)  # fmt: skip
    yield (
        f"softmax {size}, warp per row",
        lambda: soft((rows // 8,), (256,), (x, out, rows, columns)),
        numpy_softmax,
        out,
    )


def _attention(heads: int, T: int, D: int):
    rng = np.random.default_rng(3)
    q, k, v = rng.standard_normal((3, heads, T, D)).astype(F)
    args = (asarray(q), asarray(k), asarray(v))
    out, logsumexp = empty((heads, T, D)), empty((heads, T))
    ahead = np.triu(np.ones((T, T), bool), 1)

    def numpy_attention():
        scores = q @ k.transpose(0, 2, 1) * F(D**-0.5)  # (B H, T, T)
        scores[:, ahead] = -np.inf
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True)) @ v

    flash = Kernel(WAITING, "flash_forward")
    shared = 4 * (32 * (D + 1) * 3 + 32 * 33)
    launch = lambda: flash((T // 32, heads), (32, 8), (*args, out, logsumexp, T, D, D**-0.5), shared_mem=shared)  # noqa: E731
    yield f"flash attention, {heads} heads, T {T}", launch, numpy_attention, out


def _checked() -> dict[str, Any]:
    """What one memory access costs with everything watched."""
    n = 128
    x, y, out = asarray(np.ones((n, n), F)), asarray(np.ones((n, n), F)), zeros((n, n))
    kernel = Kernel(WAITING, "matmul_tiled<16>")
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        sanitize(kernel, (n // 16, n // 16), (16, 16), (x, y, out, n, n, n))
        best = min(best, time.perf_counter() - began)
    accesses = runtime.library().sim_access_count()
    return {"name": "matmul 128, tiles of 16", "accesses": accesses, "ns_per_access": 1e9 * best / accesses}
