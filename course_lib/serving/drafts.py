"""What can draft tokens for speculative.py, from nearly free to a small model. Each says what it drew from."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib import sampling
from course_lib.generation import Choice
from course_lib.model import GPT
from course_lib.serving.paged_model import ROWS, Addition, PagedModel

Proposal = tuple[list[int], np.ndarray]  # K tokens, and the distributions that they were drawn from, (K, V)


@dataclass
class Wish:
    """Up to `count` tokens are wanted after `ids`, chosen by `choice`. key: which text it is."""

    key: Hashable
    ids: list[int]
    count: int
    choice: Choice
    random: np.random.Generator


class Draft:
    """What proposes tokens, for one text or for many."""

    def propose(self, ids: list[int], count: int, choice: Choice, random: np.random.Generator) -> Proposal:
        """Up to `count` tokens after `ids`."""
        raise NotImplementedError

    def propose_all(self, wishes: Sequence[Wish]) -> list[Proposal]:
        """One for each wish, in their order."""
        return [self.propose(wish.ids, wish.count, wish.choice, wish.random) for wish in wishes]

    def forget(self, key: Hashable) -> None:
        """This text is not written any more."""


class Lookup(Draft):
    """What followed the last time that the text held its latest `order` tokens: no training, no cost. (Saxena 2023, "Prompt
    lookup decoding") It helps where a text repeats itself or its prompt."""

    def __init__(self, vocabulary: int, order: int = 3):
        self.vocabulary, self.order = vocabulary, order

    def propose(self, ids: list[int], count: int, choice: Choice, random) -> Proposal:
        """The tokens behind the latest place that ends alike; a token is drawn with certainty."""
        tail = ids[-self.order :]
        for at in range(len(ids) - self.order - 1, -1, -1):
            if ids[at : at + self.order] == tail:
                found = ids[at + self.order : at + self.order + count]
                chances = np.zeros((len(found), self.vocabulary))
                chances[np.arange(len(found)), found] = 1.0
                return found, chances
        return [], np.zeros((0, self.vocabulary))


class NGrams(Draft):
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

    def propose(self, ids: list[int], count: int, choice: Choice, random) -> Proposal:
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
        raise ValueError("An n-gram draft needs a text to count: it was made from none.")


class SmallModel(Draft):
    """A model with the same vocabulary and fewer parameters, for up to `texts` texts, each token of theirs in one pass.

    Its cache is its own, and goes back where tokens were rejected."""

    def __init__(self, model: GPT, known: int, texts: int = 1):
        self.model, self.known = model, known
        self.paged = PagedModel(model, texts * -(-model.config.context // ROWS))
        self.read: dict[Hashable, tuple[list[int], list[int]]] = {}  # of a text: its table, and the tokens in its pages

    def propose(self, ids: list[int], count: int, choice: Choice, random) -> Proposal:
        return self.propose_all([Wish(None, ids, count, choice, random)])[0]

    def propose_all(self, wishes: Sequence[Wish]) -> list[Proposal]:
        """A token at a time, chosen as the large model's are; none where this model's context is full."""
        drafting = [self._begin(wish) for wish in wishes]
        for i in range(max((one.count for one in drafting), default=0)):
            going = [one for one in drafting if i < one.count]
            additions = []
            for one in going:
                added = [*one.wish.ids, *one.drafted][one.computed :]
                self.paged.make_room(one.table, one.computed, len(added))
                additions.append(Addition(one.table, added, one.computed))
                one.computed += len(added)
            for one, logits in zip(going, self.paged.logits(additions), strict=True):  # (1, V)
                chances = one.wish.choice.probabilities(logits[:, : self.known])
                one.chances.append(chances[0])
                one.drafted.append(int(sampling.draw(chances, np.array([one.wish.random.random()]))[0]))
        for one in drafting:
            if one.count > 0:
                self.read[one.wish.key] = one.table, [*one.wish.ids, *one.drafted[:-1]]
        return [(one.drafted, np.reshape(one.chances, (-1, self.known))) for one in drafting]

    def _begin(self, wish: Wish) -> _Drafting:
        table, seen = self.read.setdefault(wish.key, ([], []))
        alike = next((i for i, (a, b) in enumerate(zip(seen, wish.ids, strict=False)) if a != b), len(seen))
        count = min(wish.count, self.model.config.context - len(wish.ids) + 1)
        return _Drafting(wish, table, min(alike, len(wish.ids) - 1), count)

    def forget(self, key: Hashable) -> None:
        table, _ = self.read.pop(key, ([], []))
        self.paged.pool.release(table)


@dataclass
class _Drafting:
    """A wish while a small model grants it."""

    wish: Wish
    table: list[int]
    computed: int
    count: int
    drafted: list[int] = field(default_factory=list)
    chances: list[np.ndarray] = field(default_factory=list)
