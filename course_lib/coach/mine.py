"""`course.use_my_answers()`: the answers that passed take the place of the course's own pieces, and a table says what that costs.

Promises: an answer that raises inside the library is replaced by ours on the spot, and the table says so; `remove()` puts
everything back. Each piece is reached through its module, its class, the table of ops of the device cpu, or the kernels: those in
CUDA C++ where they run, those in WGSL on the device webgpu.
"""

from __future__ import annotations

import functools
import importlib
import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from html import escape
from typing import Any

from course_lib.coach import answers, catalogue, state
from course_lib.coach.exercise import Exercise

DEVICE = "cpu"  # where ops on NumPy arrays are replaced; kernels are wherever kernels run
SLOW = 2.0  # an answer that takes this many times as long as ours counts as slow
WARM_UP = 3  # training steps before any is timed
YOURS, OURS = "yours", "ours"


@dataclass
class Piece:
    """One target, what was put in its place, and what was measured. Seconds and calls are of `Swaps.steps` steps, and what a
    piece calls is part of its own time."""

    exercise: Exercise
    undo: Callable[[], None] = lambda: None
    whose: str = OURS
    why: str = ""
    calls: int = 0
    seconds: float = 0.0
    our_seconds: float = 0.0

    def count(self, began: float) -> None:
        self.calls += 1
        self.seconds += time.perf_counter() - began


@dataclass
class Swaps:
    """What is in place. `share` counts operations; `pieces` has one entry for each target that was passed."""

    pieces: list[Piece]
    preset: str
    targets: int
    steps: int = 0
    step_seconds: float = math.nan
    our_step_seconds: float = math.nan
    run_steps: int = 0

    @property
    def yours(self) -> int:
        return sum(piece.whose == YOURS for piece in self.pieces)

    @property
    def share(self) -> str:
        """ "3 of 12 operations are yours"."""
        return f"{self.yours} of {self.targets} operations are yours"

    def remove(self) -> None:
        """Put the course's own pieces back."""
        for piece in reversed(self.pieces):
            piece.undo()
            piece.undo, piece.whose = lambda: None, OURS

    def rows(self) -> list[tuple[str, ...]]:
        """Operation, where it runs, whose code, calls and milliseconds per step, remark."""
        found = []
        for piece in self.pieces:
            each = max(self.steps, 1)
            timed = piece.calls and self.steps
            found.append((
                piece.exercise.name, where(piece.exercise), piece.whose, f"{piece.calls / each:,.0f}" if self.steps else "",
                f"{1000 * piece.seconds / each:.2f}" if timed else "", f"{1000 * piece.our_seconds / each:.2f}" if timed else "",
                piece.why,
            ))  # fmt: skip
        return found

    def __str__(self) -> str:
        head = ("operation", "in place of", "code", "calls/step", "ms/step", "ours", "")
        rows = [head, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{self.share}.", *(lines if self.pieces else []), *self.prediction()])

    __repr__ = __str__

    def prediction(self) -> list[str]:
        """What a run of the preset will take, in words."""
        if not self.steps:
            return []
        per_step, ours = 1000 * self.step_seconds, 1000 * self.our_step_seconds
        minutes = self.step_seconds * self.run_steps / 60
        took = f"{minutes:.0f} minutes" if minutes >= 2 else f"{60 * minutes:.0f} seconds"
        compared = f" with your code and {ours:.0f} ms with ours" if self.pieces else ""
        return [
            f"A training step of {self.preset} takes {per_step:.0f} ms{compared}: {self.run_steps:,} steps should take about "
            f"{took} here."
        ]

    def _repr_html_(self) -> str:
        head = ("operation", "in place of", "code", "calls per step", "ms per step", "ours", "")
        left = "<td style='text-align:left'>"
        body = "".join("<tr>" + "".join(f"{left}{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        table = f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{body}</table>" if self.pieces else ""
        said = "".join(f"<p>{escape(line)}</p>" for line in self.prediction())
        return f"<p><strong>{self.share}.</strong></p>{table}{said}"


_active: list[Swaps] = []


def use(
    preset: str = "small", steps: int = 3, slow: bool = True, without: Collection[str] = (), device: str = DEVICE
) -> Swaps:
    """Put every passed answer in its place, time `steps` training steps of a preset with ours and with yours.

    device: where these steps run: your kernels are launched on "simulator" or "cuda", your WGSL on "webgpu".
    steps: 0 measures nothing. slow: False leaves out answers that take more than twice as long as ours. without: names of
    exercises to leave out. A second call begins anew.
    """
    remove()
    everything = [e for e in map(catalogue.load, catalogue.names()) if e.target and runs_on(device, e)]
    chosen = [e for e in everything if state.passing(e.name) is not None and e.name not in without]
    swaps = Swaps([Piece(exercise) for exercise in chosen], preset, len({where(e) for e in everything}))
    _active.append(swaps)
    run = _run(preset, swaps, device) if steps else None
    if run is not None:
        for piece in swaps.pieces:  # ours, timed where they stand
            piece.undo = install(piece, None)
        swaps.our_step_seconds = _time(run, steps, swaps)
        for piece in swaps.pieces:
            piece.undo()
            piece.our_seconds, piece.seconds, piece.calls = piece.seconds, 0.0, 0
    for piece in swaps.pieces:
        _take(piece)
    if run is not None:
        swaps.steps = steps
        swaps.step_seconds = _time(run, steps, swaps) if swaps.pieces else swaps.our_step_seconds
        late = [p for p in swaps.pieces if not slow and p.whose == YOURS and p.seconds > SLOW * p.our_seconds > 0]
        for piece in late:
            piece.undo()
            piece.undo, piece.whose = lambda: None, OURS
            piece.why = (
                f"yours takes {piece.seconds / piece.our_seconds:.0f} times as long, and slow ones were to be left out"
            )
        if late:
            swaps.step_seconds = _time(run, steps, swaps)
    return swaps


def remove() -> None:
    """Put everything back that `use` has replaced."""
    while _active:
        _active.pop().remove()


def runs_on(device: str, exercise: Exercise) -> bool:
    """Whether a step on that device can reach what an exercise replaces; kernels in WGSL count on their device alone."""
    return (exercise.language == "wgsl") == (device == "webgpu") or not exercise.is_kernel


def where(exercise: Exercise) -> str:
    """What a target is, in words."""
    kind, _, name = exercise.target.rpartition(":")
    kernel = f"{exercise.defines} in {name}"
    return {"op": f"op {name} of {DEVICE}", "kernel": kernel, "wgsl": kernel}.get(
        kind, name.removeprefix("course_lib.")
    )


def install(piece: Piece, answer: Any) -> Callable[[], None]:
    """Put an answer (None: our own piece, to be timed) in its place; returns what takes it out again."""
    exercise = piece.exercise
    kind, _, name = exercise.target.rpartition(":")
    if kind in ("kernel", "wgsl"):
        launching = importlib.import_module(f"course_lib.devices.{'gpu' if kind == 'kernel' else 'webgpu'}.launching")
        if answer is None:
            return lambda: None

        def told(error: Exception | None) -> None:
            if error is None:
                piece.calls += 1
            else:
                piece.whose, piece.why = OURS, f"yours failed with {type(error).__name__}: {error}"

        return launching.replace(name, exercise.defines, answer, told)
    if kind == "op":
        from course_lib import devices

        ours = getattr(devices.ops(DEVICE), name)
        return devices.overlay(name, _watched(piece, answer or ours, ours), DEVICE).remove
    holder, attribute = answers.resolve(name)
    ours = vars(holder)[attribute]
    setattr(holder, attribute, _watched(piece, answer or ours, ours))
    return lambda: setattr(holder, attribute, ours)


def _take(piece: Piece) -> None:
    """Load the passed answer and install it; whatever goes wrong leaves ours in place, and is said."""
    exercise, passed = piece.exercise, state.passing(piece.exercise.name)
    try:
        answer = passed.path if exercise.is_kernel else answers.load_answer(exercise, passed.text)
        piece.undo = install(piece, answer)
        piece.whose = YOURS
    except Exception as error:
        piece.why = f"yours could not be loaded: {type(error).__name__}: {error}"


def _watched(piece: Piece, function: Any, ours: Any) -> Any:
    """A function that counts and times its calls, and gives way to ours for good if it raises what ours does not."""
    if isinstance(function, type):
        return _watched_class(piece, function)

    @functools.wraps(function)
    def watched(*args, **kwargs):
        if function is ours or piece.why:
            began = time.perf_counter()
            try:
                return ours(*args, **kwargs)
            finally:
                piece.count(began)
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        except Exception as error:
            result = ours(*args, **kwargs)  # if ours raises too, the answer is not at fault
            piece.whose, piece.why = OURS, f"yours raised {type(error).__name__}: {error}"
            return result
        finally:
            piece.count(began)

    return watched


def _watched_class(piece: Piece, cls: type) -> type:
    """A class whose objects are counted as they are made."""

    def __init__(self, *args, **kwargs):
        began = time.perf_counter()
        cls.__init__(self, *args, **kwargs)
        piece.count(began)

    return type(cls.__name__, (cls,), {"__init__": __init__, "__doc__": cls.__doc__, "__module__": cls.__module__})


def _run(preset: str, swaps: Swaps, device: str) -> Any:
    """A run of the preset on a short corpus, to take steps of."""
    from course_lib import data, recipes
    from course_lib.model import GPT, GPTConfig
    from course_lib.run import Run

    settings = recipes.settings(preset, device)
    swaps.run_steps = settings.steps
    config = GPTConfig.preset(preset, **settings.model)
    corpus = data.prepare("stories", None, config.vocab_size, config.context, 0, 1000, progress=False)
    return Run(settings, corpus, GPT(config, device=device, seed=0))


def _time(run: Any, steps: int, swaps: Swaps) -> float:
    """Seconds of one training step, the shortest of `steps` after some that only warm up; what is counted is of these."""
    for _ in range(WARM_UP):
        run.step()
    for piece in swaps.pieces:
        piece.seconds, piece.calls = 0.0, 0
    taken = []
    for _ in range(steps):
        began = time.perf_counter()
        run.step()
        taken.append(time.perf_counter() - began)
    return min(taken)
