"""The ring: reduce-scatter, all-gather and all-reduce from nothing but `send` and `recv` between neighbours.

Each rank sends to the next one, rank + 1, and receives from the one before; the last one's next is rank 0. Each array moves in
as many chunks as there are ranks, so that all links are busy in every step: an all-reduce of B bytes over N ranks sends
2 (N - 1) / N * B bytes from each rank, in 2 (N - 1) messages (Patarasuk and Yuan, 2009, "Bandwidth optimal all-reduce").

Limits: chunk c is added up in the order of ranks c + 1, c + 2, ..., c. All ranks get the same bits, but with three ranks or more
they may differ from those of a sum in the order of the ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.parallel.communicator import Communicator, Pending, even_parts, rows_of


def pass_on(communicator: Communicator, x: np.ndarray) -> np.ndarray:
    """Send x to the next rank, and return what the rank before has sent."""
    communicator.send(x, (communicator.rank + 1) % communicator.size)
    return communicator.recv((communicator.rank - 1) % communicator.size)


def ring_reduce_scatter(communicator: Communicator, chunks: list[np.ndarray]) -> np.ndarray:
    """chunks: one array for each rank. Returns the sum of all ranks' chunk number `rank`; the given list stays as it is."""
    rank, size = communicator.rank, communicator.size
    chunks = list(chunks)
    for step in range(size - 1):
        received = pass_on(communicator, chunks[(rank - step - 1) % size])
        index = (rank - step - 2) % size
        chunks[index] = chunks[index] + received
    return chunks[rank]


def ring_all_gather(communicator: Communicator, chunk: np.ndarray) -> list[np.ndarray]:
    """The chunks of all ranks, in the order of the ranks."""
    rank, size = communicator.rank, communicator.size
    chunks = [chunk] * size
    for step in range(size - 1):
        chunks[(rank - step - 1) % size] = pass_on(communicator, chunks[(rank - step) % size])
    return chunks


def ring_all_reduce(communicator: Communicator, x: np.ndarray) -> np.ndarray:
    """The sum of the x of all ranks, in the shape of x. Its length need not be a multiple of the number of ranks."""
    chunks = np.array_split(x.reshape(-1), communicator.size)
    summed = ring_reduce_scatter(communicator, chunks)
    return np.concatenate(ring_all_gather(communicator, summed)).reshape(x.shape)


class Ring:
    """A communicator whose three collectives of sums and pieces go around the ring; all else is that of the one it wraps.

    Nothing runs beside it: a collective is done when `start_...` returns. The three functions above are found through this
    module, so that a learner's own can take their places.
    """

    def __init__(self, communicator: Communicator):
        self._communicator = communicator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._communicator, name)

    def all_reduce(self, x: Any) -> Any:
        return ring_all_reduce(self._communicator, np.asarray(x))

    def reduce_scatter(self, x: Any, counts: Sequence[int] | None = None, onto: Any = None) -> Any:
        x = rows_of(x, "reduce_scatter")
        ends = np.cumsum(self._counts(len(x), counts))[:-1]
        total = ring_reduce_scatter(self._communicator, np.split(x, ends))
        return total.copy() if onto is None else onto + total

    def all_gather(self, x: Any, counts: Sequence[int] | None = None) -> Any:
        return np.concatenate(ring_all_gather(self._communicator, rows_of(x, "all_gather")))

    def start_all_reduce(self, x: Any, onto: Any = None) -> Pending:
        if onto is None:
            return _done(self.all_reduce(x))
        counts = even_parts(x.size, self.size)
        part = self.reduce_scatter(x.reshape(-1), counts, onto)
        return _done(self.all_gather(part, counts).reshape(x.shape))

    def start_reduce_scatter(self, x: Any, counts: Sequence[int] | None = None, onto: Any = None) -> Pending:
        return _done(self.reduce_scatter(x, counts, onto))

    def start_all_gather(self, x: Any, counts: Sequence[int] | None = None) -> Pending:
        return _done(self.all_gather(x, counts))


def _done(result: Any) -> Pending:
    return Pending(lambda: result)


def chosen(communicator: Any) -> Any:
    """The communicator, around the ring if one of its functions is a learner's own, which `course train --mine` puts here."""
    functions = (ring_reduce_scatter, ring_all_gather, ring_all_reduce)
    return Ring(communicator) if any(hasattr(function, "answer") for function in functions) else communicator
