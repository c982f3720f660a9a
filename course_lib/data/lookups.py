"""Which tokens of a corpus must be looked up: where, after the same few tokens, every document says again what it has said.

"She took the" goes on with the colour that the story gave its kite: always a word that stands there already, in each story
another. Only a model that looks back knows it. There are few such places, so in the mean loss they are small, and what they
teach is learned last. Here they count more, at first. Whether a place is one depends on what stands before it alone, not on
what comes: so nothing is asked that is wrong in the end, only sooner. (That such places are most of what models differ in:
Arora et al. 2023, "Zoology", who find them by pairs of tokens that are said again.)
"""

import numpy as np

from course_lib.data.windows import Training

BEFORE = 3  # tokens that say which place it is
SEEN = 20  # times, at least, that the corpus comes to such a place
SURE = 0.95  # share of these times, at least, in which the document has said before what comes
VARIED = 0.7  # share of them, at most, in which the same token comes
ALIKE = 0.8  # share of a run after which all tokens count alike


class Lookups:
    """How much the targets of training windows count. weight: of a token that must be looked up, in the beginning, where all
    others have 1. `train` is of documents (it has starts). Raises ValueError for plain text."""

    def __init__(self, train: Training, weight: float):
        if train.starts is None or len(train.starts) == 0:
            raise ValueError("What a document says again is asked of a text that has no documents: leave lookups at 1.")
        self.weight, self.context = weight, train.context
        self.places = lookups(np.asarray(train.tokens), int(train.tokens[train.starts[0]]))  # (n,) bool

    def weights(self, starts: np.ndarray, done: float) -> np.ndarray:
        """Of each target of the windows at `starts` (B,) -> float32 (B, T). done: share of the run that is over."""
        now = self.weight ** max(0.0, 1 - done / ALIKE)
        return np.where(self.places[starts[:, None] + np.arange(1, self.context + 1)], np.float32(now), np.float32(1))


def lookups(tokens: np.ndarray, end: int) -> np.ndarray:
    """Which of the tokens (n,) must be looked up: bool (n,). end: the token before each document."""
    size, number = int(tokens.max()) + 1, tokens.astype(np.int64)
    inside = np.cumsum(tokens == end) * size + tokens  # the same number for the same token of the same document
    order = np.argsort(inside, kind="stable")
    said = np.zeros(len(tokens), bool)  # earlier in its document
    said[order[1:]] = inside[order[1:]] == inside[order[:-1]]
    before = np.zeros(len(tokens), np.int64)
    for back in range(1, BEFORE + 1):
        before = before * size + np.roll(number, back)
    _, place, times = np.unique(before, return_inverse=True, return_counts=True)
    pairs, same = np.unique(place * size + number, return_counts=True)
    most = np.zeros(len(times), np.int64)  # times that the likeliest token comes there
    np.maximum.at(most, pairs // size, same)
    found = (times >= SEEN) & (np.bincount(place, said) >= SURE * times) & (most <= VARIED * times)
    found = found[place]
    found[:BEFORE] = False  # before them stands the end of the text
    return found
