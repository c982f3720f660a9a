"""Data parallel training: each rank has the whole model and its part of each batch, and all make the same step.

    parallel.train("small", communicator=parallel.world(), out="runs/two")      what each rank of `course train` calls

The batch stays the one of the recipe. A step has `accumulate` batches; if they do not divide among the ranks, each is cut into
slices of as many rows. Part p of a step (a batch or a slice) belongs to rank p mod N, so no two ranks read the same rows, and
gradients are added part by part, from left to right. So N ranks give the bits of one process with `--accumulate N`, and the
number of ranks may change when a run goes on: where `accumulate` divides among both numbers, nothing changes, else sums are cut
otherwise, and losses agree to about 1e-6 (with dropout not: its masks are drawn for each part).
"""

from __future__ import annotations

import math
import pickle
import zlib
from collections.abc import Collection
from functools import partial
from pathlib import Path

import numpy as np

from course_lib import data, native, progress, training
from course_lib.model import GPT
from course_lib.parallel.buckets import BUCKET, Buckets
from course_lib.parallel.communicator import CommunicationError, Communicator
from course_lib.parallel.sharded import STAGES, Sharded
from course_lib.recipes import Settings
from course_lib.run import VALIDATION_BATCH, Diverged, Run
from course_lib.run_folder import RunFolder

CHECK_EVERY = 20  # steps between two comparisons of the ranks
MANY = 100  # windows: of fewer, two ranks may well draw the same


class RanksDiffer(CommunicationError):
    """A rank has other parameters than the rest, or reads what another one reads."""


def train(preset: str | None = None, *, communicator: Communicator, out: str | Path | None = None, shard: str | None = None,
          display: progress.Display | None = None, watch: Collection[int] = (), bucket: int = BUCKET,
          **settings) -> training.Trained:  # fmt: skip
    """`training.train` on each rank of a communicator: the same arguments, on all of them.

    shard: None, or what is spread over the ranks: "optimizer" (ZeRO 1) or "gradients" too (ZeRO 2). bucket: bytes.
    Rank 0 shows and writes everything. Raises what training.train does, and CommunicationError.
    """
    if shard is not None and shard not in STAGES:
        raise ValueError(f"There is nothing called {shard!r} to shard: choose one of {', '.join(STAGES)}.")
    if communicator.rank:
        display, watch = progress.Quiet(), ()
    ranks = Ranks(communicator, shard, bucket)
    return training.train(preset, out=out, display=display, watch=watch, processes=ranks, **settings)


class Ranks(training.OneProcess):
    """Who takes part in a run: all ranks of a communicator."""

    def __init__(self, communicator: Communicator, shard: str | None, bucket: int):
        self.communicator, self.shard = communicator, shard
        folder = Written if communicator.rank == 0 else Elsewhere
        self.folder = partial(folder, communicator=communicator)
        self.run = partial(ParallelRun, communicator=communicator, shard=shard, bucket=bucket)

    def first(self, make):
        """Rank 0 makes it, then the others, who find it made where they share a disk."""
        made = make() if self.communicator.rank == 0 else None
        self.communicator.barrier()
        return made if self.communicator.rank == 0 else make()

    def describe(self) -> list[str]:
        threads = native.threads()
        kept = f"; {self.shard} sharded (ZeRO stage {STAGES[self.shard]})" if self.shard else ""
        return [f"processes: {self.communicator.size}, each on {threads} thread{'s' if threads > 1 else ''}{kept}"]


class Written(RunFolder):
    """The folder of a run on rank 0, which tells the others what it found there."""

    def __init__(self, path: Path, resume: bool, communicator: Communicator):
        super().__init__(path, resume)
        self.communicator = communicator

    def __enter__(self) -> RunFolder:
        super().__enter__()
        broadcast_object(self.communicator, (self.saved, self.command()))
        return self


class Elsewhere:
    """The same folder on all other ranks: nothing is written."""

    def __init__(self, path: Path, resume: bool, communicator: Communicator):
        self.path, self.communicator = path, communicator

    def __enter__(self) -> Elsewhere:
        self.saved, self.typed = broadcast_object(self.communicator, None)
        return self

    def __exit__(self, *exception) -> None:
        pass

    def command(self) -> str:
        return self.typed

    def open_log(self, step: int) -> list:
        return []

    def log(self, record: dict) -> None:
        pass

    def save_due(self) -> bool:
        return False

    def save(self, run: Run) -> None:
        if run.shard:
            run.optimiser.state()  # rank 0 gathers it

    def finish_saving(self, run: Run) -> None:
        pass


def broadcast_object(communicator: Communicator, value):
    """The value of rank 0, on all ranks."""
    host = communicator.host
    content = np.frombuffer(pickle.dumps(value), np.uint8) if communicator.rank == 0 else np.zeros(0, np.uint8)
    length = int(host.broadcast(np.array([content.size]))[0])
    return pickle.loads(host.broadcast(content if communicator.rank == 0 else np.zeros(length, np.uint8)).tobytes())


class ParallelRun(Run):
    """A run of which this process is one rank."""

    def __init__(self, settings: Settings, corpus: data.Corpus, model: GPT, tally=None, *, communicator: Communicator,
                 shard: str | None = None, bucket: int = BUCKET):  # fmt: skip
        self.communicator, self.shard = communicator, shard
        self.slices = slices(settings, communicator.size)
        self.parts = settings.accumulate * self.slices  # of one step, over all ranks
        super().__init__(settings, corpus, model, tally)
        self.alike: set[tuple[int, int]] = set()  # ranks that read the same when that was last looked at
        self.captured = None  # a step waits for other ranks: it is no one launch
        self.owners = self.optimiser.owners if shard else None
        named = list(model.named_parameters())
        self.buckets = Buckets(communicator, named, self.owners, shard != "gradients", bucket)
        if shard:
            self.optimiser.buckets = self.buckets

    def _make_optimiser(self):
        if self.shard is None:
            return super()._make_optimiser()
        named, stacked = list(self.model.named_parameters()), self.model.stacked()
        return Sharded(self.settings, named, stacked, self.communicator, STAGES[self.shard])

    def own_parts(self) -> range:
        """Which parts of a step are this rank's."""
        return range(self.communicator.rank, self.parts, self.communicator.size)

    def _batches(self) -> list[tuple[np.ndarray, ...]]:
        s, rows, found = self.settings, self.settings.batch // self.slices, []
        for part in self.own_parts():
            number, piece = divmod(part, self.slices)
            batch = self._batch(self.done * s.accumulate + number)
            found.append(tuple(array[piece * rows : (piece + 1) * rows] for array in batch))
        return found

    def _plain_step(self, rate: float, batches: list, counts: list[int]) -> tuple[float, float]:
        s, host = self.settings, self.communicator.host
        if self.done % CHECK_EVERY < 2:
            self._compare(batches)
        scored = int(host.all_gather(np.array(counts)).sum())
        self.optimiser.zero_grad()
        losses = []
        for part, batch, count in zip(self.own_parts(), batches, counts, strict=True):
            self.model.random.set_step(s.seed, self.done * self.parts + part)
            loss = self.model.loss(*batch)  # ()
            if self.parts > 1:
                loss = loss * (count / scored)
            losses.append(loss.item())
            self.buckets.begin(last=len(losses) == len(batches))
            loss.backward()
        of_ranks = host.all_gather(np.array([losses]))  # (size, own parts)
        self._check_ranks(of_ranks)
        total = sum(of_ranks.T.ravel().tolist(), 0.0)  # part by part, as one process adds them up
        self._check(total)
        self.buckets.finish()
        norm = float(self.optimiser.step(rate))
        if self.shard and self.copies is not None:
            self.copies = self._round_weights()
        return total, norm

    def _check_ranks(self, losses: np.ndarray) -> None:
        for rank, row in enumerate(losses.tolist()):
            for loss in row:
                if not math.isfinite(loss):
                    raise Diverged(f"The loss of rank {rank} is {loss} at step {self.done + 1}.")

    def _compare(self, batches: list) -> None:
        """Compare the parameters and the batches of all ranks. Raises RanksDiffer."""
        ops, weights, rows = self.model.random.ops, 0, 0
        for _, p in self.model.named_parameters():
            weights = zlib.crc32(np.ascontiguousarray(ops.to_numpy(p.storage.array)), weights)
        for idx, *_ in batches:
            rows = zlib.crc32(idx, rows)
        of_ranks = self.communicator.host.all_gather(np.array([[weights, rows]]))  # (size, 2)
        hashes, reads = of_ranks.T.tolist()
        most = max(hashes, key=lambda one: (hashes.count(one), one == hashes[0]))
        if odd := [str(rank) for rank, one in enumerate(hashes) if one != most]:
            raise RanksDiffer(
                f"Before step {self.done + 1} the parameters of rank {', '.join(odd)} differ from those of the other ranks: "
                "something there computes otherwise, or changes weights by itself. Go on from the last checkpoint."
            )
        alike = {(reads.index(one), rank) for rank, one in enumerate(reads) if reads.index(one) < rank}
        again = sorted(alike & self.alike)  # once may be chance
        self.alike = alike
        if again and len(self.corpus.train.tokens) - self.corpus.context > MANY:
            raise RanksDiffer(
                f"Ranks {again[0][0]} and {again[0][1]} read the same windows, in step {self.done + 1} and before: each must "
                "train on parts of its own, or the batch is smaller than it seems."
            )

    def _validation_loss(self) -> float:
        """Each rank takes its part of the batches; they are added up as one process does."""
        batches = enumerate(self.validation.batches(VALIDATION_BATCH))
        rank, size = self.communicator.rank, self.communicator.size
        own = [self.model.loss(idx, y).item() if i % size == rank else 0.0 for i, (idx, y) in batches]
        losses = iter(self.communicator.host.all_reduce(np.array(own)).tolist())
        return self.validation.mean_loss(lambda idx, y: next(losses), VALIDATION_BATCH)

    def agree(self, stop: bool, save: bool) -> tuple[bool, bool]:
        """A signal on any rank stops all; when to save is for rank 0 to say."""
        flags = np.array([stop, save and self.communicator.rank == 0], np.int64)
        stop, save = (self.communicator.host.all_reduce(flags) > 0).tolist()
        return stop, save


def slices(settings: Settings, ranks: int) -> int:
    """Into how many slices each batch is cut so that the ranks get as many. Raises ValueError."""
    found = ranks // math.gcd(settings.accumulate, ranks)
    if settings.batch % found:
        batches = (
            f"{settings.accumulate} batches of {settings.batch}" if settings.accumulate > 1 else f"{settings.batch}"
        )
        raise ValueError(
            f"A step of this run reads {batches} windows, which {ranks} processes cannot share evenly: choose a number of "
            "processes that divides it, or another --batch."
        )
    return found
