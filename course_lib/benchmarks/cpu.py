"""`course bench cpu`: training steps of our model against the same model in PyTorch eager, in turn, medians.

A step is forward, backward, clipping and AdamW on random tokens, from the same weights, on the same number of threads. The
ratio is PyTorch's time divided by ours, so above 1 we are faster. Where the processor multiplies bfloat16, `12m` is measured in
bfloat16 as well, against PyTorch's autocast. Bars for `12m`: 1.3 in float32 and 1.0 in bfloat16 with compiled loops, 0.85
without a compiler, which a second process measures. Last comes a table of the ops on which our time is spent.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import devices, native
from course_lib.devices import composed
from course_lib.devices.cpu import bfloat16
from course_lib.model import GPT, GPTConfig
from course_lib.optim import AdamW

CASES = {"12m": [(8, 256, 7), (4, 128, 15)], "small": [(4, 192, 40)]}  # preset: batch, tokens of a window, rounds
BARS = {("float32", True): 1.3, ("bfloat16", True): 1.0, ("float32", False): 0.85}  # with a compiler, without
LEARNING_RATE = 3e-4


def run(json_path: str | os.PathLike | None = None) -> list[dict[str, Any]]:
    """Measure, print, write as JSON if asked; returns the rows: case, kind, compiled, tokens per second, ratio, bar."""
    try:
        import torch
    except ModuleNotFoundError:
        raise RuntimeError("This compares with PyTorch, which is not here: pip install torch==2.13.0") from None
    threads = native.threads()
    torch.set_num_threads(threads)
    busy = f"; the machine is busy, load {os.getloadavg()[0]:.1f}" if os.getloadavg()[0] > 0.5 * threads else ""
    print(f"Training steps, {threads} threads, against PyTorch {torch.__version__} eager; in turn, medians{busy}")
    if not bfloat16.instruction():
        print(
            "No rows for bfloat16: this processor does not multiply it (AMX, AVX-512 BF16, NEON BF16), or no compiler is here."
        )
    print(f"{'':22}{'products':>10}{'loops':>10}{'ours, tokens/s':>16}{'PyTorch':>10}{'ratio':>8}{'at least':>10}")
    rows = []
    for row in [*measure(), *_measured_without_compiler()]:
        rows.append(row)
        bar = "" if row["bar"] is None else f"{row['bar']:.2f}"
        missed = "" if row["bar"] is None or row["ratio"] >= row["bar"] else "  missed"
        loops = "compiled" if row["compiled"] else "NumPy"
        print(f"{row['case']:22}{row['kind']:>10}{loops:>10}{row['tokens_per_s']:16.0f}{row['peer_tokens_per_s']:10.0f}"
              f"{row['ratio']:8.2f}{bar:>10}{missed}", flush=True)  # fmt: skip
    parts = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        with devices.computing("cpu", kind):
            spent = where_time_goes("12m", 8, 256)
        print(f"\nWhere our time goes, 12m 8x256, products in {kind}:")
        for name, (seconds, calls) in spent.items():
            print(
                f"  {name:30}{seconds * 1e3:9.1f} ms{calls:6} calls{seconds / sum(s for s, _ in spent.values()):8.1%}"
            )
        rates = {name: rate / 1e9 for name, rate in flop_rates("12m", 8, 256, spent).items()}
        print(
            "In GFLOP/s, of attention only what the mask shows: " + ", ".join(f"{n} {r:.0f}" for n, r in rates.items())
        )
        parts[kind] = {"seconds_per_step": spent, "gflops": rates}
    if json_path is not None:
        report = {"threads": threads, "torch": torch.__version__, "rows": rows, "parts": parts}
        Path(json_path).write_text(json.dumps(report, indent=1) + "\n")
    return rows


def measure():
    """One row for each case and kind of product, with whatever loops this process uses."""
    import torch

    compiled = native.find_compiler() is not None
    for preset, sizes in CASES.items():
        for batch, window, rounds in sizes:
            ours, theirs = steps(preset, batch, window)
            kinds = ["float32", "bfloat16"] if preset == "12m" and bfloat16.instruction() else ["float32"]
            times = {kind: ([], []) for kind in kinds}
            for _ in range(rounds):
                for kind, (own, peer) in times.items():
                    with devices.computing("cpu", kind):
                        own.append(_seconds(ours))
                    with torch.autocast("cpu", torch.bfloat16, enabled=kind == "bfloat16"):
                        peer.append(_seconds(theirs))
            tokens = batch * window
            for kind, (own, peer) in times.items():
                yield {
                    "case": f"{preset} {batch}x{window}", "kind": kind, "compiled": compiled,
                    "tokens_per_s": tokens / statistics.median(own),
                    "peer_tokens_per_s": tokens / statistics.median(peer),
                    "ratio": statistics.median(p / o for o, p in zip(own, peer, strict=True)),
                    "bar": BARS[kind, compiled] if preset == "12m" else None,
                }  # fmt: skip


def steps(preset: str, batch: int, window: int) -> tuple[Callable, Callable]:
    """Our step and PyTorch's, both warmed up. Raises RuntimeError if their first losses differ."""
    import torch

    from course_lib.benchmarks.torch_model import TorchModel

    config = GPTConfig.preset(preset)
    model = GPT(config, seed=0)
    peer = TorchModel(config, model.state())
    optimiser, peer_optimiser = AdamW(model.named_parameters()), peer.optimiser(LEARNING_RATE)
    tokens = np.random.default_rng(0).integers(0, config.vocab_size, (2, batch, window))
    peer_tokens = torch.tensor(tokens)

    def ours() -> float:
        optimiser.zero_grad()
        loss = model.loss(*tokens)
        loss.backward()
        optimiser.step(LEARNING_RATE)
        return loss.item()

    def theirs() -> float:
        peer_optimiser.zero_grad(set_to_none=True)
        loss = peer(*peer_tokens)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(peer.parameters(), 1.0)
        peer_optimiser.step()
        return loss.item()

    for _ in range(2):
        losses = ours(), theirs()
        if not math.isclose(*losses, rel_tol=1e-4):
            raise RuntimeError(f"The two models do not compute the same: the losses are {losses[0]} and {losses[1]}.")
    return ours, theirs


def where_time_goes(preset: str, batch: int, window: int, rounds: int = 3) -> dict[str, tuple[float, int]]:
    """Seconds and calls of a step for each op, the dearest first; "the tape and the rest" is what is not in an op."""
    ours, _ = steps(preset, batch, window)
    spent: dict[str, list] = defaultdict(lambda: [0.0, 0])

    def watched(name: str, op: Callable) -> Callable:
        def call(*inputs, **settings):
            began = time.perf_counter()
            result = op(*inputs, **settings)
            spent[name][0] += (time.perf_counter() - began) / rounds
            spent[name][1] += 1
            return result

        return call

    ops = {name: op for name, op in vars(devices.ops("cpu")).items() if callable(op) and name not in composed.PARTS}
    covers = [devices.overlay(name, watched(name, op), "cpu") for name, op in ops.items()]
    try:
        whole = sum(_seconds(ours) for _ in range(rounds)) / rounds
    finally:
        for cover in covers:
            cover.remove()
    spent["the tape and the rest"] = [whole - sum(seconds for seconds, _ in spent.values()), rounds]
    dearest = sorted(spent.items(), key=lambda item: -item[1][0])
    return {name: (seconds, calls // rounds) for name, (seconds, calls) in dearest}


def flop_rates(preset: str, batch: int, window: int, spent: dict[str, tuple[float, int]]) -> dict[str, float]:
    """FLOP/s of linear layers and of causal attention, from `where_time_goes`."""
    config = GPTConfig.preset(preset)
    shapes = {name: p.shape for name, p in GPT(config).named_parameters() if p.ndim == 2 and name != "positions.weight"}
    weights = sum(map(math.prod, shapes.values()))  # the tokens' table is the head
    linear = 2 * batch * window * weights  # of a forward pass
    seen = batch * config.heads * window * (window + 1) // 2  # pairs of a query and a key that it sees
    attention = 2 * 2 * seen * config.head_size * config.layers
    return {
        "linear layers": 3 * linear / (spent["linear_forward"][0] + spent["linear_backward"][0]),
        "attention forward": attention / spent["attention_forward"][0],
        "attention backward": 2.5 * attention / spent["attention_backward"][0],  # five products for two
    }


def _seconds(act: Callable) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _measured_without_compiler() -> list[dict[str, Any]]:
    """The rows of a second process that may use no compiler; none if this process has none either."""
    if native.find_compiler() is None:
        return []
    program = (
        f"import json, torch; torch.set_num_threads({native.threads()})\n"
        "from course_lib.benchmarks import cpu; print(json.dumps(list(cpu.measure())))"
    )
    environment = {**os.environ, "COURSE_COMPILER": "none"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"The process without a compiler failed:\n{done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])
