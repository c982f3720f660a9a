"""The learner's door to the exercises: `from course_lib import course`, then `course.hint()` and its like.

Each takes the name of an exercise; without one it means the last that was run or asked about. The same words work in a
terminal: `course hint NAME`.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class Word:
    """A function whose repr says how to call it, for one who leaves its parentheses out."""

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.__wrapped__(*args, **options)

    def __repr__(self) -> str:
        return f"This is a function: call it as course.{self.__name__}(). {self.__doc__.splitlines()[0]}"


@Word
def check(name: str = "") -> None:
    """Judge the newest answer to an exercise once more."""
    from course_lib.coach import answering, show
    from course_lib.coach.exercise import ExerciseError

    try:
        name = _named(name)
        with show.doing() as stage:
            verdict = answering.answer(name, answering.kept(name), stage=stage)
    except ExerciseError as error:
        show.sentence(str(error))
        return
    show.verdict(verdict)


@Word
def hint(name: str = "") -> None:
    """The next hint; after the last, a worked example of the same idea. A short exercise has one hint and no example."""
    _say("hint", name)


@Word
def solution(name: str = "") -> None:
    """Our solution: after a pass at once, before it when asked for a second time; that is remembered."""
    _say("solution", name)


@Word
def reset(name: str = "") -> None:
    """Start an exercise over; the old answer is kept, and you are told where."""
    _say("reset", name)


@Word
def report(name: str = "") -> None:
    """A block of text to paste when asking for help: answer, verdict, machine; no private paths."""
    _say("report", name)


@Word
def progress() -> None:
    """What is done and what is left, by chapter, with minutes."""
    from course_lib.coach import helping, show

    show.sentence(helping.progress())


@Word
def last_case() -> SimpleNamespace:
    """The inputs of the last failing case, what was expected, and what came: .inputs .expected .got .label"""
    from course_lib.coach import state

    try:
        return SimpleNamespace(**pickle.loads((state.folder() / ".last_case").read_bytes()))
    except (OSError, EOFError, pickle.UnpicklingError):
        raise LookupError("No case has failed yet: run an exercise first.") from None


@Word
def play(name: str = "") -> Any:
    """Your kernel on the last failing case, or on the first that is small enough, to step through: threads, memory, races."""
    from course_lib.coach import playing, show
    from course_lib.coach.exercise import ExerciseError

    try:
        label = last_case().label
    except LookupError:
        label = ""
    try:
        return playing.play(_named(name), label)
    except ExerciseError as error:
        show.sentence(str(error))
        return None


@Word
def versions(name: str = "") -> Any:
    """Your versions of a kernel that is an open challenge, by the bytes that each moved, drawn under a roofline."""
    from course_lib.coach import show, versions
    from course_lib.coach.exercise import ExerciseError

    try:
        return versions.picture(_named(name))
    except ExerciseError as error:
        show.sentence(str(error))
        return None


@Word
def use_my_answers(**choices: Any) -> Any:
    """Put every answer of yours that passed in the place of the course's own, and print whose code runs where.

    See course_lib/coach/swapping.py for the choices.
    """
    from course_lib.coach import swapping

    return swapping.use(**choices)


@Word
def milestone(steps: int = 400, device: str = "cpu") -> None:
    """Train `micro` for some steps with your answers in place: the fraction that is yours, a loss, a sample.

    device: "simulator" or "cuda" launch your kernels.
    """
    from course_lib import available_devices
    from course_lib.coach import milestone, show

    if device not in available_devices():
        show.sentence(
            f"This machine has no device {device!r}; it has {', '.join(available_devices())}. `course doctor` says why."
        )
        return
    show.sentence(milestone.reach(steps, device=device))


@Word
def speedrun(file: str = "my_entry.py") -> None:
    """Train an entry of exercises/mine/ for three minutes and tell its score; if it is not there yet, ours is written there."""
    from course_lib.coach import show, state
    from course_lib.speedrun import compete
    from course_lib.speedrun.scoring import EntryError

    path = state.folder() / file
    if not path.exists():
        compete.write_copy(path)
        show.sentence(f"Wrote {path.name}, a copy of our best entry. Change it, then run this cell again.")
        return
    try:
        compete.compete(path)
    except EntryError as error:
        show.sentence(str(error))


def _say(what: str, name: str) -> None:
    from course_lib.coach import helping, show
    from course_lib.coach.exercise import ExerciseError

    try:
        title, text, is_code = getattr(helping, what)(_named(name))
    except ExerciseError as error:
        show.sentence(str(error))
        return
    show.code(title, text) if is_code else show.sentence(f"{title}\n{text}" if text else title)


def _named(name: str) -> str:
    """The exercise that is meant: by name, or the last one."""
    from course_lib.coach import state

    return state.last(name)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext course_lib.course` where the environment's configuration is not read."""
    from course_lib.coach import magic

    magic.load_ipython_extension(shell)
