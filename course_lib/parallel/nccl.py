"""The communicator of CuPy arrays: NCCL, between GPUs without a way through the host.

Unrun on real cards: it is written by NCCL's and CuPy's documentation and tried against a stand-in (tests/test_parallel_nccl.py).

Everything is made of NCCL's send and recv in groups, so that sums are taken in the order of the ranks, like those of the other
communicators, and give the same bits. (ncclAllReduce chooses its order by size and machine.) A call is put onto the current
stream and returns; `wait()` gives an array that later work of the stream finds complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.parallel.communicator import Call, Communicator, Pending, even_parts


class Nccl(Communicator):
    """One rank with one GPU. host: a communicator of the same ranks for host arrays; it carries NCCL's unique id.

    cupy: the module, or a stand-in.
    """

    def __init__(self, host: Communicator, cupy: Any = None):
        super().__init__()
        if cupy is None:
            import cupy
            import cupy.cuda.nccl
        self.rank, self.size, self.host = host.rank, host.size, host
        self.arrays = self.cupy = cupy
        self.nccl = cupy.cuda.nccl
        own = self.nccl.get_unique_id() if self.rank == 0 else (0,) * self.nccl.NCCL_UNIQUE_ID_BYTES
        unique = host.broadcast(np.array(own, np.int64))  # bytes as small numbers, signed or not
        self.peers = self.nccl.NcclCommunicator(self.size, tuple(unique.tolist()), self.rank)

    def send(self, x, to: int) -> None:
        x = self.cupy.ascontiguousarray(x)
        self.host.send(np.array([x.dtype.num, *x.shape]), self._peer(to, "to"))
        self._exchange([(to, x)], [])
        self.traffic.add(1, x.nbytes)

    def recv(self, from_: int):
        number, *shape = self.host.recv(self._peer(from_, "from_")).tolist()
        dtypes = {np.dtype(code).num: np.dtype(code) for code in "?bBhHiIlLqQefdFD"}
        x = self.cupy.empty(tuple(shape), dtypes[number])
        self._exchange([], [(from_, x)])
        return x

    def broadcast(self, x, root: int = 0):
        x = self.cupy.array(x)
        self._peer(root, "root")
        self._count(Call("broadcast", x.shape, str(x.dtype), root), x.nbytes)
        others = [rank for rank in range(self.size) if rank != root]
        if self.rank == root:
            self._exchange([(rank, x) for rank in others], [])
        else:
            self._exchange([], [(root, x)])
        return x

    def barrier(self) -> None:
        self.cupy.cuda.get_current_stream().synchronize()
        self.host.barrier()

    def finish(self) -> None:
        self.host.finish()

    def start_all_reduce(self, x, onto=None) -> Pending:
        flat = self.cupy.ascontiguousarray(x).reshape(-1)
        counts = even_parts(flat.size, self.size)
        self._count(Call("all_reduce", x.shape, str(x.dtype)), x.nbytes)
        whole = self._gather(self._sum(flat, counts, onto), counts)
        return Pending(lambda: whole.reshape(x.shape))

    def start_reduce_scatter(self, x, counts: Sequence[int] | None = None, onto=None) -> Pending:
        x = self.cupy.ascontiguousarray(x)
        counts = self._counts(len(x), counts)
        self._count(Call("reduce_scatter", x.shape, str(x.dtype), counts=counts), x.nbytes)
        part = self._sum(x, counts, onto)
        return Pending(lambda: part)

    def start_all_gather(self, x, counts: Sequence[int] | None = None) -> Pending:
        x = self.cupy.ascontiguousarray(x)
        counts = (len(x),) * self.size if counts is None else tuple(counts)
        self._own_rows(counts, x)
        self._count(Call("all_gather", x.shape, str(x.dtype), counts=counts), x.nbytes)
        whole = self._gather(x, counts)
        return Pending(lambda: whole)

    def _sum(self, x, counts: Sequence[int], onto):
        """This rank's part of the sum of x over all ranks."""
        starts = np.cumsum([0, *counts])
        parts = [x[starts[rank] : starts[rank + 1]] for rank in range(self.size)]
        received = [parts[rank] if rank == self.rank else self.cupy.empty(parts[self.rank].shape, x.dtype)
                    for rank in range(self.size)]  # fmt: skip
        others = [rank for rank in range(self.size) if rank != self.rank]
        self._exchange([(rank, parts[rank]) for rank in others], [(rank, received[rank]) for rank in others])
        total = received[0].copy() if onto is None else onto + received[0]
        for part in received[1:]:
            total += part
        return total

    def _gather(self, x, counts: Sequence[int]):
        """The parts of all ranks behind each other."""
        starts = np.cumsum([0, *counts])
        whole = self.cupy.empty((sum(counts), *x.shape[1:]), x.dtype)
        parts = [whole[starts[rank] : starts[rank + 1]] for rank in range(self.size)]
        parts[self.rank][...] = x
        others = [rank for rank in range(self.size) if rank != self.rank]
        self._exchange([(rank, x) for rank in others], [(rank, parts[rank]) for rank in others])
        return whole

    def _exchange(self, sends: list[tuple], receives: list[tuple]) -> None:
        """Send and receive (rank, contiguous array) all at once, as bytes, on the current stream."""
        stream = self.cupy.cuda.get_current_stream().ptr
        sends, receives = ([(rank, array) for rank, array in pairs if array.size] for pairs in (sends, receives))
        self.nccl.groupStart()
        for rank, array in sends:
            self.peers.send(array.data.ptr, array.nbytes, self.nccl.NCCL_UINT8, rank, stream)
        for rank, array in receives:
            self.peers.recv(array.data.ptr, array.nbytes, self.nccl.NCCL_UINT8, rank, stream)
        self.nccl.groupEnd()
