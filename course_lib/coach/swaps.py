"""What `course.use_my_answers()` has put in place, and the table that says whose code runs where and what that costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from course_lib.clock import Prediction
from course_lib.coach.exercise import Exercise

SLOW = 2.0  # an answer that takes this many times as long as ours counts as slow
NOTICED = 1e-4  # seconds per step below which nothing is called slow
YOURS, OURS = "yours", "ours"


class Stopwatch:
    """Time inside of answers, each moment counted once however they call each other."""

    def __init__(self) -> None:
        self.depth, self.seconds = 0, 0.0


@dataclass
class Swap:
    """One target, what was put in its place, and what was measured. What an answer calls is part of its own time."""

    exercise: Exercise
    stopwatch: Stopwatch = field(default_factory=Stopwatch, repr=False)
    undo: Callable[[], None] = field(default=lambda: None, repr=False)
    whose: str = OURS
    why: str = ""  # ours runs after all
    answer: Any = None  # a function, a class, or the file of a kernel
    digest: str = ""  # of its text
    calls: int = 0  # since it was put in place, or in the step that is being measured
    seconds: float = 0.0
    calls_per_step: int | None = None  # None: not measured
    per_step: float = 0.0  # seconds, the least of several steps
    our_per_step: float = 0.0  # the same of our own code in that place

    def count(self, seconds: float) -> None:
        """One more call, which took so long."""
        self.calls += 1
        self.seconds += seconds
        if not self.stopwatch.depth:
            self.stopwatch.seconds += seconds

    def give_way(self, why: str) -> None:
        """Ours runs from now on."""
        self.whose, self.why = OURS, why

    @property
    def compared(self) -> bool:
        """Whether yours and ours were both timed: what is not called costs nothing."""
        return bool(self.calls_per_step and self.per_step and self.our_per_step)

    @property
    def slow(self) -> bool:
        return self.compared and self.per_step > SLOW * self.our_per_step + NOTICED


@dataclass
class Swaps:
    """What is in place. `fraction` counts operations; `swapped` has one entry for each target that was passed."""

    swapped: list[Swap]
    targets: int
    stopwatch: Stopwatch
    began: float = field(default_factory=time.perf_counter)
    prediction: Prediction | None = None  # of a run of the preset that was measured
    step_seconds: float = 0.0  # of the shortest step, with what is in place
    our_step_seconds: float = 0.0

    @property
    def yours(self) -> int:
        return sum(swap.whose == YOURS for swap in self.swapped)

    @property
    def fraction(self) -> str:
        """ "3 of 12 operations are yours"."""
        return f"{self.yours} of {self.targets} operations are yours"

    def remove(self) -> None:
        """Put the course's own code back."""
        for swap in reversed(self.swapped):
            swap.undo()
            swap.undo, swap.whose = lambda: None, OURS

    def snapshot(self) -> dict:
        """What was counted until now, as whose.py wants it."""
        return {
            "operations": self.targets,
            "seconds": time.perf_counter() - self.began,
            "yours": self.stopwatch.seconds,
            "answers": {
                swap.exercise.name: {"calls": swap.calls, "seconds": swap.seconds}
                for swap in self.swapped
                if swap.whose == YOURS
            },
            "replaced": {swap.exercise.name: swap.why for swap in self.swapped if swap.why},
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Operation, where it runs, whose code, calls and milliseconds per step, remark."""
        return [
            (
                swap.exercise.name, where(swap.exercise), swap.whose,
                "" if swap.calls_per_step is None else f"{swap.calls_per_step:,}",
                f"{1000 * swap.per_step:.2f}" if swap.compared else "",
                f"{1000 * swap.our_per_step:.2f}" if swap.compared else "", swap.why,
            )
            for swap in self.swapped
        ]  # fmt: skip

    def __str__(self) -> str:
        head = ("operation", "in place of", "code", "calls/step", "ms/step", "ours", "")
        columns = [
            (title, *cells) for title, *cells in zip(head, *self.rows(), strict=True) if title == "code" or any(cells)
        ]  # what was not measured has none
        widths = [max(map(len, column)) for column in columns]
        rows = zip(*columns, strict=True)
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{self.fraction}.", *(lines if self.swapped else []), *self.remarks()])

    __repr__ = __str__

    def remarks(self) -> list[str]:
        """What a training step and a whole run take, and which answers are slow, in words."""
        if self.prediction is None:
            return []
        said = [f"A training step of {self.prediction.settings.preset} takes {1000 * self.step_seconds:.0f} ms"]
        if any(swap.calls_per_step and swap.whose == YOURS for swap in self.swapped):
            said[0] += f" with your code and {1000 * self.our_step_seconds:.0f} ms with ours"
        elif self.yours:
            said[0] += f"; it calls none of your operations on {self.prediction.device}"
        said[0] += f". {self.prediction}."
        for swap in self.swapped:
            if swap.slow and swap.whose == YOURS:
                name = swap.exercise.name
                said.append(
                    f"{name} is slow: {1000 * swap.per_step:.2f} ms per step against {1000 * swap.our_per_step:.2f} ms of "
                    f'ours. To leave it out: course.use_my_answers(without=["{name}"]).'
                )
        return said

    def _repr_html_(self) -> str:
        head = ("operation", "in place of", "code", "calls per step", "ms per step", "ours", "")
        left = "<td style='text-align:left'>"
        body = "".join("<tr>" + "".join(f"{left}{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        table = f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{body}</table>" if self.swapped else ""
        said = "".join(f"<p>{escape(line)}</p>" for line in self.remarks())
        return f"<p><strong>{self.fraction}.</strong></p>{table}{said}"


def where(exercise: Exercise) -> str:
    """What a target is, in words."""
    kind, _, name = exercise.target.rpartition(":")
    kernel = f"{exercise.defines} in {name}"
    return {"op": f"op {name} of cpu", "kernel": kernel, "wgsl": kernel}.get(kind, name.removeprefix("course_lib."))
