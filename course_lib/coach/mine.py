"""`course.use_my_answers()`: the answers that passed take the place of the course's own pieces, and a table says what that costs.

Promises: an answer is judged again before it goes in (rechecking.py); one that raises inside the library is replaced by ours on
the spot, and the table says so; `remove()` puts everything back. Each piece is reached through its module, its class, the table
of ops of the device cpu, or the kernels: those in CUDA C++ where they run, those in WGSL on the device webgpu.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import math
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from course_lib import clock, recipes, whose
from course_lib.coach import answers, catalogue, rechecking, show, state
from course_lib.coach.exercise import Exercise
from course_lib.coach.swaps import OURS, YOURS, Piece, Stopwatch, Swaps, where
from course_lib.cuda.source import KERNELS
from course_lib.run import Run

DEVICE = "cpu"  # where ops on NumPy arrays are replaced; kernels are wherever kernels run
TURN = 0.2  # seconds of timed steps, before it is the other code's turn
PLAIN = "plain"  # a step of the library as it is, nothing in any place

_active: list[Swaps] = []


def use(
    preset: str = "small", steps: int = 3, slow: bool = True, without: Collection[str] = (), device: str = DEVICE
) -> Swaps:
    """Put every passed answer in its place, and time training steps of a preset with ours and with yours.

    device: where these steps run: your kernels are launched on "simulator" or "cuda", your WGSL on "webgpu".
    steps: how often ours and yours take turns in being timed; the shortest step counts. 0 measures nothing. slow: False leaves
    out answers that take more than twice as long as ours. without: names of exercises to leave out. A second call begins anew.
    """
    remove()
    everything = [e for e in map(catalogue.load, catalogue.names()) if e.target and runs_on(device, e)]
    chosen = [e for e in everything if state.passing(e.name) is not None and e.name not in without]
    watch = Stopwatch()
    swaps = Swaps([Piece(exercise, watch) for exercise in chosen], len({where(e) for e in everything}), watch)
    for piece in swaps.pieces:
        _load(piece)
    if steps:
        settings = recipes.settings(preset, device)
        _measure(swaps, settings, device, steps)
        late = [piece for piece in swaps.pieces if not slow and piece.whose == YOURS and piece.slow]
        for piece in late:
            times = piece.per_step / piece.our_per_step
            piece.give_way(f"yours takes {times:.0f} times as long, and slow ones were to be left out")
        if late:
            _measure(swaps, settings, device, steps)
    for piece in swaps.pieces:
        if piece.whose == YOURS:
            piece.undo = install(piece, piece.answer, device)
        piece.calls, piece.seconds = 0, 0.0
    watch.seconds, swaps.began = 0.0, time.perf_counter()
    _active.append(swaps)
    whose.register(swaps.snapshot)
    return swaps


def remove() -> None:
    """Put everything back that `use` has replaced."""
    whose.register(None)
    while _active:
        _active.pop().remove()


def shaders() -> tuple[dict[tuple[str, str], Path], list[str]]:
    """Your kernels in WGSL that pass, by the file and function in whose place they go; and why others do not go in."""
    found, said = {}, []
    for exercise in map(catalogue.load, catalogue.names()):
        kind, _, file = exercise.target.rpartition(":")
        passed = state.passing(exercise.name) if kind == "wgsl" else None
        if passed is None:
            continue
        if why := rechecking.complaint(exercise.name, passed.text):
            said.append(f"{exercise.name}: ours goes into the page, for {why}")
        else:
            found[file, exercise.defines] = passed.path
    return found, said


def runs_on(device: str, exercise: Exercise) -> bool:
    """Whether a step on that device can reach what an exercise replaces; kernels in WGSL count on their device alone."""
    return (exercise.language == "wgsl") == (device == "webgpu") or not exercise.is_kernel


def install(piece: Piece, answer: Any, device: str = DEVICE) -> Callable[[], None]:
    """Put an answer (None: our own piece, to be timed) in its place; returns what takes it out again."""
    exercise = piece.exercise
    kind, _, name = exercise.target.rpartition(":")
    if kind in ("kernel", "wgsl"):
        launching = importlib.import_module(f"course_lib.devices.{'gpu' if kind == 'kernel' else 'webgpu'}.launching")

        def told(error: Exception | None, seconds: float) -> None:
            if error is None:
                piece.count(seconds if device in whose.HOST else 0.0)  # a GPU still computes when the launch returns
            else:
                piece.give_way(f"yours failed with {type(error).__name__}: {error}")

        return launching.replace(name, exercise.defines, answer or KERNELS / name, told)
    if kind == "op":
        from course_lib import devices

        ours = getattr(devices.ops(DEVICE), name)
        return devices.overlay(name, _watched(piece, answer or ours, ours), DEVICE).remove
    holder, attribute = answers.resolve(name)
    ours = vars(holder)[attribute]
    setattr(holder, attribute, _watched(piece, answer or ours, ours))
    return lambda: setattr(holder, attribute, ours)


def _load(piece: Piece) -> None:
    """Judge the passed answer again and load it; whatever goes wrong leaves ours in place, and is said."""
    exercise, passed = piece.exercise, state.passing(piece.exercise.name)
    try:
        with show.doing() as stage:
            why = rechecking.complaint(
                exercise.name, passed.text, lambda words: stage(f"{exercise.name}, once more: {words}")
            )
        if why:
            piece.give_way(why)
            return
        piece.answer = passed.path if exercise.is_kernel else answers.load_answer(exercise, passed.text)
        piece.digest = hashlib.sha256(passed.text.encode()).hexdigest()[:16]
        piece.whose = YOURS
    except Exception as error:
        piece.give_way(f"yours could not be loaded: {type(error).__name__}: {error}")


def _watched(piece: Piece, function: Any, ours: Any) -> Any:
    """A function that counts and times its calls, and gives way to ours for good if it raises what ours does not."""
    if isinstance(function, type):
        return _watched_class(piece, function)
    watch = piece.stopwatch

    @functools.wraps(function)
    def watched(*args, **kwargs):
        if piece.why:
            return ours(*args, **kwargs)
        watch.depth += 1
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if function is ours:
                raise
            result = ours(*args, **kwargs)  # if ours raises too, the answer is not at fault
            piece.give_way(f"yours raised {type(error).__name__}: {error}")
            return result
        finally:
            watch.depth -= 1
            piece.count(time.perf_counter() - began)

    if function is not ours:
        watched.answer = piece.digest
    return watched


def _watched_class(piece: Piece, cls: type) -> type:
    """A class whose methods are counted and timed."""
    own = {name: value for name, value in vars(cls).items() if inspect.isfunction(value)}
    kept = {name: value for name, value in own.items() if not name.startswith("__") or name in ("__init__", "__call__")}
    methods = {name: _watched(piece, method, method) for name, method in kept.items()}
    return type(cls.__name__, (cls,), {**methods, "__doc__": cls.__doc__, "__module__": cls.__module__})


def _measure(swaps: Swaps, settings: recipes.Settings, device: str, rounds: int) -> None:
    """Time steps of the library as it is, with our pieces watched, and with yours, in turns; the least of each counts."""
    yours = [piece for piece in swaps.pieces if piece.whose == YOURS]
    placed = {PLAIN: [], OURS: [(piece, None) for piece in yours], YOURS: [(piece, piece.answer) for piece in yours]}
    runs, least = {}, dict.fromkeys(placed, math.inf)
    for piece in yours:
        piece.per_step = piece.our_per_step = math.inf
    for _ in range(rounds):
        for code in placed if yours else (PLAIN,):
            undo = [install(piece, answer, device) for piece, answer in placed[code]]
            try:
                run = runs.get(code) or runs.setdefault(code, clock.rehearsal(settings, device))
                least[code] = min(least[code], _turn(run, yours, code))
            finally:
                for one in reversed(undo):
                    one()
    swaps.our_step_seconds = least[PLAIN]
    swaps.prediction = clock.predicted(run, least[YOURS if yours else PLAIN])


def _turn(run: Run, yours: list[Piece], code: str) -> float:
    """Seconds of the shortest of some steps, after one that warms up; and of each piece in them."""
    run.step()
    least, until = math.inf, time.perf_counter() + TURN
    while least == math.inf or time.perf_counter() < until:
        for piece in yours:
            piece.calls, piece.seconds = 0, 0.0
        began = time.perf_counter()
        run.step()
        least = min(least, time.perf_counter() - began)
        for piece in yours:
            if code == OURS:
                piece.our_per_step = min(piece.our_per_step, piece.seconds)
            elif code == YOURS:
                piece.per_step, piece.calls_per_step = min(piece.per_step, piece.seconds), piece.calls
    return least
