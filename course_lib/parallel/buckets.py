"""Gradients of many ranks added up in buckets, while the backward pass still makes the next ones. (Li et al. 2020, "PyTorch
Distributed: experiences on accelerating data parallel training")

A gradient is complete when the tape has visited its leaf. The last layer's come first, so buckets are filled from the last
parameter to the first, and each starts on its way as soon as it is full, in the same order on all ranks. Within a bucket nothing
is rounded otherwise than outside of one: sums are taken element by element, in the order of the ranks, whatever its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from course_lib.parallel.communicator import Communicator, Pending, even_parts
from course_lib.tensor import Tensor

BUCKET = 1 << 20  # bytes: enough to be worth a message, few enough that the last one, which nothing hides, is short


class Bucket:
    """Some parameters, and where each stands in the flat array of their gradients.

    counts: how many elements of it each rank adds up. pending, part: the sum on its way, and this rank's part of it so far.
    """

    def __init__(self, members: list[int], parameters: Sequence[Tensor], owners: Sequence[int] | None, size: int):
        self.members = members if owners is None else sorted(members, key=lambda i: (owners[i], i))
        ends = np.cumsum([0, *(parameters[i].size for i in self.members)]).tolist()
        self.places = {i: slice(*ends[n : n + 2]) for n, i in enumerate(self.members)}
        self.size = ends[-1]
        self.counts = even_parts(self.size, size)
        if owners is not None:
            self.counts = tuple(
                sum(parameters[i].size for i in self.members if owners[i] == rank) for rank in range(size)
            )
        self.pending: Pending | None = None
        self.part = None
        self.missing = 0  # gradients of this backward pass


class Buckets:
    """`begin(last)` before each backward pass of a step, `finish()` behind the last; then each parameter has the sum.

    owners: which rank each parameter belongs to; then only its own have a gradient on a rank in the end (whole=False), or all
    (whole=True), as without owners.
    """

    def __init__(self, communicator: Communicator, named: Sequence[tuple[str, Tensor]],
                 owners: Sequence[int] | None = None, whole: bool = True, bucket: int = BUCKET):  # fmt: skip
        self.communicator, self.whole = communicator, whole
        self.names, self.parameters = [name for name, _ in named], [p for _, p in named]
        self.ops = self.parameters[0].ops
        owners = None if whole else owners
        self.buckets = [Bucket(members, self.parameters, owners, communicator.size) for members in self._fill(bucket)]
        self.last, self.started = True, 0
        for bucket_ in self.buckets:
            for i in bucket_.members:
                self.parameters[i].node.accumulated = partial(self._complete, bucket_)

    def _fill(self, limit: int) -> list[list[int]]:
        filled: list[list[int]] = [[]]
        room = limit
        for i in reversed(range(len(self.parameters))):
            size = self.parameters[i].size * self.parameters[i].dtype.itemsize
            if filled[-1] and size > room:
                filled.append([])
                room = limit
            filled[-1].append(i)
            room -= size
        return filled

    def begin(self, last: bool) -> None:
        """A backward pass comes. last: of this step."""
        self.last, self.started = last, 0
        for bucket in self.buckets:
            bucket.missing = len(bucket.members)

    def _complete(self, bucket: Bucket) -> None:
        """One more gradient of a bucket is there."""
        bucket.missing -= 1
        while self.started < len(self.buckets) and not self.buckets[self.started].missing:
            self._start(self.buckets[self.started])
            self.started += 1
        for other in self.buckets[: self.started]:
            if other.pending is not None:
                other.pending.test()  # messages move only when somebody looks after them

    def _start(self, bucket: Bucket) -> None:
        if bucket.pending is not None:
            bucket.part = bucket.pending.wait()
        arrays = self.communicator.arrays
        flat = arrays.empty(bucket.size, self.parameters[0].dtype)
        for i, place in bucket.places.items():
            node = self.parameters[i].node
            flat[place] = self._take(node.gradient).reshape(-1)
            node.gradient = None  # its memory is free for the next
        if self.last and self.whole:
            bucket.pending = self.communicator.start_all_reduce(flat, bucket.part)
        else:
            bucket.pending = self.communicator.start_reduce_scatter(flat, bucket.counts, bucket.part)

    def finish(self) -> None:
        """Wait for the sums, and give each parameter its gradient. Raises RuntimeError naming one that had none."""
        for bucket in self.buckets:
            if bucket.missing:
                lacking = [self.names[i] for i in bucket.members if self.parameters[i].node.gradient is None]
                raise RuntimeError(
                    f"The parameter {(lacking or self.names)[0]!r} has no gradient: every rank must use every parameter."
                )
        for bucket in self.buckets:
            summed = bucket.pending.wait()
            bucket.pending = bucket.part = None
            start = 0 if self.whole else sum(bucket.counts[: self.communicator.rank])
            for i, place in bucket.places.items():
                if start <= place.start < start + len(summed):
                    values = summed[place.start - start : place.stop - start]
                    self.parameters[i].node.gradient = self._give(values.reshape(self.parameters[i].shape))

    def gather(self, owners: Sequence[int]) -> None:
        """Let all ranks have the values of the parameters that each owns and has changed."""
        for members in [bucket.members for bucket in self.buckets]:
            of_rank = [[i for i in members if owners[i] == rank] for rank in range(self.communicator.size)]
            counts = [sum(self.parameters[i].size for i in own) for own in of_rank]
            own = [self._take(self.parameters[i].storage.array).reshape(-1) for i in of_rank[self.communicator.rank]]
            arrays = self.communicator.arrays
            part = arrays.concatenate(own) if own else arrays.empty(0, self.parameters[0].dtype)
            whole, start = self.communicator.all_gather(part, counts), 0
            for rank, group in enumerate(of_rank):
                for i in group:
                    p = self.parameters[i]
                    if rank != self.communicator.rank:
                        p.storage.array = self._give(whole[start : start + p.size].reshape(p.shape))
                        p.storage.version += 1
                    start += p.size

    def _take(self, array):
        """A device's array as one that the communicator sends."""
        return self.ops.to_numpy(array) if self.communicator.arrays is np else array

    def _give(self, array):
        """The way back."""
        return self.ops.from_numpy(array) if self.communicator.arrays is np else array
