"""`course.use_my_answers()`: answers that passed replace the course's own functions and kernels; a table says what that costs.

Promises: an answer is judged again before it goes in (answering.recheck). One that raises inside the library is replaced by
ours at once, and the table says so. `remove()` puts everything back. Each target is reached through its module, its class, the
table of ops of the device cpu, or the kernels: those in CUDA C++ where they run, those in WGSL on the device webgpu.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
import time
from collections.abc import Callable, Collection
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from course_lib import clock, recipes, whose
from course_lib.coach import answering, answers, catalogue, show, state
from course_lib.coach.exercise import Exercise
from course_lib.coach.swaps import OURS, YOURS, Stopwatch, Swap, Swaps, where
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
    swaps = Swaps([Swap(exercise, watch) for exercise in chosen], len({where(e) for e in everything}), watch)
    for swap in swaps.swapped:
        _load(swap)
    if steps:
        settings = recipes.settings(preset, device)
        _measure(swaps, settings, device, steps)
        late = [swap for swap in swaps.swapped if not slow and swap.whose == YOURS and swap.slow]
        for swap in late:
            times = swap.per_step / swap.our_per_step
            swap.give_way(f"yours takes {times:.0f} times as long, and slow ones were to be left out")
        if late:
            _measure(swaps, settings, device, steps)
    for swap in swaps.swapped:
        if swap.whose == YOURS:
            swap.undo = install(swap, swap.answer, device)
        swap.calls, swap.seconds = 0, 0.0
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
        if why := answering.recheck(exercise.name, passed.text):
            said.append(f"{exercise.name}: the page gets our kernel, because {why}")
        else:
            found[file, exercise.defines] = passed.path
    return found, said


def runs_on(device: str, exercise: Exercise) -> bool:
    """Whether a step on that device can reach what an exercise replaces; kernels in WGSL count on their device alone."""
    return (exercise.language == "wgsl") == (device == "webgpu") or not exercise.is_kernel


def install(swap: Swap, answer: Any, device: str = DEVICE) -> Callable[[], None]:
    """Put an answer (None: our own code, to be timed) in its place; returns a function that undoes this."""
    exercise = swap.exercise
    kind, _, name = exercise.target.rpartition(":")
    if kind in ("kernel", "wgsl"):
        from course_lib.devices import replacing

        def told(error: Exception | None, seconds: float) -> None:
            if error is None:
                swap.count(seconds if device in whose.HOST else 0.0)  # a GPU still computes when the launch returns
            else:
                swap.give_way(f"yours failed with {type(error).__name__}: {error}")

        return replacing.replace(name, exercise.defines, answer or KERNELS / name, told)
    if kind == "op":
        from course_lib import devices

        ours = getattr(devices.ops(DEVICE), name)
        return devices.overlay(name, _watched(swap, _in_order(answer) if answer else ours, ours), DEVICE).remove
    holder, attribute = answers.resolve(name)
    ours = vars(holder)[attribute]
    setattr(holder, attribute, _watched(swap, answer or ours, ours))
    return lambda: setattr(holder, attribute, ours)


def _load(swap: Swap) -> None:
    """Judge the passed answer again and load it; whatever goes wrong leaves ours in place, and is said."""
    exercise, passed = swap.exercise, state.passing(swap.exercise.name)
    try:
        with show.doing() as stage:
            why = answering.recheck(
                exercise.name, passed.text, lambda words: stage(f"{exercise.name}, once more: {words}")
            )
        if why:
            swap.give_way(why)
            return
        swap.answer = passed.path if exercise.is_kernel else answers.load_answer(exercise, passed.text)
        swap.digest = hashlib.sha256(passed.text.encode()).hexdigest()[:16]
        swap.whose = YOURS
    except Exception as error:
        swap.give_way(f"yours could not be loaded: {type(error).__name__}: {error}")


def _in_order(answer: Callable) -> Callable:
    """An op whose results lie row after row in memory, as the next op needs them; a transposed result is right all the same."""

    @functools.wraps(answer)
    def function(*args, **kwargs):
        result = answer(*args, **kwargs)
        if isinstance(result, tuple | list):  # several results in a list are right, and the tape takes a tuple
            return tuple(np.asarray(one, order="C") if isinstance(one, np.ndarray) else one for one in result)
        return np.asarray(result, order="C") if isinstance(result, np.ndarray) else result

    return function


def _watched(swap: Swap, function: Any, ours: Any) -> Any:
    """A function that counts and times its calls, and gives way to ours for good if it raises what ours does not."""
    if isinstance(function, type):
        return _watched_class(swap, function, ours)
    watch = swap.stopwatch

    @functools.wraps(function)
    def watched(*args, **kwargs):
        if swap.why:
            return ours(*args, **kwargs)
        watch.depth += 1
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if function is ours:
                raise
            result = ours(*args, **kwargs)  # if ours raises too, the answer is not at fault
            swap.give_way(f"yours raised {type(error).__name__}: {error}")
            return result
        finally:
            watch.depth -= 1
            swap.count(time.perf_counter() - began)

    if function is not ours:
        watched.answer = swap.digest
    return watched


def _watched_class(swap: Swap, cls: type, ours: type) -> type:
    """A class whose methods are counted and timed; where one raises, that of ours takes over, on the same attributes."""
    own = {name: value for name, value in vars(cls).items() if inspect.isfunction(value)}
    kept = {name: value for name, value in own.items() if not name.startswith("__") or name in ("__init__", "__call__")}
    methods = {name: _watched(swap, method, _taking_over(swap, name, method, ours)) for name, method in kept.items()}
    return type(cls.__name__, (cls,), {**methods, "__doc__": cls.__doc__, "__module__": cls.__module__})


def _taking_over(swap: Swap, name: str, method: Callable, ours: type) -> Callable:
    """Our method of that name, for an object that the learner's class made; `method` where ours has none or it is ours."""
    our = getattr(ours, name, method)

    def take_over(self, *args, **kwargs):
        try:
            return our(self, *args, **kwargs)
        except AttributeError as error:
            if error.obj is not self:
                raise
            raise RuntimeError(
                f"{swap.exercise.name}: {swap.why or f'yours raised {error.__context__!r}'}, and ours cannot take over, because "
                f"the object has no {error.name!r}. Fix your answer, or leave it out: "
                f'course.use_my_answers(without=["{swap.exercise.name}"]).'
            ) from error

    return method if our is method else take_over


def _measure(swaps: Swaps, settings: recipes.Settings, device: str, rounds: int) -> None:
    """Time steps of the library as it is, with ours timed in the same places, and with yours, in turns. The shortest is
    compared; a run is predicted from the mean."""
    yours = [swap for swap in swaps.swapped if swap.whose == YOURS]
    placed = {PLAIN: [], OURS: [(swap, None) for swap in yours], YOURS: [(swap, swap.answer) for swap in yours]}
    runs, steps = {}, {code: [] for code in placed}
    for swap in yours:
        swap.per_step = swap.our_per_step = math.inf
    for _ in range(rounds):
        for code in placed if yours else (PLAIN,):
            undo = [install(swap, answer, device) for swap, answer in placed[code]]
            try:
                run = runs.get(code) or runs.setdefault(code, clock.rehearsal(settings, device))
                steps[code].append(_turn(run, yours, code))
            finally:
                for one in reversed(undo):
                    one()
    now = YOURS if yours else PLAIN
    swaps.step_seconds, swaps.our_step_seconds = (min(least for least, _ in steps[code]) for code in (now, PLAIN))
    swaps.prediction = clock.predicted(run, fmean(mean for _, mean in steps[now]))


def _turn(run: Run, yours: list[Swap], code: str) -> tuple[float, float]:
    """Seconds of the shortest of some steps, after one that warms up, and their mean; of each answer in them the shortest."""
    pace, least = clock.Pace(run), math.inf
    with pace.training():
        run.step()
    until = time.perf_counter() + TURN
    while least == math.inf or time.perf_counter() < until:
        for swap in yours:
            swap.calls, swap.seconds = 0, 0.0
        before = pace.spent
        with pace.training():
            run.step()
        least = min(least, pace.spent - before)
        for swap in yours:
            if code == OURS:
                swap.our_per_step = min(swap.our_per_step, swap.seconds)
            elif code == YOURS:
                swap.per_step, swap.calls_per_step = min(swap.per_step, swap.seconds), swap.calls
    return least, pace.per_step
