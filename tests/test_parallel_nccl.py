"""The communicator on NCCL, against a stand-in for CuPy whose NCCL copies bytes between virtual ranks. No card has run it."""

import ctypes
from types import SimpleNamespace

import numpy as np
from test_parallel_training import SETTINGS, alone, losses, same

from course_lib import parallel, progress
from course_lib.parallel.nccl import Nccl

UINT8 = 1  # ncclUint8 of nccl.h


class Array(np.ndarray):
    """An array that has the address of its memory where CuPy has it."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def stand_in(host):
    """A module like cupy for one virtual rank."""
    queue = []

    class NcclCommunicator:
        def __init__(self, size, unique, rank):
            assert (size, rank) == (host.size, host.rank) and unique == (7,) * 128

        def send(self, pointer, count, datatype, peer, stream):
            assert datatype == UINT8 and stream == 5 and queue, "inside of a group"
            queue.append(("send", pointer, count, peer))

        def recv(self, pointer, count, datatype, peer, stream):
            assert datatype == UINT8 and stream == 5 and queue, "inside of a group"
            queue.append(("recv", pointer, count, peer))

    def end():
        for kind, pointer, count, peer in queue[1:]:
            if kind == "send":
                host.send(np.frombuffer(ctypes.string_at(pointer, count), np.uint8), peer)
        for kind, pointer, count, peer in queue[1:]:
            if kind == "recv":
                content = host.recv(peer)
                assert content.size == count
                ctypes.memmove(pointer, content.tobytes(), count)
        queue.clear()

    nccl = SimpleNamespace(
        NCCL_UINT8=UINT8, NCCL_UNIQUE_ID_BYTES=128, NcclCommunicator=NcclCommunicator,
        get_unique_id=lambda: (7,) * 128, groupStart=lambda: queue.append("start"), groupEnd=end,
    )  # fmt: skip
    stream = SimpleNamespace(ptr=5, synchronize=lambda: None)
    return SimpleNamespace(
        cuda=SimpleNamespace(nccl=nccl, get_current_stream=lambda: stream),
        empty=lambda shape, dtype: np.full(shape, 9, dtype).view(Array),
        array=lambda x: np.array(x).view(Array),
        ascontiguousarray=lambda x: np.ascontiguousarray(x).view(Array),
        concatenate=lambda arrays: np.concatenate(arrays).view(Array),
    )


def test_results_and_counts_are_those_of_virtual_ranks():
    def work(c):
        found = []
        for n, dtype in ((1, "f8"), (7, "f4"), (12, "i4")):
            x = (np.random.default_rng([c.rank, n]).normal(size=(n, 2)) * 100).astype(dtype)
            part = c.reduce_scatter(x, [n, 0, 0])
            found += [
                c.all_reduce(x),
                c.all_gather(x),
                c.broadcast(x, 1),
                part,
                c.reduce_scatter(x, [n, 0, 0], onto=part),
            ]
            onto = np.full(2 * n // 3 + (c.rank < 2 * n % 3), 3, dtype)
            found += [c.start_all_reduce(x, onto).wait(), c.all_gather(x[: c.rank], range(3)) if n > 3 else x]
            c.barrier()
            c.send(x[: c.rank + 1], (c.rank + 1) % c.size)
            found.append(c.recv((c.rank - 1) % c.size))
        return [(a.shape, a.dtype, a.tobytes()) for a in found], c.traffic

    expected = parallel.virtual(3, work)
    assert parallel.virtual(3, lambda host: work(Nccl(host, stand_in(host)))) == expected


def test_training_over_it_gives_the_bits_of_one_process(text):
    """The arrays stay where they are: what NCCL gives is what the optimiser reads."""

    def work(host):
        communicator = Nccl(host, stand_in(host))
        settings = SETTINGS | {"text": text, "accumulate": 2, "steps": 3, "display": progress.Quiet()}
        return (parallel.train("micro", communicator=communicator, **settings),
                parallel.train("micro", communicator=communicator, shard="gradients", **settings))  # fmt: skip

    one = alone(text, accumulate=2, steps=3)
    for plain, sharded in parallel.virtual(2, work):
        assert same(plain, one)
        assert all(np.allclose(a, b, rtol=1e-5, atol=1e-6)
                   for a, b in zip(sharded.model.state().values(), one.model.state().values(), strict=True))  # fmt: skip
    assert len(losses(one)) == 3
