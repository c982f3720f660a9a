"""What one rank of `course bench many` measures; rank 0 writes the figures."""

import json
import statistics
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from course_lib import clock, parallel, recipes
from course_lib.parallel.buckets import BUCKET
from course_lib.parallel.communicator import Communicator
from course_lib.parallel.training import ParallelRun

SIZES = (1, 1_000, 30_000, 1_000_000, 12_322_816)  # float32 numbers; the last are all gradients of 12m
EVERYTHING = 1 << 40  # bytes: one bucket, which leaves when the backward pass is over


def all_reduces(communicator: Communicator) -> list[tuple[int, float]]:
    """(bytes, median seconds of the slowest rank) for each size."""
    found = []
    for n in SIZES:
        x, times = np.ones(n, np.float32), []
        for _ in range(20 if n < 100_000 else 5):
            communicator.barrier()
            start = perf_counter()
            communicator.all_reduce(x)
            times.append(perf_counter() - start)
        found.append((4 * n, max(communicator.all_gather(np.array([statistics.median(times)])).tolist())))
    return found


def steps(communicator: Communicator, preset: str, count: int, kind: str) -> tuple[float, float, float, float]:
    """Median seconds of a step and of its waiting, as it is and without overlap, taken in turn."""
    accumulate = communicator.size if kind == "weak" else 1
    settings = recipes.settings(preset, "cpu", accumulate=accumulate, compute="float32")
    runs = []
    for bucket in (BUCKET, EVERYTHING):
        run = clock.rehearsal(settings, "cpu")
        runs.append((ParallelRun(settings, run.corpus, run.model, communicator=communicator, bucket=bucket), [], []))
    for _ in range(count + 1):
        for run, times, waits in runs:
            communicator.barrier()
            start, waited = perf_counter(), communicator.traffic.waited
            run.step()
            times.append(perf_counter() - start)
            waits.append(communicator.traffic.waited - waited)
    return tuple(statistics.median(figures[1:]) for _, *both in runs for figures in both)


def main(preset: str, count: int, out: str) -> None:
    communicator = parallel.world("cpu")
    figures = {"all_reduce": all_reduces(communicator)} | {
        kind: steps(communicator, preset, count, kind) for kind in ("weak", "strong")
    }
    if communicator.rank == 0:
        Path(out).write_text(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
