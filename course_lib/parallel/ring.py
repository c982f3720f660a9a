"""The ring: reduce-scatter, all-gather and all-reduce from nothing but `send` and `recv` between neighbours.

Each rank sends to the next one, rank + 1, and receives from the one before; the last one's next is rank 0. Each array moves in
as many chunks as there are ranks, so that all links are busy in every step: an all-reduce of B bytes over N ranks sends
2 (N - 1) / N * B bytes from each rank, in 2 (N - 1) messages (Patarasuk and Yuan, 2009, "Bandwidth optimal all-reduce").

Limits: chunk c is added up in the order of ranks c + 1, c + 2, ..., c. All ranks get the same bits, but with three ranks or more
they may differ from those of a sum in the order of the ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def pass_on(communicator: Any, x: Any) -> Any:
    """Send x to the next rank, and return what the rank before has sent."""
    communicator.send(x, (communicator.rank + 1) % communicator.size)
    return communicator.recv((communicator.rank - 1) % communicator.size)


def ring_reduce_scatter(communicator: Any, chunks: list) -> Any:
    """chunks: one array for each rank. Returns the sum of all ranks' chunk number `rank`; the given list stays as it is."""
    rank, size = communicator.rank, communicator.size
    chunks = list(chunks)
    for step in range(size - 1):
        received = pass_on(communicator, chunks[(rank - step - 1) % size])
        index = (rank - step - 2) % size
        chunks[index] = chunks[index] + received
    return chunks[rank]


def ring_all_gather(communicator: Any, chunk: Any) -> list:
    """The chunks of all ranks, in the order of the ranks."""
    rank, size = communicator.rank, communicator.size
    chunks = [chunk] * size
    for step in range(size - 1):
        chunks[(rank - step - 1) % size] = pass_on(communicator, chunks[(rank - step) % size])
    return chunks


def ring_all_reduce(communicator: Any, x: Any) -> Any:
    """The sum of the x of all ranks, in the shape of x. Its length need not be a multiple of the number of ranks."""
    chunks = np.array_split(x.reshape(-1), communicator.size)
    summed = ring_reduce_scatter(communicator, chunks)
    return np.concatenate(ring_all_gather(communicator, summed)).reshape(x.shape)
