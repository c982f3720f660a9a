"""Hints, solutions, progress, a new beginning, a report: the words that a learner asks for. As text; show.py shows them."""

from __future__ import annotations

import platform
import re
from itertools import groupby
from pathlib import Path

from course_lib.coach import answering, catalogue, client, state
from course_lib.coach import verdict as verdicts
from course_lib.paths import ROOT

PARTS = (  # first and last chapter
    ("I", "00", "03"),
    ("II", "04", "12"),
    ("III", "13", "17"),
    ("IV", "18", "18"),
    ("V", "19", "99"),
)

Said = tuple[str, str, bool]  # a title, a text, whether the text is code


def hint(name: str, where: str = answering.NOTEBOOK) -> Said:
    """The next hint; after the last the worked example; then the same once more, with what else can be done."""
    exercise = catalogue.load(name)
    given, count = state.noted(name).get("hints", 0), len(exercise.hints)
    state.note(name, hints=min(given + 1, count + 1))
    example = exercise.example.strip("\n")
    if given < count:
        left = example or given + 1 < count  # a short exercise has one hint, and no example
        more = f"\nMore: {answering.words(name, 'hint', where)}" if left else ""
        return f"{exercise.title}: hint {given + 1} of {count}", exercise.hints[given] + more, False
    if given == count and example:
        return f"{exercise.title}: a worked example of the same idea, with another aim", example, True
    last = (
        f"That was the last hint. Next: change one line, run the cell, and read the verdict; or "
        f"{answering.words(name, 'solution', where)}."
    )
    if example:
        return f"{last} The worked example once more", example, True
    return f"{last} The hint once more", exercise.hints[-1], False


def solution(name: str, where: str = answering.NOTEBOOK) -> Said:
    """The solution. Before a pass the first call only asks back."""
    exercise = catalogue.load(name)
    if state.passing(name) is None and not state.noted(name).get("solution_asked"):
        state.note(name, solution_asked=True)
        again = answering.words(name, "solution", where)
        return (
            f"{exercise.title}: not passed yet",
            f"A hint may be enough. To see the solution all the same: {again} once more.",
            False,
        )
    if state.passing(name) is None:
        state.note(name, solution_shown=True)
    text = catalogue.piece(name).solution
    return f"{exercise.title}: our solution", text, True


def reset(name: str, where: str = answering.NOTEBOOK) -> Said:
    """Set the answer and its tries aside, and give the blank."""
    place = state.reset(name)
    blank = catalogue.piece(name).blank
    kept = (
        f"Your old answer is kept in {place.relative_to(state.folder().parent)}."
        if place
        else "There was no answer yet."
    )
    return f"{kept} The original cell", f"%%exercise {name}\n{blank}", True


def progress() -> str:
    """The fast tracks, then one block for each chapter: each exercise, its minutes, and whether it is done."""
    lines = fast_tracks()
    for chapter, names in groupby(catalogue.names(), key=lambda name: catalogue.load(name).chapter):
        rows, done, left = [], {True: 0, False: 0}, {True: 0, False: 0}
        for name in names:
            exercise, passed = catalogue.load(name), state.passing(name) is not None
            (done if passed else left)[exercise.core] += exercise.minutes
            rows.append(
                f"  [{'x' if passed else ' '}] {name:24} {exercise.minutes:3} min  {exercise.title}{_notes(name)}"
            )
        left_over = [
            f"{left[core]} minutes of {word} left" for core, word in ((True, "core"), (False, "stretch")) if left[core]
        ]
        title = catalogue.source(chapter).stem.replace("_", " ")
        lines += [f"{title}: {', '.join(left_over) or 'all done'}", *rows]
    return "\n".join(lines)


def fast_tracks() -> list[str]:
    """For each part the exercises that tell whether one may skip its lectures: an offer, one line each."""
    lines, everything = [], catalogue.names()
    for part, first, last in PARTS:
        names = [n for n in everything if first <= catalogue.load(n).chapter[:2] <= last and catalogue.load(n).test_out]
        passed = sum(state.passing(name) is not None for name in names)
        if names:
            done = "all passed: you may skip its lectures" if passed == len(names) else f"{passed} passed"
            lines.append(f"Do you know Part {part} already? Pass {', '.join(names)} ({done}).")
    return [*lines, ""] if lines else []


def report(name: str, where: str = answering.NOTEBOOK) -> Said:
    """Answer, verdict and machine, without private paths."""
    from course_lib import doctor

    text = answering.kept(name)
    verdict = client.judged(name, text)
    language = {"cuda": "cpp"}.get(catalogue.load(name).language, catalogue.load(name).language)
    parts = [f"Exercise {name}, try {len(state.tries(name))}", f"```{language}\n{text.strip()}\n```",
             f"```text\n{verdicts.text(verdict)}\n```", f"```text\n{_doctor(doctor)}\n```"]  # fmt: skip
    return "Paste this where you ask for help:", without_paths("\n".join(parts)), True


def without_paths(text: str) -> str:
    """A text in which this machine's folders and its user's name are replaced."""
    for place, word in ((ROOT, "COURSE"), (Path.home(), "HOME")):
        if len(place.parts) > 1:
            text = text.replace(str(place), word)
    return re.sub(r"(/home/|/Users/)[^/\s:]+", r"\1NAME", text)


def _doctor(doctor) -> str:
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        doctor.report(timed=False)
    return f"Python {platform.python_version()} on {platform.system()}\n{said.getvalue().strip()}"


def _notes(name: str) -> str:
    noted, count = state.noted(name), len(state.tries(name))
    said = [f"{count} {'try' if count == 1 else 'tries'}"] if count else []
    said += ["solution was shown"] if noted.get("solution_shown") else []
    passed = state.passing(name)
    if passed and noted.get("judged_by") not in (None, catalogue.fingerprint(name)):
        said.append("the exercise has changed: check it again")
    return f"  ({', '.join(said)})" if said else ""
