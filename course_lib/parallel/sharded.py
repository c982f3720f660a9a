"""Optimisers whose state is spread over the ranks: ZeRO, stages 1 and 2. (Rajbhandari et al. 2020, "ZeRO: memory optimizations
toward training trillion parameter models", section 5)

Each parameter belongs to one rank, which alone keeps its moments and makes its step; then the ranks gather the new values.
Stage 1 ("optimizer") leaves all gradients on all ranks, stage 2 ("gradients") leaves each rank only those of its own.
Parameters are not cut, for a step of Muon needs a whole matrix; so the fullest rank holds at least what the largest needs.

A checkpoint holds the whole state, gathered by rank 0, so a run may go on with any number of ranks, sharded or not.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Mapping, Sequence

import numpy as np

from course_lib.parallel.buckets import Buckets
from course_lib.parallel.communicator import Communicator
from course_lib.recipes import Settings
from course_lib.run import make_optimiser, muon_matrices
from course_lib.tensor import Tensor

STAGES = {"optimizer": 1, "gradients": 2}


class Sharded:
    """The optimiser of the settings, over all ranks. Every method is called by all of them. stacked: as `make_optimiser`."""

    def __init__(self, settings: Settings, named: Sequence[tuple[str, Tensor]], stacked: Mapping[str, Sequence[int]],
                 ranks: Communicator, stage: int):  # fmt: skip
        self.ranks, self.stage, self.named = ranks, stage, list(named)
        muon = settings.optimiser == "muon"
        matrices = muon_matrices(self.named) if muon else set()
        self.owners = owners([(p.size * (1 if name in matrices else 2), name in matrices) for name, p in self.named],
                             ranks.size)  # fmt: skip
        own = [one for one, owner in zip(self.named, self.owners, strict=True) if owner == ranks.rank]
        if not any(name in matrices for name, _ in own):
            settings = dataclasses.replace(settings, optimiser="adamw")  # as Muon's rest
        self.own = make_optimiser(settings, own, stacked)
        self.ops = self.own.ops
        # the norm adds up squares in the order that the optimiser of one process has
        self.order = sorted(range(len(self.named)), key=lambda i: self.named[i][0] not in matrices)
        self.buckets: Buckets | None = None  # which gather what has changed

    @property
    def steps(self) -> int:
        return self.own.steps

    def zero_grad(self) -> None:
        for _, p in self.named:
            p.grad = None

    def step(self, rate: float) -> float:
        """One step of the own parameters, then the new values of all. Returns the norm of all gradients before clipping."""
        norm = self.norm()
        settings = self.ops.from_numpy(self.own.next_settings(rate))
        self.own.update(settings, self.ops.from_numpy(norm))
        self.zero_grad()
        self.buckets.gather(self.owners)
        return float(norm[0])

    def norm(self) -> np.ndarray:
        """Of all gradients, (1). In stage 2 the squares of each parameter come from its rank."""
        nodes = [p.node for _, p in self.named]
        if self.stage == 1:
            return np.array(self.ops.to_numpy(self.ops.global_norm([nodes[i].gradient for i in self.order])))
        squares = np.zeros(len(nodes))
        for i, owner in enumerate(self.owners):
            if owner == self.ranks.rank:
                squares[i] = float(self.ops.to_numpy(self.ops.global_norm([nodes[i].gradient]))[0]) ** 2
        return np.array([math.sqrt(math.fsum(self.ranks.host.all_reduce(squares)))], self.named[0][1].dtype)

    def state(self) -> dict[str, np.ndarray]:
        """The state of all parameters on rank 0, as one process would have it; on the others what they sent."""
        own = self.own.state()
        if self.ranks.rank:
            self.ranks.host.send(np.frombuffer(pickle.dumps(own), np.uint8), 0)
            return own
        for rank in range(1, self.ranks.size):
            own |= pickle.loads(self.ranks.host.recv(rank).tobytes())
        return own

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        """Take over this rank's part of a whole state."""
        self.own.load_state(state)

    def bytes(self) -> int:
        """Of the moments that this rank keeps."""
        return state_bytes(self.own)


def state_bytes(optimiser) -> int:
    """Memory of an optimiser's moments."""
    rest = getattr(optimiser, "rest", None)
    moments = [*optimiser.moments().values(), *(rest.moments().values() if rest else ())]
    return sum(array.size * array.dtype.itemsize for arrays in moments for array in arrays)


def owners(sizes: Sequence[tuple[int, bool]], ranks: int) -> list[int]:
    """A rank for each parameter (size of its state, whether it is a matrix of Muon's), so that all hold about as much.

    The largest goes first, to the rank that holds least so far (Graham 1969: at most 4/3 of the best). But first each rank gets
    one of the smallest that are AdamW's, for there must be something that AdamW does. Raises ValueError.
    """
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i][0], i))
    small = [i for i in reversed(order) if not sizes[i][1]][:ranks]
    if len(small) < ranks:
        raise ValueError(
            f"{ranks} ranks are too many to share this model's optimiser: it has only {len(small)} parameters that could go "
            "to different ranks. Use fewer, or leave --shard out."
        )
    found = {i: rank for rank, i in enumerate(small)}
    loads = [sizes[i][0] for i in small]
    for i in order:
        if i not in found:
            found[i] = loads.index(min(loads))
            loads[found[i]] += sizes[i][0]
    return [found[i] for i in range(len(sizes))]
