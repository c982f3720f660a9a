"""N virtual ranks in one process: threads that take turns, so that a notebook can show what many machines do.

    def work(communicator):
        return communicator.all_reduce(np.ones(3) * communicator.rank)

    virtual(4, work)                four arrays of 6.0, in the order of the ranks

One rank runs at a time, until it must wait for another: the order is the same on every run, what ranks print too, and nothing
that they call must be safe for threads. So ranks that can never go on are found at once: collectives that do not fit
together as the second of them is called, a deadlock when no rank is left that could run.

Limit: nothing gets faster by it. A rank that loops forever without a word to the others is not found; Ctrl-C ends the wait.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.parallel.communicator import (
    Call,
    CommunicationError,
    Communicator,
    Deadlock,
    Pending,
    RankFailed,
    add_in_order,
    caller,
    even_parts,
    mismatch,
    rows_of,
)


def virtual(size: int, function: Callable[[Communicator], Any]) -> list:
    """Run `function(communicator)` on each of `size` ranks; returns their results in the order of the ranks.

    Raises RankFailed, Mismatch or Deadlock, each of which ends all ranks and names those that are its cause.
    """
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"size is {size!r}, but must be a whole number of ranks from 1 on.")
    return _Ranks(size, function).run()


class _Ended(BaseException):
    """Unwinds a rank after another one failed; no `except Exception` of the rank's catches it."""


class _Ranks:
    """What the ranks share. Only the thread that has the baton touches it."""

    def __init__(self, size: int, function: Callable[[Communicator], Any]):
        self.size, self.function = size, function
        self.batons = [threading.Semaphore(0) for _ in range(size)]
        self.over = threading.Semaphore(0)
        self.results: list = [None] * size
        self.finished: set[int] = set()
        self.waiting: dict[int, tuple[Call, Callable[[], bool]]] = {}  # rank -> its call, and whether it can go on
        self.rounds: list[dict[int, tuple[Call, np.ndarray]]] = []  # one for each collective: rank -> call, array
        self.letters = {(a, b): deque() for a in range(size) for b in range(size)}  # arrays on their way from a to b
        self.failure: CommunicationError | None = None

    def run(self) -> list:
        for rank in range(self.size):
            work = contextvars.copy_context().run  # a notebook finds the cell of a thread's output by its context
            threading.Thread(target=work, args=(self._rank, rank), name=f"rank {rank}", daemon=True).start()
            self.over.acquire()  # one by one: Python 3.11 ends a thread that sets its profile function as another does
        self.batons[0].release()
        try:
            self.over.acquire()
        except BaseException:  # Ctrl-C: the rank that runs ends with its next call
            self.failure = CommunicationError("The ranks were interrupted.")
            raise
        if self.failure is not None:
            raise self.failure from self.failure.__cause__
        return self.results

    def _rank(self, rank: int) -> None:
        self.over.release()  # it has begun
        self.batons[rank].acquire()
        try:
            if self.failure is None:
                self.results[rank] = self.function(_Virtual(rank, self))
        except _Ended:
            pass
        except BaseException as error:
            if self.failure is None:
                self.failure = RankFailed(f"Rank {rank} of {self.size} raised {type(error).__name__}: {error}")
                self.failure.__cause__ = error
        self.finished.add(rank)
        self._resume_next(rank)

    def _can_go_on(self, rank: int) -> bool:
        if rank in self.finished:
            return False
        return self.failure is not None or rank not in self.waiting or self.waiting[rank][1]()

    def _resume_next(self, rank: int) -> None:
        """Give the baton to the next rank that can go on; if there is none, all are finished or this is a deadlock."""
        order = [(rank + step) % self.size for step in range(1, self.size + 1)]
        ready = [one for one in order if self._can_go_on(one)]
        if not ready and len(self.finished) < self.size:
            self.failure = Deadlock(self._stuck())
            ready = [one for one in order if self._can_go_on(one)]
        (self.batons[ready[0]] if ready else self.over).release()

    def wait(self, rank: int, call: Call, ready: Callable[[], bool]) -> None:
        """Let others run until this rank can go on."""
        self.check()
        if not ready():
            self.waiting[rank] = call, ready
            self._resume_next(rank)
            self.batons[rank].acquire()
            del self.waiting[rank]
            self.check()

    def check(self) -> None:
        if self.failure is not None:
            raise _Ended

    def join(self, number: int, rank: int, call: Call, x: np.ndarray) -> dict[int, tuple[Call, np.ndarray]]:
        """Take part in collective `number`; the others' calls must fit."""
        self.check()
        while len(self.rounds) <= number:
            self.rounds.append({})
        calls = self.rounds[number]
        for other, (before, _) in calls.items():
            if before.signature != call.signature:
                self.failure = mismatch(number, (other, before), (rank, call))
                raise _Ended
        calls[rank] = call, x
        return calls

    def _stuck(self) -> str:
        lines = ["Deadlock: no rank can go on."]
        for rank in range(self.size):
            state = "has finished" if rank in self.finished else f"waits in {self.waiting[rank][0]}"
            lines.append(f"  rank {rank} {state}")
        return "\n".join(lines)


class _Virtual(Communicator):
    """The communicator of one virtual rank."""

    def __init__(self, rank: int, ranks: _Ranks):
        super().__init__()
        self.rank, self.size, self.ranks = rank, ranks.size, ranks
        self.done = 0  # collectives that were begun

    def send(self, x, to: int) -> None:
        x = np.array(x)
        self.ranks.check()
        self.ranks.letters[self.rank, self._peer(to, "to")].append(x)
        self.traffic.add(1, x.nbytes)

    def recv(self, from_: int) -> np.ndarray:
        letters = self.ranks.letters[self._peer(from_, "from_"), self.rank]
        self.ranks.wait(self.rank, Call("recv", peer=from_, where=caller()), lambda: bool(letters))
        return letters.popleft()

    def broadcast(self, x, root: int = 0) -> np.ndarray:
        x = np.asarray(x)
        call = Call("broadcast", x.shape, str(x.dtype), self._peer(root, "root"), where=caller())
        return self._start(call, x, lambda arrays: arrays[root].copy()).wait()

    def barrier(self) -> None:
        self._start(Call("barrier", where=caller()), np.zeros(0), lambda arrays: arrays[0]).wait()

    def start_all_reduce(self, x, onto: np.ndarray | None = None) -> Pending:
        x = np.asarray(x)
        call = Call("all_reduce", x.shape, str(x.dtype), where=caller())
        if onto is None:
            return self._start(call, x, add_in_order)
        # what the sum goes onto is in parts, as on many machines: here they are put together first, and not counted
        counts = even_parts(x.size, self.size)
        gather = Call("all_gather", onto.shape, str(onto.dtype), counts=counts, where=call.where)
        before = self._start(gather, onto, np.concatenate, counted=False)
        return self._start(call, x, lambda arrays: add_in_order(arrays, before.wait().reshape(x.shape)))

    def start_reduce_scatter(self, x, counts: Sequence[int] | None = None, onto: np.ndarray | None = None) -> Pending:
        x = rows_of(x, "reduce_scatter")
        counts = self._counts(len(x), counts)
        start = sum(counts[: self.rank])
        own = slice(start, start + counts[self.rank])
        call = Call("reduce_scatter", x.shape, str(x.dtype), counts=counts, where=caller())
        return self._start(call, x, lambda arrays: add_in_order([array[own] for array in arrays], onto))

    def start_all_gather(self, x, counts: Sequence[int] | None = None) -> Pending:
        x = rows_of(x, "all_gather")
        counts = (len(x),) * self.size if counts is None else tuple(counts)
        self._own_rows(counts, x)
        return self._start(Call("all_gather", x.shape, str(x.dtype), counts=counts, where=caller()), x, np.concatenate)

    def _start(
        self, call: Call, x: np.ndarray, result: Callable[[list[np.ndarray]], np.ndarray], counted=True
    ) -> Pending:
        """Join the next collective. result: what this rank gets, from the arrays of all ranks."""
        calls = self.ranks.join(self.done, self.rank, call, x.copy())
        self.done += 1
        if counted:
            self._count(call, x.nbytes)

        def wait() -> np.ndarray:
            self.ranks.wait(self.rank, call, test)
            return result([calls[rank][1] for rank in range(self.size)])

        def test() -> bool:
            return len(calls) == self.size

        return Pending(wait, test)
