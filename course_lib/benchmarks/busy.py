"""`course bench busy`: training steps beside two programs that want the cores too, and on the machine as it is.

A step is one of the preset's recipe, on random tokens. In turn, medians: with the threads that the policy of
course_lib/native/thread_count.py chooses, with one, and with one for each core. Bar: beside the two, the policy takes at most
1.3 times as long as the better of the others.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course_lib import clock, devices, native, recipes
from course_lib.devices.cpu import compiled

CASES = {"micro": 40, "small": 10, "12m": 2}  # preset: steps of a turn
ROUNDS = 5
BUSY = 2  # programs beside ours
BAR = 1.3
# It also ends when this process does, in whatever way.
BUSY_PROGRAM = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): sum(range(10000))"


def run(json_path: str | os.PathLike | None = None) -> list[dict[str, Any]]:
    """Measure, print, write as JSON if asked; returns the rows: preset, busy, ms of a step by each choice, ratio, bar."""
    devices.ops("cpu")
    if not hasattr(compiled.loops, "set_threads"):
        raise RuntimeError(
            "This measures the threads of the compiled loops, and there are none: `course doctor` says why."
        )
    most = native.threads()
    if most == 1:
        raise RuntimeError("This compares one thread with several, and this process may use one core only.")
    print(f"ms for a training step; in turn, medians; load {os.getloadavg()[0]:.1f} before")
    print(f"{'':8}{'beside':>12}{'chosen':>10}{'1 thread':>10}{f'{most} threads':>11}{'ratio':>8}{'at most':>9}")
    rows = []
    for preset, steps in CASES.items():
        step = clock.rehearsal(recipes.settings(preset), "cpu").step
        choice = native.Choice(native.candidates())
        for busy in (0, BUSY):
            with busy_programs(busy):
                row = {"preset": preset, "busy": busy} | measure(step, choice, most, steps)
            rows.append(row | {"bar": BAR if busy else None})
            bar = f"{BAR:9.2f}{'  missed' if row['ratio'] > BAR else ''}" if busy else ""
            print(f"{preset:8}{f'{busy} programs':>12}{row['chosen']:10.1f}{row['one']:10.1f}{row['most']:11.1f}"
                  f"{row['ratio']:8.2f}{bar}", flush=True)  # fmt: skip
    if json_path is not None:
        Path(json_path).write_text(json.dumps({"threads": most, "rows": rows}, indent=1) + "\n")
    return rows


def measure(step: Callable[[], Any], choice: native.Choice, most: int, steps: int) -> dict[str, float]:
    """Milliseconds of a step with the threads that `choice` chooses, with one, with `most`; ratio: the first to the best."""
    ways = {"chosen": choice, "one": native.Choice([1]), "most": native.Choice([most])}
    times: dict[str, list[float]] = {way: [] for way in ways}
    try:
        for _ in range(1 + ROUNDS):
            for way, chooses in ways.items():
                times[way].append(statistics.fmean(_timed(step, chooses) for _ in range(steps)))
    finally:
        compiled.loops.set_threads(most)
    found = {way: 1e3 * statistics.median(taken[1:]) for way, taken in times.items()}  # the first round warms up
    return found | {"ratio": found["chosen"] / min(found["one"], found["most"])}


def _timed(step: Callable[[], Any], choice: native.Choice) -> float:
    compiled.loops.set_threads(choice.count)  # at its end a step of a run may set another number, for the next
    began = time.perf_counter()
    step()
    seconds = time.perf_counter() - began
    choice.record(seconds)
    return seconds


@contextmanager
def busy_programs(count: int) -> Iterator[list[subprocess.Popen]]:
    """Programs that compute for nothing, until the block ends."""
    command = [sys.executable, "-c", BUSY_PROGRAM, str(os.getpid())]
    programs = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield programs
    finally:
        for program in programs:
            program.kill()
        for program in programs:
            program.wait()
