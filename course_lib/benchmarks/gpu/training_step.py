"""Part d: the training step of the 12m model: tokens per second and MFU, against PyTorch eager and torch.compile, in turn.

Same weights, same batch, same card, same process. Ours is the captured step of `course train`, in float32 and in bfloat16 with
float32 master weights; PyTorch's is the same model with autocast to bfloat16, scaled_dot_product_attention and fused AdamW,
once eager and once with torch.compile(mode="max-autotune"). Each step ends with its loss on the host.
MFU is the floating-point operations of the model (GPTConfig.flops_per_token) over those that the fastest product measured
here reaches in bfloat16.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib import data, recipes
from course_lib.benchmarks.gpu.timing import Torch, print_table, torch_on_card
from course_lib.model import GPT, GPTConfig
from course_lib.run import Run

SIZES = {"cuda": ("12m", 48, 20, 7), "simulator": ("micro", 1, 1, 2)}  # preset, batch, steps of a round, rounds
RATE = 3e-4


def measure(device: str) -> dict[str, Any]:
    preset, batch, steps, rounds = SIZES[device]
    config = GPTConfig.preset(preset)
    torch = torch_on_card(device)
    ways: dict[str, Callable[[], float]] = {}
    kinds = ("float32", "bfloat16") if device == "cuda" else ("float32",)
    for kind in kinds:
        ways[f"ours, {kind}"] = ours(device, preset, config, batch, kind)
    if torch:
        ways["PyTorch eager, bfloat16"] = _theirs(torch, config, batch, compiled=False)
        ways["torch.compile, bfloat16"] = _theirs(torch, config, batch, compiled=True)
    for step in ways.values():
        for _ in range(5 if device == "cuda" else 1):  # compiles, plans memory, captures
            step()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, step in ways.items():
            began = time.perf_counter()
            for _ in range(steps):
                step()
            seconds[name].append((time.perf_counter() - began) / steps)
    peak = _peak_tflops(torch)
    rows, tokens = [], batch * config.context
    for name, found in seconds.items():
        rate = tokens / statistics.median(found)
        rows.append({"name": name, "ms": 1e3 * statistics.median(found), "tokens_per_s": rate,
                     "mfu": peak and rate * config.flops_per_token() / (1e12 * peak)})  # fmt: skip
    print_table(rows, {"name": "28", "ms": "10.2f", "tokens_per_s": "14,.0f", "mfu": "9.1%"})
    return {"preset": preset, "batch": batch, "peak_tflops": peak, "rows": rows}


def ours(device: str, preset: str, config: GPTConfig, batch: int, kind: str) -> Callable[[], float]:
    """A step of `course train` on a device; gives its loss."""
    settings = recipes.settings(
        preset, device, batch=batch, steps=1 << 20, peak=RATE, lowest=RATE, compute=kind, recipe="reference"
    )  # PyTorch steps by AdamW too
    corpus = data.prepare("stories", None, config.vocab_size, config.context, stories=500)
    run = Run(settings, corpus, GPT(config, device=device, seed=0))
    return lambda: run.step()["loss"]


def _theirs(torch, config: GPTConfig, batch: int, compiled: bool) -> Callable[[], float]:
    from course_lib.benchmarks.torch_model import TorchModel

    model = TorchModel(config, GPT(config, seed=0).state()).cuda()
    optimiser = model.optimiser(RATE)
    forward = torch.compile(model, mode="max-autotune") if compiled else model
    random = np.random.default_rng(0)

    def step() -> float:
        given = random.integers(0, config.vocab_size, (2, batch, config.context))
        idx, targets = (torch.from_numpy(x).cuda(non_blocking=True) for x in given)
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = forward(idx, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss.item()

    return step


def _peak_tflops(torch) -> float | None:
    """The most that a product of two bfloat16 matrices reaches on this card, measured."""
    if not torch:
        return None
    n = 8192
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    one = Torch(lambda: torch.matmul(a, b, out=out))
    return 2e-9 * n**3 / min(one.ms() for _ in range(5))
