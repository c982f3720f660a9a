"""What the learner has done: answers, tries, progress. All of it plain files in `exercises/mine/`, which git ignores.

    answers/NAME.py               the newest answer       (.cu or .wgsl for a kernel)
    tries/NAME/0003-passed.py     every try; its verdict is in the name, so that everything can be found again from the files
    progress.json                 hints and solutions that were shown, what each passed try was judged by; written aside and
                                  renamed. A damaged one is set aside, and rebuilt from the tries.

Promises: two notebooks may write at the same time (a lock); the folder may be moved; one that may not be written is a sentence.
COURSE_MINE names another folder.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib import paths
from course_lib.coach import catalogue
from course_lib.coach.exercise import ExerciseError
from course_lib.coach.regions import comparable
from course_lib.coach.verdict import Verdict

TRY = re.compile(r"(\d+)-(passed|not-yet)\.(?:py|cu|wgsl)")
SHOWN = 5  # earlier tries beside the newest


@dataclass(frozen=True)
class Try:
    """One try of an answer."""

    number: int
    passed: bool
    path: Path

    @property
    def text(self) -> str:
        return read(self.path)


def folder() -> Path:
    """Where everything lies; made if it is not there yet."""
    place = _place()
    place.mkdir(parents=True, exist_ok=True)
    return place


def _place() -> Path:
    return Path(os.environ.get("COURSE_MINE") or paths.ROOT / "exercises" / "mine")


def read(path: Path) -> str:
    """The text of an answer or a try. Raises ExerciseError if it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except PermissionError as error:
        raise _refused(error) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ExerciseError(
            f"{path} is no text in UTF-8: line {line} holds the byte {error.object[error.start]:#04x}. Save it as UTF-8 (an "
            "editor asks for the encoding under Save As), or run the cell of the exercise once more, which writes it anew."
        ) from None


def answer_file(name: str) -> Path:
    """The file of the newest answer to an exercise."""
    return folder() / "answers" / f"{name}{catalogue.load(name).suffix}"


def tries(name: str) -> list[Try]:
    """All tries, the oldest first."""
    found = []
    for path in (folder() / "tries" / name).glob("*"):
        if match := TRY.fullmatch(path.name):
            found.append(Try(int(match[1]), match[2] == "passed", path))
    return sorted(found, key=lambda one: one.number)


def passing(name: str) -> Try | None:
    """The last try that passed: the one that counts. One that no longer passes, since its exercise changed, does not."""
    outdated = noted(name).get("outdated", 0)
    return next((one for one in reversed(tries(name)) if one.passed and one.number > outdated), None)


def rejudged(name: str, one: Try, passed: bool) -> None:
    """Remember what came of judging a passed try anew, after its exercise has changed."""
    note(name, **({"judged_by": catalogue.fingerprint(name)} if passed else {"outdated": one.number}))


def save(name: str, text: str, verdict: Verdict | None = None) -> None:
    """Keep an answer; once it was judged, also as a try (unless it is the same text as the last one, judged the same)."""
    with lock():
        _write(answer_file(name), text.rstrip("\n") + "\n")
        if verdict is None:
            return
        before = tries(name)
        outdated = bool(before) and before[-1].number <= noted(name).get("outdated", 0)
        if not before or not _holds(before[-1], text) or before[-1].passed != verdict.passed or outdated:
            number = before[-1].number + 1 if before else 1
            word = "passed" if verdict.passed else "not-yet"
            _write(
                folder() / "tries" / name / f"{number:04}-{word}{catalogue.load(name).suffix}", text.rstrip("\n") + "\n"
            )
        notes = _read()
        entry = notes.setdefault(name, {})
        entry.setdefault("counts", []).append({count.name: count.yours for count in verdict.counts})
        if not verdict.counts:
            entry["counts"].pop()
        entry["counts"] = entry["counts"][-SHOWN - 1 :]
        if verdict.passed:
            entry["judged_by"] = catalogue.fingerprint(name)
        entry["seconds"] = verdict.seconds
        _write(folder() / "progress.json", json.dumps(notes, indent=1))


def _holds(one: Try, text: str) -> bool:
    try:
        return comparable(one.text) == comparable(text)
    except ExerciseError:  # what cannot be read is not this text
        return False


def earlier_counts(name: str) -> list[dict[str, float | None]]:
    """Numbers of the last tries, the oldest first."""
    return noted(name).get("counts", [])[-SHOWN:]


def noted(name: str) -> dict[str, Any]:
    """What progress.json knows of an exercise: hints, solution_shown, judged_by, counts."""
    return _read().get(name, {})


def note(name: str, **values: Any) -> None:
    """Change what progress.json knows of an exercise."""
    with lock():
        notes = _read()
        notes.setdefault(name, {}).update(values)
        _write(folder() / "progress.json", json.dumps(notes, indent=1))


def last(name: Any = "") -> str:
    """The exercise of that name, or the one that was last named here; remembers it. Raises ExerciseError if there is none.

    name: may also be what an answer defines, a Kernel, a function or a class: course.hint(scale) without quotes.
    """
    place = folder() / ".last_exercise"
    if not isinstance(name, str):
        name = _defined_as(name, place)
    if name:
        name = catalogue.load(name).name
        _write(place, name)
        return name
    newest = place.read_text(encoding="utf-8") if place.exists() else ""
    if newest not in catalogue.names():
        raise ExerciseError('Say which exercise, as in course.hint("NAME"); course.progress() lists them.')
    return newest


def _defined_as(thing: Any, place: Path) -> str:
    """The exercise whose answer defines `thing`: the last one if it does, else the one of that name, else any that does."""
    own = getattr(thing, "name", None) or getattr(thing, "__name__", None)
    if not isinstance(own, str):
        raise ExerciseError(
            f'Write the name of the exercise in quotes, as in course.hint("scale"); {type(thing).__name__} has none.'
        )
    own = own.partition("<")[0]  # matmul<32> is an instance of matmul
    newest = place.read_text(encoding="utf-8") if place.exists() else ""
    names = catalogue.names()
    for name in (newest, own, *names):
        if name in names and catalogue.load(name).defines == own:
            return name
    return own


def reset(name: str) -> Path | None:
    """Start an exercise over. The answer and its tries are kept in `set-aside/`; returns where, or None if there were none."""
    with lock():
        answer, old = answer_file(name), folder() / "tries" / name
        if not answer.exists() and not old.exists():
            return None
        place = set_aside(name)
        for path in (answer, old):
            if path.exists():
                path.replace(place / ("tries" if path == old else path.name))
        notes = _read()
        notes.pop(name, None)
        _write(folder() / "progress.json", json.dumps(notes, indent=1))
        return place


def set_aside(name: str) -> Path:
    """A new folder for what is kept but no longer counts."""
    place = _free(folder() / "set-aside" / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}_{name}")
    place.mkdir(parents=True)
    return place


def _free(path: Path) -> Path:
    """A path where nothing lies yet: two things may be set aside within a second."""
    names = (path.with_name(f"{path.stem}~{number}{path.suffix}") for number in itertools.count(2))
    return next(one for one in itertools.chain([path], names) if not one.exists())


@contextmanager
def lock() -> Iterator[None]:
    """Held while something is written, against another notebook doing the same. Raises ExerciseError if nothing can be."""
    try:
        file = (folder() / ".lock").open("w")
    except OSError as error:
        raise _refused(error) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _refused(error: OSError) -> ExerciseError:
    """A sentence for a folder that may not be written, as after a chmod, or cannot, as on a full disk."""
    place = _place()
    return ExerciseError(
        f"Your answers cannot be kept: {error.strerror} ({error.filename or place}). They lie in {place}, which must be yours to "
        f"read and write: `chmod -R u+rwX {shlex.quote(str(place))}` makes it so, unless the disk is full. Then run this again."
    )


def _read() -> dict[str, dict]:
    path = folder() / "progress.json"
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(notes, dict) or not all(isinstance(value, dict) for value in notes.values()):
            raise ValueError("not what was written there")
        return notes
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise _refused(error) from None
    except ValueError:  # a damaged file: the tries are what counts, and they are files of their own
        path.replace(_free(path.with_name(f"progress-damaged-{time.strftime('%Y%m%d-%H%M%S')}.json")))
        return {}


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.write_whole(path, text)
    except OSError as error:
        raise _refused(error) from None
