"""Per-token loss weights: tokens that are predictable by in-context recall count more at the beginning of training.

These are the tokens at which, after the same few tokens, nearly every document repeats something that it has said. "She took
the" goes on with the colour that the story gave its kite: always a word that stands there already, in each story another. Only
a model that looks back knows it. There are few such tokens, so they add little to the mean loss, and what they teach is
learned last. Whether a position counts depends only on the tokens before it: so nothing is asked that is wrong in the end, only
sooner. The same holds for a word that goes with such a token two tokens later: "told about the fiddler" goes on "by the pond"
or "at the mill", and only a model that knows where they met says the right one of "by" and "at". (Arora et al. 2023, "Zoology",
call the task associative recall, and find such tokens by pairs that a text repeats: most of what attention is better at than
gated convolutions.)
"""

from collections.abc import Callable

import numpy as np

from course_lib.data import windows

BEFORE = (3, 4, 5)  # how many tokens say which place it is: one of these numbers is enough
SEEN = 20  # times, at least, that the corpus comes to such a place
SURE = 0.95  # fraction of these times, at least, in which the document has said before what comes
VARIED = 0.7  # fraction of them, at most, in which the same token comes
MOST = 0.7  # fraction of the times, at least, in which a word is looked up two tokens on
OFTEN = 5  # times, at least, in the mean, that each of these words comes at such a place
ALIKE = 0.8  # fraction of a run after which all tokens count alike


class Lookups:
    """Batches of `train` with how much each target counts. weight: that of a token which must be looked up, in the beginning,
    where all others have 1. `train` is of documents (it has starts). Raises ValueError for plain text."""

    def __init__(self, train: windows.Training, weight: float):
        if train.starts is None or len(train.starts) == 0:
            raise ValueError(
                "`lookups` weights tokens that repeat within a document, and this text is not divided into documents: "
                "leave lookups at 1."
            )
        self.train, self.weight = train, weight
        self.found = lookups(np.asarray(train.tokens), int(train.tokens[train.starts[0]]))  # (n,) bool

    def batch(self, step: int, batch_size: int, done: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """That of `train`, and the weights of its targets: int32, int32, float32 (B, T). done: fraction of the run so far."""
        starts, context = self.train.places(step, batch_size), self.train.context
        idx, targets = windows.cut(self.train.tokens, starts, context)
        now = self.weight ** max(0.0, 1 - done / ALIKE)
        found = self.found[starts[:, None] + np.arange(1, context + 1)]  # (B, T)
        return idx, targets, np.where(found, now, 1.0).astype(np.float32)


def lookups(tokens: np.ndarray, end: int) -> np.ndarray:
    """Which of the tokens (n,) must be looked up: bool (n,). end: the token before each document.

    In a terminal a bar shows how far it is: for 28 million tokens it takes half a minute.
    """
    from tqdm import tqdm

    passes = max(BEFORE) + 2 * len(BEFORE)
    with tqdm(total=passes, desc="finding lookups", unit=" passes", leave=False, delay=1, disable=None) as bar:
        document, order = np.cumsum(tokens == end), np.argsort(tokens, kind="stable")
        last, next_ = order[:-1], order[1:]  # where a token stands, and where it stands again
        said = np.zeros(len(tokens), bool)  # earlier in its document
        said[next_] = (tokens[last] == tokens[next_]) & (document[last] == document[next_])
        at, places = _places(tokens, bar.update)
        found = np.zeros(len(tokens), bool)
        for first in places:
            here, place, times = _where(said, at, first, SURE)
            found[here[(_most(place, tokens[here]) <= VARIED * times)[place]]] = True
            bar.update()
        return found | _going_with(tokens, document, found, at, places, bar.update)


def _going_with(
    tokens: np.ndarray, document: np.ndarray, found: np.ndarray, at: np.ndarray, places: list, tick: Callable
) -> np.ndarray:
    """What goes with a word that is looked up two tokens on, always with the same one between: "by the pond", "at the mill"."""
    between, word = (np.append(tokens[ahead:], [0] * ahead) for ahead in (1, 2))
    goes = ~found
    goes[:-2] &= found[2:] & (document[2:] == document[:-2])
    goes[-2:] = False
    going, size = np.zeros(len(tokens), bool), int(tokens.max()) + 1
    for first in places:
        here, place, times = _where(goes, at, first, MOST)
        words, one = np.unique(
            place * size + word[here], return_inverse=True
        )  # the words of each place, and which comes
        same = np.bincount(words // size, _most(one, tokens[here]), len(times))  # what is likeliest before its word
        often = np.bincount(words // size, minlength=len(times)) * OFTEN <= times
        sure = (same >= SURE * times) & (_most(place, between[here]) >= SURE * times)
        varied = _most(place, tokens[here]) <= VARIED * times
        going[here[(often & sure & varied)[place]]] = True
        tick()
    return going


def _places(tokens: np.ndarray, tick: Callable) -> tuple[np.ndarray, list[np.ndarray]]:
    """Where tokens stand, in an order in which those after the same tokens are neighbours; and for each of BEFORE the first of
    each of these places."""
    longest, places = max(BEFORE), []
    at = np.arange(longest, len(tokens))  # in the order of the token before, then of the one before that, and so on
    for back in range(longest, 0, -1):
        at = at[np.argsort(tokens[at - back], kind="stable")]
        tick()
    begins = np.arange(len(at)) == 0
    for back in range(1, longest + 1):
        before = tokens[at - back]
        begins[1:] |= before[1:] != before[:-1]
        if back in BEFORE:
            places.append(np.flatnonzero(begins))
    return at, places


def _where(
    holds: np.ndarray, at: np.ndarray, first: np.ndarray, fraction: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places where what `holds` says is so nearly always: their tokens, the place of each, and the times of each place."""
    times = np.diff(first, append=len(at))  # that the corpus comes to each place
    sure = (times >= SEEN) & (np.add.reduceat(holds[at], first, dtype=np.int64) >= fraction * times)
    return at[np.repeat(sure, times)], np.repeat(np.arange(sure.sum()), times[sure]), times[sure]


def _most(group: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """How many of each group's tokens are its likeliest one. group: of each token, a number from 0 on."""
    size, most = int(tokens.max(initial=0)) + 1, np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    pairs, same = np.unique(group * size + tokens, return_counts=True)
    np.maximum.at(most, pairs // size, same)
    return most
