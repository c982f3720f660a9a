"""A board on which MPI ranks write what they wait for: it finds collectives that do not fit together, and deadlocks.

Before a collective each rank tells all others its number and what it is, and waits for theirs. While a rank waits for that, or
for a message, it says so, and says when it goes on. If all ranks have waited or finished for `QUIET` seconds and nothing has
changed, none can go on. That costs a message to each rank for each call, so it is for finding a fault only
(COURSE_DEBUG_COLLECTIVES=1).

Limit: collectives wait for each other before they begin, so a program that begins one on one rank and, before it ends, sends
from there to a rank that must receive first would stop here alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mpi4py import MPI

from course_lib.parallel.communicator import Call, Deadlock, mismatch

QUIET = 2.0  # seconds: a message on its way should not take longer


class Board:
    """What all ranks do, as far as their messages have arrived here."""

    def __init__(self, comm: MPI.Comm):
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.others = [rank for rank in range(self.size) if rank != self.rank]
        self.calls: dict[int, dict[int, Call]] = {}  # number of a collective -> rank -> its call
        self.states: dict[int, Call | str] = dict.fromkeys(range(self.size), "runs")
        self.changed = time.monotonic()
        self.done = 0
        self.sends: list = []

    def agree(self, call: Call) -> None:
        """Wait for what the others say of this collective, and compare. Raises Mismatch or Deadlock."""
        number, self.done = self.done, self.done + 1
        self._tell(("call", number, call))
        calls = self.calls.setdefault(number, {})

        def received() -> bool:
            self._listen()
            for rank, other in calls.items():
                if other.signature != call.signature:
                    raise mismatch(number, (rank, other), (self.rank, call))
            return len(calls) == len(self.others)

        self.wait(call, received)
        del self.calls[number]

    def wait(self, call: Call, test: Callable[[], bool]) -> None:
        """Poll until `test()`. Raises Deadlock if no rank can go on."""
        if test():
            return
        self._state(call)
        while not test():
            self._listen()
            stuck = not any(state == "runs" for state in self.states.values())
            if stuck and time.monotonic() - self.changed > QUIET:
                lines = [
                    f"  rank {rank} " + (state if isinstance(state, str) else f"waits in {state}")
                    for rank, state in sorted(self.states.items())
                ]
                raise Deadlock("\n".join(["Deadlock: no rank can go on.", *lines]))
            time.sleep(0.0005)
        self._state("runs")

    def finish(self) -> None:
        """This rank calls nothing any more."""
        self._state("has finished")

    def _state(self, state: Call | str) -> None:
        self.states[self.rank], self.changed = state, time.monotonic()
        self._tell(("state", None, state))

    def _tell(self, message: tuple) -> None:
        self.sends = [request for request in self.sends if not request.Test()]
        self.sends += [self.comm.isend((self.rank, *message), rank) for rank in self.others]

    def _listen(self) -> None:
        while self.comm.iprobe():
            rank, kind, number, what = self.comm.recv()
            self.changed = time.monotonic()
            if kind == "call":
                self.calls.setdefault(number, {})[rank] = what
            else:
                self.states[rank] = what
