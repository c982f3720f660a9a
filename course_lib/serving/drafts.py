"""What can draft tokens for speculative.py, from nearly free to a small model. Each says what it drew from."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from course_lib import sampling
from course_lib.generation import Choice
from course_lib.model import GPT
from course_lib.serving.paged_model import ROWS, Addition, PagedModel


class Lookup:
    """What followed the last time that the text held its latest `order` tokens: no training, no cost. (Saxena 2023, "Prompt
    lookup decoding") It helps where a text repeats itself or its prompt."""

    def __init__(self, vocabulary: int, order: int = 3):
        self.vocabulary, self.order = vocabulary, order

    def propose(self, ids: list[int], count: int, choice: Choice, random) -> tuple[list[int], np.ndarray]:
        """The tokens behind the latest place that ends alike; a token is drawn with certainty."""
        tail = ids[-self.order :]
        for at in range(len(ids) - self.order - 1, -1, -1):
            if ids[at : at + self.order] == tail:
                found = ids[at + self.order : at + self.order + count]
                chances = np.zeros((len(found), self.vocabulary))
                chances[np.arange(len(found)), found] = 1.0
                return found, chances
        return [], np.zeros((0, self.vocabulary))


class NGrams:
    """How often each token followed each run of up to `order` - 1 others in a text; the longest run that was seen decides."""

    def __init__(self, texts: Iterable[list[int]], vocabulary: int, order: int = 5):
        self.vocabulary, self.order = vocabulary, order
        self.counts: dict[tuple[int, ...], dict[int, int]] = {}
        self.made: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
        for ids in texts:
            for i, token in enumerate(ids):
                for n in range(min(order, i + 1)):
                    after = self.counts.setdefault(tuple(ids[i - n : i]), {})
                    after[token] = after.get(token, 0) + 1

    def propose(self, ids: list[int], count: int, choice: Choice, random) -> tuple[list[int], np.ndarray]:
        """A token at a time, with the choice's temperature."""
        recent, drafted = list(ids[-self.order :]), []
        chances = np.zeros((count, self.vocabulary))
        for i in range(count):
            tokens, probabilities = self._after(recent, choice.temperature)
            chances[i, tokens] = probabilities
            drafted.append(int(tokens[sampling.draw(probabilities[None], np.array([random.random()]))[0]]))
            recent.append(drafted[-1])
        return drafted, chances

    def _after(self, recent: list[int], temperature: float) -> tuple[np.ndarray, np.ndarray]:
        """The tokens that may follow, and their probabilities."""
        for n in range(self.order - 1, -1, -1):
            run = tuple(recent[len(recent) - n :])
            if run in self.counts:
                if (run, temperature) not in self.made:
                    tokens, counts = (np.array(x) for x in zip(*self.counts[run].items(), strict=True))
                    self.made[run, temperature] = tokens, sampling.softmax(np.log(counts)[None], temperature)[0]
                return self.made[run, temperature]
        raise ValueError("An n-gram draft wants a text to count: it was made from none.")


class SmallModel:
    """A model with the same vocabulary and fewer parameters. Its cache is its own, and goes back where tokens were rejected."""

    def __init__(self, model: GPT, known: int):
        self.model, self.known = model, known
        self.paged = PagedModel(model, -(-model.config.context // ROWS))
        self.table: list[int] = []
        self.seen: list[int] = []  # the tokens whose keys and values are in the cache

    def propose(self, ids: list[int], count: int, choice: Choice, random) -> tuple[list[int], np.ndarray]:
        """A token at a time, chosen as the large model's are; none where this model's context is full."""
        count = min(count, self.model.config.context - len(ids) + 1)
        alike = next((i for i, (a, b) in enumerate(zip(self.seen, ids, strict=False)) if a != b), len(self.seen))
        computed = min(alike, len(ids) - 1)
        drafted: list[int] = []
        chances = np.zeros((max(count, 0), self.known))
        for i in range(count):
            added = [*ids, *drafted][computed:]
            self.paged.make_room(self.table, computed, len(added))
            (logits,) = self.paged.logits([Addition(self.table, added, computed)])  # (1, V)
            chances[i] = choice.probabilities(logits[:, : self.known])[0]
            drafted.append(int(sampling.draw(chances[i : i + 1], np.array([random.random()]))[0]))
            computed += len(added)
        if count > 0:
            self.seen = [*ids, *drafted[:-1]]
        return drafted, chances
