"""One step of LoRA on a model of GPT-2's shape, with random weights: its processor time, and the memory at its peak.

    python notebooks/runs/lora_step.py 2            layers: GPT-2 has 12. Prints [processor seconds, MB of the process]

A process of its own, since what Python has once asked for counts. Windows of 128 tokens, 4 at a time, rank 8: chapter 20's.
"""

import dataclasses
import json
import sys
from pathlib import Path
from time import process_time

import numpy as np

from course_lib import optim
from course_lib.model import GPT, GPTConfig
from course_lib.tuning import lora

BATCH, WINDOW, RANK, STEPS = 4, 128, 8, 3


def step(layers: int) -> tuple[float, float]:
    """(processor seconds of the fastest of some steps, MB at the peak)."""
    config = dataclasses.replace(GPTConfig.preset("gpt2"), layers=layers)
    model = lora.add(GPT(config), RANK)
    optimiser = optim.AdamW(model.named_parameters())
    ids = np.random.default_rng(0).integers(0, config.vocab_size, (BATCH, WINDOW + 1))
    seconds = []
    for _ in range(STEPS):
        begun = process_time()
        loss = model.loss(ids[:, :-1], ids[:, 1:])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step(1e-4)
        seconds.append(process_time() - begun)
    return min(seconds), peak() / 1e6


def peak() -> int:
    """The most memory that this process had, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # not ru_maxrss on Linux, where a child inherits its parent's peak
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(step(int(sys.argv[1]))))
