"""Ranks as processes, on this machine or on many: the communicator of host arrays on MPI (mpi4py).

A sum goes in two halves. Each rank gets from all others what they have of its part (Ialltoallv) and adds it up in the order of
the ranks; for an all_reduce the finished parts are gathered (Iallgatherv). The bytes are those of a ring, and the order of
summation is ours: MPI's own MPI_Allreduce may choose another one for each size and machine. A wait polls, so that Ctrl-C and
signals are handled, and lets other processes run meanwhile.

COURSE_DEBUG_COLLECTIVES=1 lets each call first exchange what it is (debug.py).
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from mpi4py import MPI

from course_lib.parallel.communicator import Call, Communicator, Pending, add_in_order, caller, even_parts, rows_of
from course_lib.parallel.debug import Board

PATIENCE = 0.5  # seconds of polling before a wait begins to sleep in between
give_way = getattr(os, "sched_yield", lambda: time.sleep(0))  # the core is another process's, if one wants it
HEADER = 64  # bytes: dtype and shape of a message


class Mpi(Communicator):
    """One process of those that mpiexec or srun started. comm: of mpi4py."""

    def __init__(self, comm: MPI.Comm = MPI.COMM_WORLD, debug: bool | None = None):
        super().__init__()
        self.comm = comm.Dup()
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.gathers = (
            comm.Dup()
        )  # second halves: they begin in the order of the first ones, which is that of no other call
        self.halves: deque[_Sum] = deque()  # all_reduces whose second half has not begun
        self.sends: list[tuple] = []  # requests on their way, with the memory that they read
        debug = bool(os.environ.get("COURSE_DEBUG_COLLECTIVES")) if debug is None else debug
        self.board = Board(comm.Dup()) if debug and self.size > 1 else None

    # To one rank

    def send(self, x, to: int) -> None:
        x = np.array(x, order="C")
        to = self._peer(to, "to")
        header = np.zeros(HEADER, np.uint8)
        text = f"{x.dtype.str}{x.shape}".encode()
        header[: len(text)] = np.frombuffer(text, np.uint8)
        self.sends = [(request, kept) for request, kept in self.sends if not request.Test()]
        self.sends += [(self.comm.Isend(array, to), array) for array in (header, _bytes(x))]
        self.traffic.add(1, x.nbytes)

    def recv(self, from_: int) -> np.ndarray:
        call = Call("recv", peer=self._peer(from_, "from_"), where=caller())
        header = np.empty(HEADER, np.uint8)
        self._poll(call, self.comm.Irecv(header, from_).Test)
        dtype, _, shape = header.tobytes().rstrip(b"\0").decode().partition("(")
        x = np.empty(tuple(int(n) for n in shape.rstrip(",)").split(",") if n), dtype)
        self._poll(call, self.comm.Irecv(_bytes(x), from_).Test)
        return x

    # Collectives

    def broadcast(self, x, root: int = 0) -> np.ndarray:
        x = np.array(x, order="C")
        call = Call("broadcast", x.shape, str(x.dtype), self._peer(root, "root"), where=caller())
        self._begin(call, x)
        self._poll(call, self.comm.Ibcast(_bytes(x), root).Test)
        return x

    def barrier(self) -> None:
        call = Call("barrier", where=caller())
        self._begin(call, np.zeros(0))
        self._poll(call, self.comm.Ibarrier().Test)

    def start_all_reduce(self, x, onto: np.ndarray | None = None) -> Pending:
        x = np.asarray(x)
        call = Call("all_reduce", x.shape, str(x.dtype), where=caller())
        self._begin(call, x)
        flat = np.ascontiguousarray(x).reshape(-1)
        half = _Sum(self, flat, even_parts(flat.size, self.size), onto)
        self.halves.append(half)

        def test() -> bool:
            while self.halves and self.halves[0].test():
                self.halves.popleft().gather()
            return half.gathered is not None and half.gathered()

        def wait() -> np.ndarray:
            self._poll(call, test)
            return half.whole.reshape(x.shape)

        return Pending(wait, test)

    def start_reduce_scatter(self, x, counts: Sequence[int] | None = None, onto: np.ndarray | None = None) -> Pending:
        x = np.ascontiguousarray(rows_of(x, "reduce_scatter"))
        counts = self._counts(len(x), counts)
        call = Call("reduce_scatter", x.shape, str(x.dtype), counts=counts, where=caller())
        self._begin(call, x)
        half = _Sum(self, x, counts, onto)

        def wait() -> np.ndarray:
            self._poll(call, half.test)
            return half.part()

        return Pending(wait, half.test)

    def start_all_gather(self, x, counts: Sequence[int] | None = None) -> Pending:
        x = np.ascontiguousarray(rows_of(x, "all_gather"))
        counts = (len(x),) * self.size if counts is None else tuple(counts)
        self._own_rows(counts, x)
        call = Call("all_gather", x.shape, str(x.dtype), counts=counts, where=caller())
        self._begin(call, x)
        whole, test = gather(self.comm, x, counts)

        def wait() -> np.ndarray:
            self._poll(call, test)
            return whole

        return Pending(wait, test)

    def finish(self) -> None:
        if self.board is not None:
            self.board.finish()

    def _begin(self, call: Call, x: np.ndarray) -> None:
        """Before each collective."""
        self._count(call, x.nbytes)
        if self.board is not None:
            self.board.agree(call)

    def _poll(self, call: Call, test: Callable[[], bool]) -> None:
        """Wait for the end of a call, in small steps."""
        if test():
            return
        began = time.monotonic()
        if self.board is not None and call.kind == "recv":  # a collective that all ranks agreed on does come to its end
            self.board.wait(call, test)
        while not test():
            if time.monotonic() - began < PATIENCE:
                give_way()
            else:
                time.sleep(0.001)
        self.traffic.waited += time.monotonic() - began


class _Sum:
    """The sum of x over all ranks, in parts of `counts` rows; this rank's part, and behind it, if asked for, all of them."""

    def __init__(self, ranks: Mpi, x: np.ndarray, counts: Sequence[int], onto: np.ndarray | None):
        self.ranks, self.x, self.counts, self.onto = ranks, x, counts, onto
        self.received = np.empty((ranks.size, counts[ranks.rank], *x.shape[1:]), x.dtype)
        row = x.itemsize * int(np.prod(x.shape[1:], dtype=np.int64))
        sizes = [count * row for count in counts]
        own = [self.received[0].nbytes] * ranks.size
        self.test = ranks.comm.Ialltoallv([_bytes(x), sizes, MPI.BYTE], [_bytes(self.received), own, MPI.BYTE]).Test
        self.whole: np.ndarray | None = None
        self.gathered: Callable[[], bool] | None = None

    def part(self) -> np.ndarray:
        """This rank's part, once the first half is done."""
        return add_in_order(list(self.received), self.onto)

    def gather(self) -> None:
        """Begin the second half."""
        self.own = self.part()
        self.whole, self.gathered = gather(self.ranks.gathers, self.own, self.counts)


def gather(comm: MPI.Comm, x: np.ndarray, counts: Sequence[int]) -> tuple[np.ndarray, Callable[[], bool]]:
    """(the parts of all ranks behind each other, a test whether they have arrived)."""
    whole = np.empty((sum(counts), *x.shape[1:]), x.dtype)
    row = x.itemsize * int(np.prod(x.shape[1:], dtype=np.int64))
    request = comm.Iallgatherv([_bytes(x), MPI.BYTE], [_bytes(whole), [count * row for count in counts], MPI.BYTE])
    return whole, request.Test


def _bytes(x: np.ndarray) -> np.ndarray:
    """The memory of a contiguous array, which MPI moves without asking what it means."""
    return x.reshape(-1).view(np.uint8)
