"""Products in bfloat16; what must be looked up in the story counts more at first, and Muon has half the learning rate.

This file has two records, because the rule of data/lookups.py has changed: for the first, lookups came after three tokens alone.
"""

import time

from course_lib import data, devices, native, optim, recipes
from course_lib.model import GPT, GPTConfig

VOCAB_SIZE, CONTEXT = 2048, 192
BATCH = 8
PEAK, MATRIX_PEAK, MOMENTUM = 6e-3, 0.006, 0.98


def train(corpus, seconds, seed):
    """A trained model and its tokenizer, a second before `seconds` are over."""
    start = time.perf_counter()
    model, lookups = GPT(GPTConfig.preset("small"), seed=seed), data.Lookups(corpus.train, 30.0)
    named = list(model.named_parameters())
    matrices = {name for name, p in named if name.startswith("blocks") and p.ndim == 2}
    rate, stacked = MATRIX_PEAK / PEAK, model.stacked()
    optimiser = optim.Muon(named, matrices, rate, MOMENTUM, stacked=stacked, weight_decay=0.1, max_norm=1.0)
    step, kind = 0, recipes.settings("small", model.device).compute  # bfloat16 where it is faster
    while (spent := (time.perf_counter() - start) / (seconds - 1)) < 1:
        idx, targets, weights = lookups.batch(step, BATCH, spent)  # (B, T) each
        with native.step():  # which chooses the number of threads
            optimiser.zero_grad()
            with devices.computing(model.device, kind, backward=True):
                loss = model.loss(idx, targets, weights)
                loss.backward()
            optimiser.step(optim.warmup_linear(3000 * spent, 3000, peak=PEAK, lowest=0.0, warmup=200))
        step += 1
        if step % 500 == 0:
            print(f"step {step:,}, {spent:.0%} of the time: loss {loss.item():.3f}")
    return model, corpus.tokenizer
