"""Memory of a training step from one block, with planned offsets, so that a step allocates nothing after the first ones.

A step does the same things each time, so its arrays come and go in the same order. One step is written down: how large each
array is, when it is made, and when the last reference to it goes. From that a plan gives each array an offset in one block, so
that arrays that live at the same time never overlap and all others may. From then on the k-th array of a step gets the k-th
offset. Nothing trusts the plan blindly: an array that was not foreseen, or whose memory is still in use, is made the ordinary
way, and the next step is written down again.

The plan is greedy, a variant of what the field uses (Pisarchyk and Lee 2020, "Efficient memory management for deep neural net
inference", who take the smallest gap that fits): the largest first, each at the lowest offset that is free for as long as it
lives.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

ALIGNMENT = 256  # bytes; what cudaMalloc promises
FOREVER = 1 << 60


@dataclass(frozen=True)
class Life:
    """One array of a step: its bytes, and the first and last moment of its life. Moments count arrays made and freed."""

    size: int
    begins: int
    ends: int = FOREVER

    def meets(self, other: Life) -> bool:
        return self.begins < other.ends and other.begins < self.ends


@dataclass(frozen=True)
class Plan:
    """An offset in the block for each array, in the order in which they are made."""

    lives: tuple[Life, ...] = ()
    offsets: tuple[int, ...] = ()
    bytes: int = 0  # of the block: the high-water mark

    @property
    def apart(self) -> int:
        """Bytes if no two arrays shared memory."""
        return sum(rounded(life.size) for life in self.lives)

    @property
    def least(self) -> int:
        """Bytes alive at the fullest moment: no plan can do with less."""
        return max((sum(rounded(o.size) for o in self.lives if o.begins <= life.begins < o.ends) for life in self.lives),
                   default=0)  # fmt: skip


def rounded(size: int) -> int:
    """Bytes that an array takes up in the block."""
    return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT


def plan(lives: Sequence[Life]) -> Plan:
    """Offsets for arrays of known lives: the largest first, each at the lowest that is free while it lives."""
    offsets = [0] * len(lives)
    placed: list[int] = []
    for i in sorted(range(len(lives)), key=lambda i: (-lives[i].size, lives[i].begins)):
        taken = sorted((offsets[j], offsets[j] + rounded(lives[j].size)) for j in placed if lives[j].meets(lives[i]))
        at = 0
        for begin, end in taken:
            if at + rounded(lives[i].size) <= begin:
                break
            at = max(at, end)
        offsets[i] = at
        placed.append(i)
    return Plan(
        tuple(lives), tuple(offsets), max((o + rounded(x.size) for o, x in zip(offsets, lives, strict=True)), default=0)
    )


@dataclass
class Arena:
    """The arrays of a step, from `memory`: the ordinary way at first, then from one block.

    memory.empty(shape, dtype) makes an array; memory.block(bytes) the block; memory.lend(block, offset, shape, dtype, token)
    an array inside it, which keeps `token` alive for as long as it or a view of it lives.
    """

    memory: object
    warm_up: int = 1  # steps before one is written down: they fill caches that later steps find full
    plan: Plan = field(default_factory=Plan)
    steps: int = 0
    surprises: int = 0  # arrays of the last planned step that the plan did not foresee

    def __post_init__(self) -> None:
        self._block = None
        self._living: dict[int, tuple[int, int]] = {}  # lease -> its span in the block
        self._writing: list[list[int]] | None = None
        self._moment = self._next = self._leases = 0
        self._followed = False

    @property
    def ready(self) -> bool:
        """Whether the last step followed the plan to the end."""
        return self._followed and self.surprises == 0

    @contextmanager
    def step(self) -> Iterator[None]:
        """Around one training step: arrays that are made inside come from here."""
        planned = self._block is not None and not self.surprises
        self._writing = None if planned or self.steps < self.warm_up else []
        self._followed = planned
        self._moment = self._next = self.surprises = 0
        try:
            yield
        finally:
            self.steps += 1
            if self._writing is not None:
                lives = [Life(*life) for life in self._writing]
                self._writing = None
                self.plan = plan(lives)
                self._block = self.memory.block(self.plan.bytes)
                self._living.clear()

    def empty(self, shape, dtype):
        """An array for the step at hand."""
        shape = tuple(shape) if np.ndim(shape) else (int(shape),)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if self._writing is not None:
            return self._write_down(shape, dtype, size)
        if self._block is not None:
            offset = self._find(size)
            if offset is not None:
                return self._lend(offset, size, shape, dtype)
            self.surprises += 1
        return self.memory.empty(shape, dtype)

    def _write_down(self, shape, dtype, size: int):
        token, life, writing = Token(), [size, self._moment], self._writing
        self._moment += 1
        writing.append(life)

        def ended() -> None:
            if self._writing is writing:  # else it outlived its step
                life.append(self._moment)
                self._moment += 1

        weakref.finalize(token, ended).atexit = False
        return self.memory.lend(self.memory.block(size), 0, shape, dtype, token)

    def _find(self, size: int) -> int | None:
        """The offset of the next array of this size in the plan, if no living array overlaps it."""
        for i in range(self._next, len(self.plan.lives)):
            if self.plan.lives[i].size == size:
                begin = self.plan.offsets[i]
                end = begin + rounded(size)
                if any(begin < e and b < end for b, e in self._living.values()):
                    return None
                self._next = i + 1
                return begin
        return None

    def _lend(self, offset: int, size: int, shape, dtype):
        token, lease, living = Token(), self._leases, self._living
        self._leases += 1
        living[lease] = (offset, offset + rounded(size))
        weakref.finalize(token, living.pop, lease, None).atexit = False
        return self.memory.lend(self._block, offset, shape, dtype, token)


class Token:
    """Lives as long as the array that it was lent with."""

    __slots__ = ("__weakref__",)
