"""Models small enough to train in a test on any device, one for each kind of layer; a run of one in memory; who stops one."""

import os
import signal

from course_lib import data, progress, recipes
from course_lib.model import GPT, GPTConfig
from course_lib.run import Run

TINY = {"layers": 2, "heads": 2, "channels": 64, "context": 33, "vocab_size": 300}
MODELS = {
    "micro, smaller": TINY,
    "learned positions": TINY | {"positions": "learned", "channels": 66, "heads": 3},
    "modern": TINY | {"heads": 4, "kv_heads": 2, "channels": 128, "hidden": 172, "norm": "rmsnorm",
                      "activation": "swiglu", "bias": False},
    "latent": TINY | {"latent": 20, "bias": False},
    "dropout": TINY | {"dropout": 0.1},
}  # fmt: skip


def make_run(text, device: str, model: dict, **changes) -> Run:
    """A run of `micro` with its model changed, on the words of the fixture `text`."""
    settings = recipes.settings("micro", device, text=text, model=model, steps=100, validation_rows=32, **changes)
    config = GPTConfig.preset("micro", **model)
    corpus = data.prepare(text=text, vocab_size=config.vocab_size, context=config.context, seed=settings.seed)
    return Run(settings, corpus, GPT(config, device=device, seed=0))


class StopAt(progress.Quiet):
    """A person who presses Ctrl-C after a step. (Who raises KeyboardInterrupt stops the run at once, and only the clock says
    whether a checkpoint of some step was written before.)"""

    def __init__(self, step: int, number: int = signal.SIGINT):
        self.step, self.number = step, number

    def update(self, step, record, left):
        if step == self.step:
            os.kill(os.getpid(), self.number)
