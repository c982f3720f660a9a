"""An answer that passed once is judged again before it takes part in a training: its file may have been edited since, its
exercise or the library may have changed.

Promises: judged in a child process, as `course check` does. A pass is remembered in the learner's folder for this text, this
exercise and this state of the library, and for nothing else, so that only the first use after a change takes its time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache

from course_lib import paths
from course_lib.coach import catalogue, client, state
from course_lib.coach.exercise import ExerciseError


def complaint(name: str, text: str, stage: Callable[[str], None] | None = None) -> str:
    """Why an answer may not go in; nothing if it passes now. stage: told what is being done once this takes long."""
    key = hashlib.sha256(f"{library()} {catalogue.fingerprint(name)} {text}".encode()).hexdigest()[:16]
    if state.noted(name).get("passes") == key:
        return ""
    try:
        verdict = client.judged(name, text, measure=False, stage=stage)
    except ExerciseError as error:
        return str(error)
    if verdict.passed:
        state.note(name, passes=key)
        return ""
    return f"it passes no more: {verdict.why}" if verdict.judged else f"it could not be judged again: {verdict.why}"


@cache
def library() -> str:
    """A digest of everything that an answer is judged by or works with: the library and the kernels."""
    files = [path for folder in (paths.LIBRARY, paths.KERNELS) for path in folder.rglob("*") if path.is_file()]
    kept = sorted(path for path in files if "__pycache__" not in path.parts)
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in kept)).hexdigest()
