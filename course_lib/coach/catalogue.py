"""All exercises: found by their files, loaded when wanted.

`coach/exercises/02/repeated_axes.py` is the exercise `repeated_axes` of chapter 02. Names are unique over the whole course.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import os
import re
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from course_lib.coach import regions
from course_lib.coach.exercise import Exercise, ExerciseError
from course_lib.paths import ROOT, need_clone

FOLDER = Path(__file__).parent / "exercises"
SOLUTIONS = ROOT / "solutions"


def files() -> dict[str, Path]:
    """Name of each exercise -> its file, in the order of the chapters and, within one, of their notebook."""
    found = _found()
    texts = {chapter: _text(chapter) for chapter in {path.parent.name for path in found.values()}}
    return {path.stem: path for path in sorted(found.values(), key=lambda path: _place(path, texts[path.parent.name]))}


def names(chapter: str = "") -> list[str]:
    """Names of all exercises, or of one chapter's."""
    return [name for name, path in files().items() if not chapter or path.parent.name == chapter]


def languages() -> dict[str, str]:
    """Name of each exercise that is not in Python -> its language, as its file says it: loading all takes seconds."""
    said = {name: re.search(r'^    language="(\w+)"', path.read_text("utf-8"), re.M) for name, path in _found().items()}
    return {name: found[1] for name, found in said.items() if found}


def load(name: str) -> Exercise:
    """The exercise of that name. Raises ExerciseError with the nearest names."""
    path = _found().get(name)
    if path is None:
        near = difflib.get_close_matches(name, files(), n=3, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else " `course status` lists all."
        raise ExerciseError(f"There is no exercise named {name!r}.{hint}")
    return _load(path)


@cache
def _load(path: Path) -> Exercise:
    spec = importlib.util.spec_from_file_location(f"course_lib.coach.exercises.{path.parent.name}.{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ExerciseError(f"{path.relative_to(ROOT)} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(getattr(module, "exercise", None), Exercise):
        raise ExerciseError(f"{path.relative_to(ROOT)} must hold a variable `exercise`, an Exercise.")
    return replace(module.exercise, name=path.stem, chapter=path.parent.name)


def source(chapter: str) -> Path:
    """The file that holds a chapter's tasks and solutions. Raises ExerciseError if there is none."""
    need_clone()
    found = sorted(SOLUTIONS.glob(f"{chapter}_*.py"))
    if len(found) != 1:
        raise ExerciseError(f"Chapter {chapter} needs one file solutions/{chapter}_TOPIC.py; found {len(found)}.")
    return found[0]


def notebook(name: str) -> str:
    """Where one writes an answer: "exercises/mine/02_autograd.ipynb", or the lecture "notebooks/02_autograd.ipynb"."""
    file = source(load(name).chapter)
    return f"{'notebooks' if name in in_lecture(file) else 'exercises/mine'}/{file.stem}.ipynb"


def piece(name: str) -> regions.Piece:
    """The solution and the blank of an exercise. Raises ExerciseError if its chapter's source holds none."""
    exercise = load(name)
    file = source(exercise.chapter)
    cells = regions.cells(file)
    if exercise.name not in cells:
        raise ExerciseError(f"{file.name} holds no solution to {exercise.name}.")
    return regions.piece(cells[exercise.name], exercise.name, file)  # not the whole chapter: a verdict waits


def in_lecture(source: Path) -> list[str]:
    """The exercises of a chapter's source that stand in its lecture: their cells begin `# %% exercise="NAME" lecture=true`."""
    return re.findall(r'^# %%.*\bexercise="(\w+)".*\blecture=true', source.read_text(encoding="utf-8"), re.M)


def fingerprint(name: str) -> str:
    """Changes when an exercise's file does, or shared_cases.py if it uses that: answers that passed are then judged anew."""
    text = files()[name].read_bytes()
    shared = Path(__file__).with_name("shared_cases.py").read_bytes() if b"coach.shared_cases import" in text else b""
    return hashlib.sha256(text + shared).hexdigest()[:16]


def _found() -> dict[str, Path]:
    """Name -> file, in no order: a chapter's source need not be read for it. Each verdict asks several times: what the folders
    hold is listed again only where one of them has changed."""
    folders = [folder.path for folder in os.scandir(FOLDER) if folder.is_dir()]
    return _listed(tuple((folder, os.stat(folder).st_mtime_ns) for folder in sorted(folders)))


@lru_cache(maxsize=1)
def _listed(folders: tuple[tuple[str, int], ...]) -> dict[str, Path]:
    files = [file for folder, _ in folders for file in os.scandir(folder)]
    return {file.name[:-3]: Path(file.path) for file in files if re.match(r"[a-z].*\.py$", file.name)}


def _text(chapter: str) -> str:
    found = sorted(SOLUTIONS.glob(f"{chapter}_*.py"))
    return found[0].read_text(encoding="utf-8") if found else ""


def _place(path: Path, source: str) -> tuple:
    """Chapter, then the place in its source, so that lists run as the notebook does."""
    place = source.find(f'exercise="{path.stem}"')
    return path.parent.name, place if place >= 0 else 1 << 30, path.stem
