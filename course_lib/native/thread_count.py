"""How many threads the compiled loops and the simulator use, matrix products among them.

Threads that wait sleep, and results do not depend on how many there are. So the number only matters for the time, and is
chosen by measuring: `with step():` around each step of a run tries all cores, half of them, ... one, keeps the fastest, and
tries again when steps become slower, or now and then while some cores are left idle.

OPENBLAS_NUM_THREADS or OMP_NUM_THREADS in the environment settles the number; then nothing is tried.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .machine import cores

TRIAL_STEPS, TRIAL_SECONDS = 3, 0.15  # with each number of threads, at least
RECENT = 5  # steps whose median is compared with what the choice had promised
SLOWER = 1.25
AGAIN = 100  # steps after which a choice that leaves cores idle is tried again,
AGAIN_SECONDS, AT_LEAST = 60, 20  # or after so long, where that is not a few steps


class Choice:
    """The number of threads for the next step, `count`, from the times of those before. Knows no clock and no threads."""

    def __init__(self, candidates: list[int]):  # the most first
        self.candidates = candidates
        self.count = candidates[0]
        self.promised: float | None = None  # seconds of a step with the choice; None while candidates are tried
        self.times: list[float] = []  # of steps since the choice
        self.tried: dict[int, list[float]] = {count: [] for count in candidates}
        self.warm = False  # the first step ever compiles, allocates, fills caches: it counts for nothing

    def record(self, seconds: float) -> None:
        """A step with `count` threads took so long."""
        if len(self.candidates) == 1 or not self.warm:
            self.warm = True
        elif self.promised is None:
            self.tried[self.count].append(seconds)
            self._go_on_trying()
        else:
            self.times = [*self.times[1 - AGAIN :], seconds]
            slower = len(self.times) >= RECENT and statistics.median(self.times[-RECENT:]) > SLOWER * self.promised
            long = len(self.times) >= AT_LEAST and sum(self.times) >= AGAIN_SECONDS
            if slower or ((long or len(self.times) == AGAIN) and self.count < self.candidates[0]):
                self.promised, self.times = None, []
                self.tried = {count: [] for count in self.candidates}
                self.count = self.candidates[0]

    def _go_on_trying(self) -> None:
        """Candidates take turns, step by step: whatever else the machine begins to do then hits all of them."""
        if all(len(times) >= TRIAL_STEPS and sum(times) >= TRIAL_SECONDS for times in self.tried.values()):
            means = {count: statistics.fmean(times) for count, times in self.tried.items()}
            self.count = min(means, key=means.__getitem__)
            self.promised = means[self.count]
        else:
            self.count = self.candidates[(self.candidates.index(self.count) + 1) % len(self.candidates)]


def threads() -> int:
    """The most threads that we use: what the environment says, else one for each core that we may run on."""
    return _asked_for() or cores()


def candidates() -> list[int]:
    """All cores, half of them, ... one; or what the environment settles."""
    counts = [threads()]
    while counts[-1] > 1 and not _asked_for():
        counts.append(counts[-1] // 2)
    return counts


def _asked_for() -> int | None:
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit():
            return max(1, int(os.environ[name]))
    return None


_choice: Choice | None = None
_followers: list[Callable[[int], None]] = []  # who must be told of another number


def follow(tell: Callable[[int], None]) -> None:
    """Call tell(count) now, and whenever another number of threads is chosen."""
    _followers.append(tell)
    tell(_choice.count if _choice else threads())


def on_trial() -> int | None:
    """The number of threads of the next step while several are tried; None once one is chosen."""
    return _choice.count if _choice and len(_choice.candidates) > 1 and _choice.promised is None else None


@contextmanager
def step() -> Iterator[None]:
    """Around a step of a run: measures it, and chooses the number of threads for the next."""
    global _choice
    if not _followers:  # then no step would use another number
        yield
        return
    if _choice is None:
        _choice = Choice(candidates())
    began, before = time.perf_counter(), _choice.count
    yield
    _choice.record(time.perf_counter() - began)
    if _choice.count != before:
        for tell in _followers:
            tell(_choice.count)
