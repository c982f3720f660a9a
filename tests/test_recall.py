"""What a model recalls, against models whose knowledge is known."""

import numpy as np
import pytest

from course_lib import recall, stories
from course_lib.model import GPT, GPTConfig
from course_lib.tensor import Tensor
from course_lib.tokenizer import Tokenizer

TINY = {"layers": 1, "heads": 1, "channels": 8, "context": 1600}
BYTES = Tokenizer([])


class Oracle(GPT):
    """Knows every story by heart, but takes one kind of word for `z`: (B, T) -> logits (B, T, V)."""

    def __init__(self, forgets: str):
        super().__init__(GPTConfig(**TINY, vocab_size=BYTES.vocab_size))
        self.forgets = forgets

    def forward(self, idx, cache=None):
        text = next(one for one in stories.write(1, 20) if list(idx[0, 1:]) == BYTES.encode(one)[:-1])
        logits = np.zeros((1, idx.shape[1], BYTES.vocab_size), np.float32)
        logits[0, np.arange(idx.shape[1]), BYTES.encode(text)] = 50.0
        for (at, *_), _, kind in recall.repeats(text, BYTES):
            if kind == self.forgets:
                logits[0, at, BYTES.encode(text)[at]] = 0.0
                logits[0, at, ord("z")] = 50.0
        return Tensor(logits)


def test_what_a_model_forgets_is_told_by_its_kind_and_what_it_costs():
    found = {one.kind: one for one in recall.recalled(Oracle("colour"), BYTES, count=20)}
    assert next(iter(found)) == "colour" and {"name", "home", "thing"} <= found.keys()
    tokens = sum(len(BYTES.encode(text)) for text in stories.write(1, 20))
    for kind, one in found.items():
        assert one.nats == pytest.approx(50.0 if kind == "colour" else 0.0, abs=1e-6)
        assert one.known == (kind != "colour")
        assert one.loss == pytest.approx(one.count * one.nats / tokens)


def test_a_model_that_knows_nothing_pays_the_logarithm_of_the_vocabulary_for_every_fact():
    model = GPT(GPTConfig(**TINY, vocab_size=BYTES.vocab_size))
    for p in model.parameters():
        p.storage.array[...] = 0.0
    letters: dict[str, list[int]] = {}
    for text in stories.write(1, 5):
        for word, _, kind in recall.repeats(text, BYTES):
            letters.setdefault(kind, []).append(len(word))
    for one in recall.recalled(model, BYTES, count=5):
        nats = np.mean(letters[one.kind]) * np.log(BYTES.vocab_size)
        assert one.nats == pytest.approx(nats, rel=1e-5) and one.known == 0.0
    nats, likeliest = recall.foretold(model, [256, 3, 4])
    assert nats.shape == (2,) and likeliest.all(), "of equal ones each is the likeliest"
