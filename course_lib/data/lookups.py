"""Which tokens of a corpus must be looked up: where, after the same few tokens, every document says again what it has said.

"She took the" goes on with the colour that the story gave its kite: always a word that stands there already, in each story
another. Only a model that looks back knows it. There are few such places, so in the mean loss they are small, and what they
teach is learned last. Here they count more, at first. Whether a place is one depends on what stands before it alone, not on
what comes: so nothing is asked that is wrong in the end, only sooner. (Arora et al. 2023, "Zoology", find such places by pairs
of tokens that are said again: most of what attention is better at than gated convolutions.)
"""

import numpy as np

from course_lib.data.windows import Training, cut

BEFORE = (3, 4, 5)  # how many tokens say which place it is: one of these numbers is enough
SEEN = 20  # times, at least, that the corpus comes to such a place
SURE = 0.95  # share of these times, at least, in which the document has said before what comes
VARIED = 0.7  # share of them, at most, in which the same token comes
ALIKE = 0.8  # share of a run after which all tokens count alike


class Lookups:
    """Batches of `train` with how much each target counts. weight: that of a token which must be looked up, in the beginning,
    where all others have 1. `train` is of documents (it has starts). Raises ValueError for plain text."""

    def __init__(self, train: Training, weight: float):
        if train.starts is None or len(train.starts) == 0:
            raise ValueError("What a document says again is asked of a text that has no documents: leave lookups at 1.")
        self.train, self.weight = train, weight
        self.found = lookups(np.asarray(train.tokens), int(train.tokens[train.starts[0]]))  # (n,) bool

    def batch(self, step: int, batch_size: int, done: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """That of `train`, and the weights of its targets: int32, int32, float32 (B, T). done: share of the run that is over."""
        starts, context = self.train.places(step, batch_size), self.train.context
        idx, targets = cut(self.train.tokens, starts, context)
        now = self.weight ** max(0.0, 1 - done / ALIKE)
        found = self.found[starts[:, None] + np.arange(1, context + 1)]  # (B, T)
        return idx, targets, np.where(found, now, 1.0).astype(np.float32)


def lookups(tokens: np.ndarray, end: int) -> np.ndarray:
    """Which of the tokens (n,) must be looked up: bool (n,). end: the token before each document."""
    size = int(tokens.max()) + 1
    order, document = np.argsort(tokens, kind="stable"), np.cumsum(tokens == end)
    last, next_ = order[:-1], order[1:]  # where a token stands, and where it stands again
    said = np.zeros(len(tokens), bool)  # earlier in its document
    said[next_] = (tokens[last] == tokens[next_]) & (document[last] == document[next_])
    found, longest = np.zeros(len(tokens), bool), max(BEFORE)
    at = np.arange(longest, len(tokens))  # in the order of the token before, then of the one before that, and so on
    for back in range(longest, 0, -1):
        at = at[np.argsort(tokens[at - back], kind="stable")]
    begins = np.arange(len(at)) == 0  # the first of those after the same tokens
    for back in range(1, longest + 1):
        before = tokens[at - back]
        begins[1:] |= before[1:] != before[:-1]
        if back not in BEFORE:
            continue
        first = np.flatnonzero(begins)
        times = np.diff(first, append=len(at))  # that the corpus comes to each place
        sure = (times >= SEEN) & (np.add.reduceat(said[at], first, dtype=np.int64) >= SURE * times)
        here, times = at[np.repeat(sure, times)], times[sure]
        place = np.repeat(np.arange(len(times)), times)
        pairs, same = np.unique(place * size + tokens[here], return_counts=True)
        most = np.zeros(len(times), np.int64)  # times that the likeliest token comes there
        np.maximum.at(most, pairs // size, same)
        found[here[(most <= VARIED * times)[place]]] = True
    return found
