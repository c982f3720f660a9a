"""`small` by the reference recipe: AdamW, the learning rate falling with the time."""

import time

from course_lib import optim
from course_lib.model import GPT, GPTConfig

VOCAB_SIZE, CONTEXT = 2048, 192
BATCH = 4


def train(corpus, seconds, seed):
    """A trained model and its tokenizer, a second before `seconds` are over."""
    start = time.perf_counter()
    model = GPT(GPTConfig.preset("small"), seed=seed)
    optimiser = optim.AdamW(model.named_parameters(), betas=(0.9, 0.95), weight_decay=0.1, max_norm=1.0)
    step = 0
    while (spent := (time.perf_counter() - start) / (seconds - 1)) < 1:
        idx, targets = corpus.train.batch(step, BATCH)  # (B, T) each
        optimiser.zero_grad()
        loss = model.loss(idx, targets)
        loss.backward()
        optimiser.step(optim.warmup_cosine(4500 * spent, 4500, peak=3e-3, lowest=1e-4, warmup=200))
        step += 1
        if step % 500 == 0:
            print(f"step {step:,}, {spent:.0%} of the time: loss {loss.item():.3f}")
    return model, corpus.tokenizer
