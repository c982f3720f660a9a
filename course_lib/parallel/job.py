"""What each rank of `course train` does, and how an error on one of them ends all."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from course_lib import parallel, training
from course_lib.native.machine import cores
from course_lib.parallel import launch, ring

BY_ITSELF = (OSError, ValueError, RuntimeError, MemoryError)  # errors whose text is a sentence for a person


@contextmanager
def rank(processes: int | None) -> Iterator[None]:
    """Around what a rank does: an error in there ends all ranks. processes: how many were asked for, if that was said."""
    try:
        if processes not in (None, launch.launched()):
            raise ValueError(
                f"mpiexec started {launch.launched()} processes, but --processes says {processes}: leave it out."
            )
        yield
    except BaseException as error:
        fail(error)


def train(preset: str | None, shard: str | None, settings: dict, answers: object = None) -> None:
    """What each rank of `course train` does. answers: what is told of the learner's that are in place, if any are."""
    launch.share_cores(cores(), launch.local_rank()[1])
    device, _ = training.choose_device(settings["device"])
    communicator = parallel.world(device)
    if answers is not None and communicator.rank == 0:
        print(f"{answers}\nCalls and times of your answers will be those on rank 0.", flush=True)
    parallel.train(preset, communicator=ring.chosen(communicator), shard=shard, **settings)
    communicator.finish()


def fail(error: BaseException) -> None:
    """End all ranks because this one cannot go on, and say why. Never returns."""
    from mpi4py import MPI

    rank = MPI.COMM_WORLD.Get_rank()
    if rank:
        time.sleep(1)  # where all fail alike, rank 0 says so for all, and ends them meanwhile
    if isinstance(error, BY_ITSELF) and not os.environ.get("COURSE_TRACEBACK"):
        print(f"Rank {rank}: {error}", file=sys.stderr, flush=True)
    else:
        traceback.print_exception(error)
        sys.stderr.flush()
    time.sleep(0.2)  # what was written is on its way through mpiexec, which ends at once
    MPI.COMM_WORLD.Abort(1)
