"""Small models, exported as web pages, and what Python says of them: for the tests of the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from course_lib import checkpoint
from course_lib.model import GPT, GPTConfig
from course_lib.run import load
from course_lib.serving import quantised
from course_lib.tensor import no_grad
from course_lib.tokenizer import Tokenizer

SMALL = {"layers": 2, "heads": 4, "channels": 24, "context": 24, "vocab_size": 300}
CONFIGS = {
    "learned positions": SMALL,
    "rope": {**SMALL, "positions": "rope"},
    "modern": {**SMALL, "kv_heads": 2, "hidden": 37, "positions": "rope", "norm": "rmsnorm", "activation": "swiglu",
               "bias": False},
    "no bias": {**SMALL, "bias": False},
}  # fmt: skip
# The last is longer than the context.
PROMPTS = ("", "the cat", "süß 🙂 – a dog ran; the mat sat on the cat, and ran and ran")
CLEAR = 1e-3  # two logits that differ by more than this are told apart by any arithmetic


def tokenizer() -> Tokenizer:
    return Tokenizer.train("the cat sat on the mat; the dog – süß 🙂 – ran. " * 30, 286)


def save(folder: Path, config: GPTConfig, tokenizer: Tokenizer, lively: float = 15.0) -> Path:
    """A run's folder with an untrained model whose weights are made so large that what it writes depends on what it has read."""
    random = np.random.default_rng(2)
    weights = GPT(config, seed=1).state()
    for name, values in weights.items():
        if values.ndim == 1:  # biases and norms start as zeros and ones, which would hide much
            weights[name] = values + random.normal(0, 0.3, values.shape).astype(np.float32)
        else:
            weights[name] = values * lively * (4 if name.endswith(("out.weight", "down.weight")) else 1)
    facts = {
        "config": config.to_dict(), "tokenizer": tokenizer.to_json(), "step": 7, "best": None,
        "settings": {"preset": "micro", "corpus": "stories", "text": "/home/me/secret/letters.txt"},
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint.save(folder / "last.safetensors", weights, {}, facts)
    return folder


def greedy(run: Path, prompt: str, tokens: int, rounded: str = "float32") -> tuple[list[int], float]:
    """The likeliest token each time, up to the end token, and the least difference of two highest logits that was met.

    rounded: to what the weights are rounded before; "int8" and "int4" quantise them.
    """
    model, tokenizer, _ = load(run)
    if rounded in quantised.FORMATS:
        model = quantised.QuantisedGPT(model.config, quantised.weights(model.state(), rounded))
    else:
        model.load_state({name: values.astype(rounded).astype(np.float32) for name, values in model.state().items()})
    model.eval()
    context = model.config.context
    seen = [tokenizer.end_id, *tokenizer.encode(prompt)][-context:]
    ids, margin = [], np.inf
    while len(ids) < tokens and (not ids or ids[-1] != tokenizer.end_id):
        with no_grad():
            logits = model(np.array([seen])).numpy()[0, -1, : tokenizer.vocab_size]  # (V)
        second, first = np.sort(logits)[-2:]
        margin = min(margin, float(first - second))
        ids.append(int(logits.argmax()))
        seen = [*seen, ids[-1]]
        if len(seen) > context:
            seen = seen[-(context // 2) :]
    return ids, margin
