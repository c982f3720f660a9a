"""Ten steps of training on the card beside the same ten on the CPU: every op, forward and backward, and the optimiser at once.

The same weights, the same batches. Float32 sums in another order differ by about 1e-6 in a loss; a kernel that is wrong by more
than rounding shows within ten steps.
"""

from typing import Any

import numpy as np

from course_lib import data, recipes
from course_lib.model import GPT, GPTConfig
from course_lib.run import Run

STEPS = 10
RUNS = {"cuda": (("micro", 8), ("12m", 2)), "simulator": (("micro", 1),)}  # preset, batch; 12m is trained in earnest


def measure(device: str) -> list[dict[str, Any]]:
    """For each preset the losses of both, and by how much they differ at most."""
    return [_run(preset, device, batch) for preset, batch in RUNS[device]]


def _run(preset: str, device: str, batch: int) -> dict[str, Any]:
    config = GPTConfig.preset(preset)
    corpus = data.prepare("stories", None, config.vocab_size, config.context, stories=500)
    runs = []
    for place in (device, "cpu"):
        settings = recipes.settings(
            preset, place, batch=batch, steps=100, compute="float32", recipe="reference", stories=500
        )
        runs.append(Run(settings, corpus, GPT(config, device=place, seed=0)))
    losses = [[run.step()["loss"] for run in runs] for _ in range(STEPS)]
    if not np.isfinite(losses).all():
        raise RuntimeError(f"{preset}: a loss is not a number; ours and the CPU's, step by step: {losses}")
    ours, cpu = (list(column) for column in zip(*losses, strict=True))
    worst = max(abs(a - b) for a, b in losses)
    print(f"  {preset}: loss from {ours[0]:.4f} to {ours[-1]:.4f}; from the CPU's at most {worst:.1e} away")
    return {"preset": preset, "batch": batch, "losses": ours, "cpu": cpu, "difference": worst}
