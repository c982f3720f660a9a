"""One answer, from the learner's hands to the verdict: blank or not, judged, kept, and what to type next.

An answer that passed once is judged again before it takes part in a training (`recheck`): its file may have been edited since,
its exercise or the library may have changed. A pass is remembered in the learner's folder for this text, this exercise and this
state of the library, and for nothing else, so that only the first use after a change takes its time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from functools import cache

from course_lib import paths
from course_lib.coach import catalogue, client, regions, state
from course_lib.coach.exercise import ExerciseError
from course_lib.coach.verdict import Verdict

NOTEBOOK, TERMINAL = "notebook", "terminal"


def answer(
    name: str, text: str, known: Collection[str] = (), where: str = NOTEBOOK, stage: Callable[[str], None] | None = None
) -> Verdict:
    """Judge a text as the learner's answer, keep it, and say what comes next. A text equal to the blank is never kept."""
    name = state.last(name)
    piece = catalogue.piece(name)
    if regions.comparable(text) == regions.comparable(piece.blank):
        return _blank(name, piece, where)
    state.save(name, text)  # whatever happens now, it is not lost
    verdict = client.judged(name, text, known, values=str(state.folder() / ".last_case"), stage=stage)
    if not verdict.judged:
        return verdict
    earlier = state.earlier_counts(name)
    for count in verdict.counts:
        count.earlier = [numbers[count.name] for numbers in earlier if count.name in numbers]
    state.save(name, text, verdict)
    is_ours = regions.comparable(text) == regions.comparable(piece.solution)
    if is_ours and verdict.passed and state.noted(name).get("solution_shown"):
        verdict.notes.append("This is the solution of the course. Close it and write it once more in your own way.")
    verdict.next = _next(name, verdict, where)
    return verdict


def kept(name: str) -> str:
    """The newest answer. Raises ExerciseError if there is none."""
    path = state.answer_file(name)
    if not path.exists():
        raise ExerciseError(
            f"There is no answer to {name} yet. Write it in {catalogue.notebook(name)}: `make lab` opens it."
        )
    return state.read(path)


def words(name: str, verb: str, where: str) -> str:
    """What one types: `course.hint("add")` in a notebook, `course hint add` in a terminal."""
    return f'course.{verb}("{name}")' if where == NOTEBOOK else f"course {verb} {name}"


def _blank(name: str, piece: regions.Piece, where: str) -> Verdict:
    """The verdict on an unchanged cell: what the task asks for, and the smallest case."""
    exercise = catalogue.load(name)
    verdict = client.judged(name, piece.blank, measure=False)
    if verdict.passed:
        raise ExerciseError(f"The exercise {name} is at fault: its blank passes. Please report it.")
    verdict.blank = True
    if not verdict.judged:
        verdict.why = f"Nothing is written here yet. {verdict.why}"
        return verdict
    if piece.planted:
        verdict.why = f"You have not changed this cell yet. Its bug shows like this: {verdict.why}"
    else:
        verdict.why = (
            f"Nothing is written here yet. It takes about {exercise.minutes} minutes; "
            "the comment `Your part:` says what to do."
        )
    verdict.next = words(name, "hint", where)
    return verdict


def _next(name: str, verdict: Verdict, where: str) -> str:
    if not verdict.passed:
        watch = (
            f", or {words(name, 'play', where)} to watch this case" if verdict.playable and where == NOTEBOOK else ""
        )
        return words(name, "hint", where) + watch
    if catalogue.load(name).challenge:
        if where == NOTEBOOK and catalogue.load(name).flops:
            return f"another version, or {words(name, 'versions', where)} to compare those so far"
        return "another version: the counts of this one are kept"
    here = catalogue.notebook(name)
    left = [other for other in catalogue.names(catalogue.load(name).chapter) if state.passing(other) is None]
    for other in sorted(left, key=lambda other: catalogue.notebook(other) != here):  # first those of the same notebook
        if where == TERMINAL:
            return f"course hint {other}"
        place = catalogue.notebook(other)
        return f"the exercise {other}" + ("" if place == here else f", in {place}")
    return words(name, "solution", where) + "  (to compare with ours)"


def recheck(name: str, text: str, stage: Callable[[str], None] | None = None) -> str:
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
    return f"it no longer passes: {verdict.why}" if verdict.judged else f"it could not be judged again: {verdict.why}"


@cache
def library() -> str:
    """A digest of everything that an answer is judged by or works with: the library and the kernels."""
    files = [path for folder in (paths.LIBRARY, paths.KERNELS) for path in folder.rglob("*") if path.is_file()]
    kept = sorted(path for path in files if "__pycache__" not in path.parts)
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in kept)).hexdigest()
