"""A learner's kernel under the eyes of the simulator: every launch is watched, and its counters are kept."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import paths
from course_lib.coach import kernel_source
from course_lib.coach.exercise import Exercise, Goal
from course_lib.coach.outcome import HEADER
from course_lib.coach.slips.kernel_edits import SWITCH
from course_lib.cuda import Kernel, sanitize, variables
from course_lib.cuda.report import Report

BYTES = "bytes of global memory moved"  # the name of a counter
LANES, MOST_IDLE = 32, 4  # lanes of a warp, and how many of them may idle where a goal is a rate
RATES = {  # word of a goal -> what a line has of it in each request
    "sectors": lambda line: line.sectors_per_request,
    "wavefronts": lambda line: line.wavefronts_per_request,
    "idle lanes": lambda line: LANES - line.active_lanes,
}


class Watched:
    """Launched as a Kernel is. Runs the checked build, with the threads in a shuffled order if `seed` is not 0.

    Of a template, answer(...) launches the first of `Exercise.instances`, and answer.instance("32, 4")(...) another.
    """

    runs = (0, 1)  # seeds: threads in order, then in a shuffled one

    def __init__(self, instances: dict[str, Any], timeout: float, read_only: dict[str, dict[Any, str]]):
        self.instances, self.timeout, self.seed = instances, timeout, 0
        self.kernel = next(iter(instances.values()))
        self.reports: list = []
        # kernel -> argument that the task declares read-only -> its name; and the names of those that were written all the same
        self.read_only, self.overwritten = read_only, []
        self.launched: list[Kernel] = []

    def compile(self) -> None:
        """Raises CompileError with the learner's line."""
        self.kernel.compiled(checked=True)

    def switch(self, number: int) -> None:
        """Which change is in force, of a text of many (slips/kernel_edits.py); 0 for none. Reports begin anew."""
        self.reports, self.overwritten = [], []
        for kernel in self.instances.values():
            variables.write(kernel.compiled(checked=True), kernel.name, SWITCH, np.int32(number))

    def __call__(self, *launch: Any, **options: Any) -> None:
        self._launch(self.kernel, *launch, **options)

    def instance(self, arguments: str) -> Callable[..., None]:
        """One instance of a template, launched as a Kernel is."""
        return functools.partial(self._launch, self.instances[arguments])

    def _launch(self, kernel: Kernel, grid, block, args, shared_mem: int = 0, **options: Any) -> None:
        if kernel not in self.launched:
            self.launched.append(kernel)
        with self.kept(kernel.name.split("<")[0], dict(enumerate(args))):
            self.reports.append(
                sanitize(
                    kernel, grid, block, args, shared_mem, timeout=self.timeout, seed=options.get("seed", self.seed)
                )
            )

    @contextlib.contextmanager
    def kept(self, kernel: str, arguments: dict[Any, Any]) -> Iterator[None]:
        """Note in `overwritten` which arrays that the task declares read-only are others afterwards."""
        arrays = {key: one for key, one in arguments.items() if isinstance(one, np.ndarray)}
        read_only = {key: name for key, name in self.read_only.get(kernel, {}).items() if key in arrays}
        written = [one for key, one in arrays.items() if key not in read_only]
        before = {  # what lies in an array that is written, as where a task computes in place, may change
            key: arrays[key].copy()
            for key in read_only
            if not any(np.may_share_memory(arrays[key], y) for y in written)
        }
        yield
        for key, array in before.items():
            name = read_only[key]
            if array.tobytes() != arguments[key].tobytes() and name not in self.overwritten:
                self.overwritten.append(name)


def load(text: str, exercise: Exercise) -> Watched:
    """The kernel of an answer, to be launched under watch, with all instances if it is a template."""
    file = written(text, exercise)
    names = {"": exercise.defines} if "" in exercise.instances or not exercise.instances else {}
    for given in filter(None, exercise.instances):
        names[given] = given if "<" in given else f"{exercise.defines}<{given}>"
    kernels = {given: Kernel(file, name, host=False) for given, name in names.items()}
    return Watched(kernels, exercise.seconds / 2, kernel_source.read_only(exercise))


def written(text: str, exercise: Exercise) -> Path:
    """A file of this text, so that reports name `NAME.cu` and their lines are the learner's."""
    return paths.kept(paths.cache("answers"), f"{exercise.name}{exercise.suffix}", f"{text}\n{exercise.given}")


def counters(reports: list[Report]) -> dict[str, float]:
    """What a learner compares: named numbers over all launches; {} where nothing could be counted."""
    lines = [line for report in reports for line in report.lines]
    if not lines:
        return {}
    found: dict[str, float] = {BYTES: float(sum(r.bytes_moved for r in reports))}
    for op, word in (("read", "reading"), ("write", "writing")):
        of_kind = [line for line in lines if line.space == "global" and line.op == op]
        if requests := sum(line.requests for line in of_kind):
            sectors = sum(line.requests * line.sectors_per_request for line in of_kind)
            found[f"sectors for each request, {word} global memory"] = sectors / requests
    shared = [line for line in lines if line.space == "shared"]
    if requests := sum(line.requests for line in shared):
        waves = sum(line.requests * line.wavefronts_per_request for line in shared)
        found["wavefronts for each request to shared memory"] = waves / requests
    return found


def costliest(reports: list[Report], goal: str) -> str:
    """The line that a goal is missed by most, in words; "" where the goal counts something else."""
    lines = [line for report in reports for line in report.lines]
    space = "shared" if "shared" in goal else "global"
    lines = [line for line in lines if line.space == space]
    if word := re.search(r"\b(?:read|writ)", goal):
        lines = [line for line in lines if line.op == ("read" if word[0] == "read" else "write")]
    if counted := re.match("instructions|requests|bytes", goal):
        unit = counted[0]
        of_line: dict[tuple[str, int], int] = {}
        for line in lines:
            number = line.bytes_moved if goal == BYTES else line.requests
            of_line[line.file, line.line] = of_line.get((line.file, line.line), 0) + number
        found = [(number, place, f"{number:,} {unit}") for place, number in of_line.items()]
    else:
        measure = next((measure for word, measure in RATES.items() if word in goal), None)
        rated = [(measure(line), (line.file, line.line)) for line in lines] if measure else []
        found = [(number, place, f"{number:.4g} for each request") for number, place in rated]
    if not found:
        return ""
    _, (file, number), most = max(found)
    where = f"{file}, line {number}," if file.endswith(HEADER) else f"Line {number}"
    return f" {where} has the most: {most}."


# What a Goal counts. Each takes the reports and gives a number, or None where this compiler cannot tell.


def sectors(op: str):
    """Sectors for each request to global memory, `op` "read" or "write"; the ideal for floats is 4."""
    return lambda reports: counters(reports).get(
        f"sectors for each request, {'reading' if op == 'read' else 'writing'} global memory"
    )


def requests(op: str | None, space: str = "global"):
    """Requests of warps, `op` "read", "write" or None for both: how many instructions asked for memory."""

    def counted(reports: list[Report]) -> float | None:
        lines = [line for report in reports for line in report.lines if line.space == space]
        found = [line.requests for line in lines if op in (None, line.op)]
        return float(sum(found)) if found else None

    return counted


def bank_wavefronts(reports: list[Report]) -> float | None:
    """Wavefronts for each request to shared memory; 1 is free of bank conflicts."""
    return counters(reports).get("wavefronts for each request to shared memory")


def idle_lanes(space: str, *ops: str):
    """Lanes of a warp that take no part in a request, on average, `ops` "read" and "write"; 0 where all 32 work."""

    def counted(reports: list[Report]) -> float | None:
        found = [line for report in reports for line in report.lines if line.space == space and line.op in ops]
        total = sum(line.requests for line in found)
        return LANES - sum(line.requests * line.active_lanes for line in found) / total if total else None

    return counted


def bytes_moved(reports: list[Report]) -> float | None:
    """Bytes of global memory that all launches move."""
    return counters(reports).get(BYTES)


def rates(
    moved: float, read: float | None = None, write: float | None = None, wavefronts: float | None = None
) -> tuple[Goal, ...]:
    """Goals on what a request may cost, and those without which a thread that does all the work alone would reach them.

    moved: bytes of global memory that may move in all. read, write: sectors for each request to global memory. wavefronts: for
    each request to shared memory. Where a rate is given, at most MOST_IDLE lanes may idle.
    """
    goals, sectors_of = [], {"read": read, "write": write}
    given = {op: most for op, most in sectors_of.items() if most is not None}
    for op, most in given.items():
        word = {"read": "reading", "write": "writing"}[op]
        goals.append(Goal(f"sectors for each request, {word} global memory", sectors(op), most))
    if given:
        goals.append(Goal("idle lanes in a request to global memory", idle_lanes("global", *given), MOST_IDLE))
    goals.append(Goal(BYTES, bytes_moved, moved))
    if wavefronts is not None:
        goals.append(Goal("wavefronts for each request to shared memory", bank_wavefronts, wavefronts))
        goals.append(Goal("idle lanes in a request to shared memory", idle_lanes("shared", "read", "write"), MOST_IDLE))
    return tuple(goals)
