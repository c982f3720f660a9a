"""Windows of T tokens: what a model reads (`idx`) and what it must say next (`targets`, one token later).

A corpus of documents is stored as END document END document END: the end token before a document is its start. A window
begins at a start, so that the model sees every document from its first token, and runs on through the documents that
follow; every target counts. A corpus of plain text has no starts, and its windows begin anywhere.

Training batches are a pure function of (seed, step, batch size): nothing to save, and a resumed run reads the same.

Validation windows are fixed. Where the entropy of each document is known, they hold whole documents only (the rest of a
window is padded, its targets are IGNORE), because the floor, the least loss that any model can have, is known per whole
document; so loss minus floor is exact. Elsewhere they look like training windows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

IGNORE = -1  # a target that is not scored

Batch = tuple[np.ndarray, np.ndarray]  # idx, targets: int32 (B, T)


def cut(tokens: np.ndarray, starts: np.ndarray, context: int) -> Batch:
    """The windows of `context` tokens at `starts` (B,) -> idx, targets: int32 (B, T)."""
    rows = tokens[starts[:, None] + np.arange(context + 1)].astype(np.int32)  # (B, T + 1)
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])


class Training:
    """Batches for training. `tokens` (n,) may be a memory map; `starts` are those of the documents, None for text."""

    def __init__(self, tokens: np.ndarray, context: int, seed: int, starts: np.ndarray | None = None) -> None:
        self.tokens, self.context, self.seed = tokens, context, seed
        self.starts = None if starts is None else starts[starts + context < len(tokens)]
        self._shuffled: tuple[int, np.ndarray] | None = None  # the last epoch asked for, and its order

    def batch(self, step: int, batch_size: int) -> Batch:
        """The batch of one step -> idx, targets: int32 (B, T). The same arguments give the same batch, always."""
        return cut(self.tokens, self.places(step, batch_size), self.context)

    def places(self, step: int, batch_size: int) -> np.ndarray:
        """Where the windows of a batch begin among the tokens: int64 (B,)."""
        if self.starts is None:
            places = self._random(step, batch_size) % np.uint64(len(self.tokens) - self.context)
            return places.astype(np.int64)
        rows = step * batch_size + np.arange(batch_size)
        epochs, inside = np.divmod(rows, len(self.starts))
        chosen = [self._order(epoch)[inside[epochs == epoch]] for epoch in np.unique(epochs).tolist()]
        return self.starts[np.concatenate(chosen)]

    def _order(self, epoch: int) -> np.ndarray:
        """An order of the documents, another one for each epoch: each document begins one window per epoch."""
        if self._shuffled is None or self._shuffled[0] != epoch:
            self._shuffled = epoch, np.argsort(self._random(epoch, len(self.starts)), kind="stable")
        return self._shuffled[1]

    def _random(self, counter: int, size: int) -> np.ndarray:
        # Raw bits of a counter-based generator: NumPy promises these for ever, its distributions it does not.
        return np.random.Philox(key=np.array([self.seed % 2**64, counter], np.uint64)).random_raw(size)


@dataclass(frozen=True)
class Validation:
    """Fixed windows that no training window shares a token with.

    idx, targets:  int32 (R, T); targets that are not scored are IGNORE
    nats:          float64 (R,), the entropy of the scored targets of each window where it is known, else None
    """

    idx: np.ndarray
    targets: np.ndarray
    nats: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.idx)

    @property
    def scored(self) -> int:
        """How many targets count."""
        return int((self.targets != IGNORE).sum())

    @property
    def floor(self) -> float | None:
        """The least mean loss that any model can have on the scored targets, in nats per token; None if unknown."""
        return None if self.nats is None else float(self.nats.sum() / self.scored)

    def head(self, rows: int) -> "Validation":
        """The first windows only, with a floor of their own: for a quick look, or a slow device."""
        return Validation(self.idx[:rows], self.targets[:rows], None if self.nats is None else self.nats[:rows])

    def batches(self, batch_size: int) -> Iterator[Batch]:
        """All windows in order, the same each time; the last batch may have fewer rows."""
        for at in range(0, len(self), batch_size):
            yield self.idx[at : at + batch_size], self.targets[at : at + batch_size]

    def mean_loss(self, loss: Callable[[np.ndarray, np.ndarray], float], batch_size: int) -> float:
        """The mean over all scored targets of `loss(idx, targets)`, itself the mean over those of one batch."""
        sums = [loss(idx, targets) * (targets != IGNORE).sum() for idx, targets in self.batches(batch_size)]
        return float(sum(sums)) / self.scored


def spread(tokens: np.ndarray, context: int, rows: int, starts: np.ndarray | None = None) -> Validation:
    """At most `rows` full windows, evenly over the held-out tokens: from the starts given, or side by side in text.

    A text shorter than one window becomes one window, padded.
    """
    if len(tokens) <= context:
        idx, targets = np.zeros((1, context), np.int32), np.full((1, context), IGNORE, np.int32)
        idx[0, : len(tokens)], targets[0, : len(tokens) - 1] = tokens, tokens[1:]
        return Validation(idx, targets)
    places = np.arange(0, len(tokens) - context, context) if starts is None else starts[starts + context < len(tokens)]
    chosen = places[np.linspace(0, len(places) - 1, min(rows, len(places))).astype(np.int64)]
    return Validation(*cut(tokens, chosen, context))


def whole_documents(tokens: np.ndarray, starts: np.ndarray, nats: np.ndarray, context: int) -> tuple[Validation, int]:
    """Windows that hold whole documents, as many as fit in a row; also how many documents were longer than a window.

    tokens: END document END ... END;  starts (D,): the end token before each;  nats (D,): -log P of each.
    """
    ends = np.append(starts[1:], len(tokens) - 1)
    fitting = np.flatnonzero(ends - starts <= context)
    rows: list[list[int]] = []
    room = 0
    for document in fitting.tolist():
        length = int(ends[document] - starts[document])
        if length > room:
            rows.append([])
            room = context
        rows[-1].append(document)
        room -= length
    idx = np.full((len(rows), context), tokens[starts[0]], np.int32)  # (R, T), padded with the end token
    targets = np.full((len(rows), context), IGNORE, np.int32)
    for row, inside in enumerate(rows):
        body = np.concatenate([tokens[starts[document] : ends[document]] for document in inside])
        following = np.concatenate([tokens[starts[document] + 1 : ends[document] + 1] for document in inside])
        idx[row, : len(body)], targets[row, : len(body)] = body, following
    return Validation(idx, targets, np.array([nats[inside].sum() for inside in rows])), len(starts) - len(fitting)
