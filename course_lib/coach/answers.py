"""An answer as something that runs: loaded from its text, called, and its exceptions with the learner's own line."""

from __future__ import annotations

import contextlib
import importlib
import linecache
import traceback
import warnings
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from course_lib.coach.exercise import Exercise
from course_lib.coach.outcome import RaisedError


class StillRunning(KeyboardInterrupt):
    """The time is over. Not an Exception, so that an answer's `except Exception` does not swallow it."""


def time_is_over(signum: int, frame: Any) -> None:
    """What an alarm does."""
    raise StillRunning("still running")


def load_answer(exercise: Exercise, text: str) -> Any:
    """What an answer's text defines: a function or class, or a Watched kernel. Raises whatever the text raises."""
    if exercise.is_kernel:
        return launched(exercise).load(text, exercise)
    file = f"{exercise.name}.py"
    namespace: dict[str, Any] = {"__name__": exercise.name, "__file__": file}
    exec(_compiled(exercise.prelude, "<string>"), namespace)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(_compiled(text, file), namespace)
    if exercise.defines not in namespace:
        raise NameError(f"Your cell defines nothing named {exercise.defines}: keep that name, it is what is called.")
    return namespace[exercise.defines]


@lru_cache(2048)  # the changes of an answer (repairs.py) are loaded anew for each case
def _compiled(text: str, file: str) -> CodeType:
    return compile(text, file, "exec")


def launched(exercise: Exercise) -> Any:
    """The module that loads a kernel of this exercise's language, and counts what it does: kernels or shaders."""
    module = {"cuda": "kernels", "wgsl": "shaders"}[exercise.language]
    return importlib.import_module(f"course_lib.coach.{module}")


def resolve(target: str) -> tuple[Any, str]:
    """The module or class that holds a target "a.b.c", and the name in it."""
    parts = target.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            holder: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:-1]:
            holder = getattr(holder, part)
        return holder, parts[-1]
    raise ImportError(f"There is no module in {target!r}.")


def ours(exercise: Exercise) -> Any:
    """The library's own object that an answer replaces; None where that is an op, a kernel, or nothing."""
    if not exercise.target or ":" in exercise.target:
        return None
    holder, name = resolve(exercise.target)
    return getattr(holder, name)


def raised(error: BaseException, file: str, text: str) -> RaisedError:
    """An exception as the learner should read it: kind, message, and the last line of theirs that led to it."""
    line = None
    if isinstance(error, SyntaxError) and error.filename == file:
        line = error.lineno
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        line = frames[-1].lineno if frames else getattr(error, "line", None)
    lines = text.splitlines()
    code = lines[line - 1].strip() if line and 0 < line <= len(lines) else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, KeyError):
        message = f"there is no key {message}"
    return RaisedError(type(error).__name__, message or "no message", line, code)


def call(exercise: Exercise, answer: Any, inputs: tuple) -> Any:
    """What an answer, or a function in its place, gives for the inputs of a case."""
    return exercise.call(answer, *inputs) if exercise.call else answer(*inputs)


@contextlib.contextmanager
def quiet():
    """Warnings of what is not the learner's are not shown to the learner."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
