"""What ranks can say to each other: the interface of every communicator, and the communicator of one.

N processes (or threads) run the same code; each is a rank, 0 to N - 1, and holds a communicator. A collective is called by all
ranks, in the same order, with the same shape and dtype. Arrays that are given are never changed, results are new arrays, and
sums are taken in the order of the ranks, ((x0 + x1) + x2) + ..., so that they are the same bits whatever carries the messages.

What a rank sends is counted in `communicator.traffic`. Collectives count as the ring (or any algorithm that wastes nothing)
would send them: of n bytes on N ranks n (N - 1) / N for a reduce_scatter, as much again for the all_gather of its parts, both
for an all_reduce. (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations")
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


class CommunicationError(RuntimeError):
    """Ranks that do not fit together: what each of them called, and where."""


class Mismatch(CommunicationError):
    """Ranks called different collectives, or the same one with other shapes or dtypes."""


class Deadlock(CommunicationError):
    """Every rank that has not finished waits for another."""


class RankFailed(CommunicationError):
    """A rank raised an exception, which ends all ranks; the exception is the cause of this one."""


@dataclass
class Traffic:
    """What one rank has sent, and the seconds that it has only waited for others, where that is measured."""

    messages: int = 0
    bytes: int = 0
    waited: float = field(default=0.0, compare=False)

    def add(self, messages: int, size: int) -> None:
        self.messages += messages
        self.bytes += size


@dataclass(frozen=True)
class Call:
    """What one rank asks of a communicator. Two calls fit together if their `signature` is the same.

    counts: how many rows each rank gets of a reduce_scatter or gives to an all_gather. where: the caller's file and line.
    """

    kind: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    peer: int | None = None  # the root of a broadcast, the other end of send and recv
    counts: tuple[int, ...] = ()
    where: str = ""

    @property
    def signature(self) -> tuple:
        rows = self.shape[1:] if self.kind == "all_gather" else self.shape  # its parts may differ in length
        return self.kind, rows, self.dtype, self.peer, self.counts

    def __str__(self) -> str:
        if self.kind == "recv":
            return f"recv from rank {self.peer}, {self.where}"
        if self.kind == "barrier":
            return f"barrier, {self.where}"
        root = "" if self.peer is None else f" from rank {self.peer}"
        uneven = len(set(self.counts)) > 1
        parts = f" in parts of {', '.join(map(str, self.counts))} rows" if uneven else ""
        return f"{self.kind}{root} of {self.dtype} {self.shape}{parts}, {self.where}"


@dataclass
class Pending:
    """A collective that has begun. `wait()` gives its result; `test()` says whether it is there, and lets it make progress."""

    wait: Callable[[], np.ndarray]
    test: Callable[[], bool] = lambda: True


class Communicator:
    """One rank among `size`. Subclasses carry the messages: they have `send`, `recv` and the three methods named `start_...`.

    x: an array, or what NumPy makes one of. Raises ValueError for what no rank may ask, CommunicationError where ranks
    do not fit together and this can be told.
    """

    rank = 0
    size = 1
    arrays: Any = np  # the module of the arrays that it takes

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.host: Communicator = self  # of the same ranks, for host arrays

    # To one rank

    def send(self, x, to: int) -> None:
        """Send an array to rank `to`. It does not wait for the other: x may be changed as soon as this returns."""
        raise NotImplementedError

    def recv(self, from_: int) -> np.ndarray:
        """Wait for the next array that rank `from_` sends to this one."""
        raise NotImplementedError

    # Collectives

    def all_reduce(self, x) -> np.ndarray:
        """The sum over all ranks, on all ranks: x (*n) -> (*n)."""
        return self.start_all_reduce(x).wait()

    def reduce_scatter(self, x, counts: Sequence[int] | None = None, onto: np.ndarray | None = None) -> np.ndarray:
        """The sum, of which each rank gets its part: x (size * n, *m) -> (n, *m), rows rank * n to (rank + 1) * n.

        counts: how many rows each rank gets, if not as many. onto: a part to which the sum is added, ((onto + x0) + x1) + ...
        """
        return self.start_reduce_scatter(x, counts, onto).wait()

    def all_gather(self, x, counts: Sequence[int] | None = None) -> np.ndarray:
        """The parts of all ranks behind each other, on all ranks: x (n, *m) -> (size * n, *m). counts: rows of each rank."""
        return self.start_all_gather(x, counts).wait()

    def broadcast(self, x, root: int = 0) -> np.ndarray:
        """The array of rank `root`, on all ranks; what the others give says its shape and dtype."""
        raise NotImplementedError

    def barrier(self) -> None:
        """Wait until every rank is here."""
        raise NotImplementedError

    def finish(self) -> None:
        """This rank calls nothing any more."""

    # The same without waiting, so that a rank can compute meanwhile: they begin in the same order on every rank, and x must not
    # change before the end. onto, of an all_reduce: this rank's part (even_parts of the flat array).

    def start_all_reduce(self, x, onto: np.ndarray | None = None) -> Pending:
        raise NotImplementedError

    def start_reduce_scatter(self, x, counts: Sequence[int] | None = None, onto: np.ndarray | None = None) -> Pending:
        raise NotImplementedError

    def start_all_gather(self, x, counts: Sequence[int] | None = None) -> Pending:
        raise NotImplementedError

    # What subclasses share

    def _peer(self, rank: int, what: str) -> int:
        if not 0 <= rank < self.size or (rank == self.rank and what != "root"):
            others = [str(one) for one in range(self.size) if one != self.rank]
            there = f"it can talk to rank {', '.join(others)}" if others else "there is nobody else"
            raise ValueError(f"Rank {self.rank} of {self.size} was given {what} {rank}: {there}.")
        return rank

    def _counts(self, rows: int, counts: Sequence[int] | None) -> tuple[int, ...]:
        """How many of `rows` rows each rank gets of a reduce_scatter."""
        if counts is None:
            if rows % self.size:
                raise ValueError(
                    f"reduce_scatter was given {rows} rows for {self.size} ranks, which does not divide: pad the array, or "
                    "give counts."
                )
            return (rows // self.size,) * self.size
        if len(counts) != self.size or sum(counts) != rows:
            raise ValueError(
                f"counts is {list(counts)}, but must say for {self.size} ranks who gets which of {rows} rows."
            )
        return tuple(counts)

    def _own_rows(self, counts: Sequence[int], x: np.ndarray) -> None:
        """What this rank gives to an all_gather must be what counts says."""
        if counts[self.rank] != len(x):
            raise ValueError(
                f"Rank {self.rank} gives {len(x)} rows to an all_gather, but counts says {counts[self.rank]}."
            )

    def _count(self, call: Call, size: int) -> None:
        """Count what a collective of `size` bytes makes this rank send."""
        others = self.size - 1
        if call.kind == "broadcast":
            self.traffic.add(*((others, others * size) if call.peer == self.rank else (0, 0)))
        elif call.kind in ("all_reduce", "reduce_scatter"):
            counts = call.counts or even_parts(size // max(np.dtype(call.dtype).itemsize, 1), self.size)
            own = size * counts[self.rank] // max(sum(counts), 1)
            self.traffic.add(others, size - own)
            if call.kind == "all_reduce":
                self.traffic.add(others, others * own)
        elif call.kind == "all_gather":
            self.traffic.add(others, others * size)


class Alone(Communicator):
    """The communicator of one process: every sum is its own array, and there is nobody to send to."""

    def send(self, x, to: int) -> None:
        self._peer(to, "to")

    def recv(self, from_: int) -> np.ndarray:
        self._peer(from_, "from_")
        raise AssertionError  # _peer refuses every rank

    def broadcast(self, x, root: int = 0) -> np.ndarray:
        self._peer(root, "root")
        return np.array(x)

    def barrier(self) -> None:
        pass

    def start_all_reduce(self, x, onto: np.ndarray | None = None) -> Pending:
        result = np.array(x) if onto is None else onto.reshape(np.shape(x)) + x
        return Pending(lambda: result)

    def start_reduce_scatter(self, x, counts: Sequence[int] | None = None, onto: np.ndarray | None = None) -> Pending:
        x = rows_of(x, "reduce_scatter")
        self._counts(len(x), counts)
        result = x.copy() if onto is None else onto + x
        return Pending(lambda: result)

    def start_all_gather(self, x, counts: Sequence[int] | None = None) -> Pending:
        return self.start_all_reduce(rows_of(x, "all_gather"))


def mismatch(number: int, *calls: tuple[int, Call]) -> Mismatch:
    """The error of two ranks whose calls do not fit together. number: of the collective, from 0; calls: (rank, its call)."""
    (a, first), (b, second) = sorted(calls, key=lambda one: one[0])
    return Mismatch(
        f"Ranks {a} and {b} do not fit together in collective {number + 1}.\n"
        f"  rank {a} calls {first}\n  rank {b} calls {second}\n"
        "All ranks must call the same collectives in the same order, with the same shapes and dtypes."
    )


def even_parts(n: int, size: int) -> tuple[int, ...]:
    """n elements for `size` ranks, as evenly as it goes; the first ones get one more."""
    return tuple(n // size + (rank < n % size) for rank in range(size))


def rows_of(x, kind: str) -> np.ndarray:
    """x as an array that has rows. Raises ValueError for a single number."""
    x = np.asarray(x)
    if not x.ndim:
        raise ValueError(f"{kind} takes an array with rows, one number was given: give an array of shape (1,).")
    return x


def add_in_order(parts: Sequence[np.ndarray], onto: np.ndarray | None = None) -> np.ndarray:
    """((onto + parts[0]) + parts[1]) + ..., a new array."""
    total = parts[0].copy() if onto is None else onto + parts[0]
    for part in parts[1:]:
        np.add(total, part, out=total)
    return total


HERE = str(Path(__file__).parent)


def caller() -> str:
    """Where a communicator was called from, outside of this folder: file, line and what stands there."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    path, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, line).strip()
    file = "this cell" if "ipykernel" in path or path.startswith("<") else Path(path).name
    return f"{file}, line {line}" + (f": {text}" if text else "")
