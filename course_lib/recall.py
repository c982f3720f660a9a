"""What a model recalls: the words of a story that earlier words determine, and how sure the model is of each.

A reader who remembers the story pays nothing for such a word, so what a model pays for it is part of its distance from the
floor, and says which of the facts it cannot look up yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_lib import stories
from course_lib.model import GPT
from course_lib.tensor import no_grad
from course_lib.tokenizer import Tokenizer

PLAIN = ("", "Plain", "a", "A")  # forms of a word that say the word itself: no pronoun, no other tense
KNOWN = 0.69  # nats, log 2: the model gives the right word more than half of its probability


@dataclass(frozen=True)
class Recalled:
    """One kind of fact, in `count` places of the stories read.

    nats: what the model pays for each, in the mean. known: fraction of the places where the right word has more than one half.
    loss: what all of them add to the loss, in nats per token of the stories.
    """

    kind: str
    count: int
    nats: float
    known: float
    loss: float


def repeats(text: str, known: Tokenizer) -> Iterator[tuple[range, int, str]]:
    """Yields (its tokens, tokens since it was said last, its kind) for each word of a story that an earlier one determines."""
    ends = np.cumsum([len(known.token_bytes(token)) for token in known.encode(text)])
    said = {}
    for span in stories.trace(text):
        if span.word is None or span.form not in PLAIN:
            continue
        first, last = np.searchsorted(ends, [span.start, span.end - 1], side="right").tolist()  # that the word is in
        if span.kind == "fact" and span.word in said:
            yield range(first, last + 1), first - said[span.word], span.word.kind
        said[span.word] = first


def foretold(model: GPT, ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """What the model pays for each token after the first, in nats, and whether it is the likeliest: (T - 1,) each."""
    with no_grad():
        logits = model(np.array([ids[:-1]])).numpy()[0].astype(np.float64)  # (T - 1, V)
    logits -= logits.max(axis=1, keepdims=True)
    right = logits[np.arange(len(logits)), ids[1:]]  # (T - 1,)
    return np.log(np.exp(logits).sum(axis=1)) - right, right == 0.0


def recalled(model: GPT, known: Tokenizer, count: int = 100, seed: int = 1) -> list[Recalled]:
    """Each kind of fact in `count` new stories, the one that costs most first. Names of people are one kind among others.

    seed: of the stories; the corpus has seed 0.
    """
    model.eval()
    paid: dict[str, list[float]] = {}
    tokens = 0
    for text in stories.write(seed, count):
        ids = [known.end_id, *known.encode(text)][: model.config.context + 1]
        nats, _ = foretold(model, ids)  # of ids[1:], so that they are those of the story's tokens
        tokens += len(nats)
        for word, _, kind in repeats(text, known):
            if word.stop <= len(nats):
                paid.setdefault(kind, []).append(float(nats[word.start : word.stop].sum()))
    found = [
        Recalled(kind, len(all_), float(np.mean(all_)), float(np.mean(np.array(all_) < KNOWN)), sum(all_) / tokens)
        for kind, all_ in paid.items()
    ]
    return sorted(found, key=lambda one: -one.loss)
