"""Part e: the 12m model on 61.4 million tokens of stories, with our kernels: its curve against the floor, time, and samples."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from course_lib import data, generation, progress
from course_lib.training import train

# preset, batch, steps, stories: 5,000 steps of 48 x 256 tokens are 61.4 million, and so are 443,000 stories.
SIZES = {"cuda": ("12m", 48, 5000, 443_000), "simulator": ("micro", 1, 4, 400)}
PROMPTS = ("Once upon a time", "One morning", "There was")


def measure(device: str) -> dict[str, Any]:
    preset, batch, steps, stories = SIZES[device]
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        trained = train(preset, device=device, batch=batch, steps=steps, stories=stories, peak=1e-3, lowest=1e-4,
                        out=Path(folder) / "run", display=progress.Quiet())  # fmt: skip
        seconds = time.monotonic() - began
    tokens = steps * batch * trained.model.config.context
    bigram = data.bigram_loss(trained.corpus)
    curve = [
        {key: r[key] for key in ("step", "loss", "val_loss") if key in r} for r in trained.records if "val_loss" in r
    ]
    samples = ["".join(generation.generate(trained.model, trained.tokenizer, prompt, 120 if device == "cuda" else 5,
                                           temperature=0.8, seed=0)) for prompt in PROMPTS]  # fmt: skip
    print(f"  {tokens:,} tokens in {seconds:.0f} s, the corpus included: {tokens / seconds:,.0f} tokens/s")
    print(f"  validation loss {trained.best:.4f}, floor {trained.floor:.4f}, bigram {bigram:.4f}")
    for prompt, sample in zip(PROMPTS, samples, strict=True):
        print(f"  > {prompt}{sample}")
    return {"tokens": tokens, "seconds": seconds, "best": trained.best, "floor": trained.floor, "bigram": bigram,
            "curve": curve, "samples": [a + b for a, b in zip(PROMPTS, samples, strict=True)]}  # fmt: skip
