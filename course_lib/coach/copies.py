"""The learner's copies of the exercise notebooks, in `exercises/mine/`: made when missing, renewed when the exercises change.

Promises: what the learner wrote is never lost. A renewed copy gets back every answer by the name of its exercise, and the cells
that the learner added; the old copy lies in `set-aside/` as it was.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.build import exercise_cell, exercise_of
from course_lib.coach import state
from course_lib.coach.exercise import ExerciseError
from course_lib.coach.regions import comparable
from course_lib.paths import ROOT

EXERCISES = ROOT / "exercises"


def refresh() -> list[str]:
    """Make and renew all copies. Returns a sentence for each that was renewed."""
    said = []
    for original in sorted(EXERCISES.glob("*.ipynb")):
        copy = state.folder() / original.name
        if not copy.exists():
            _write(_fresh(original, {}), copy)
            continue
        try:
            old = nbformat.read(copy, as_version=4)
        except Exception:  # damaged: nothing can be taken from it but the answers that were run
            said.append(
                f"Your copy of {original.name} could not be read: it lies in {_aside(copy)}, and a new one was made."
            )
            _write(_fresh(original, {}), copy)
            continue
        if old.metadata.get("course", {}).get("original") == _digest(original):
            continue
        new = _fresh(original, _written(old))
        _bring_own_cells(old, new)
        said.append(
            f"{original.name} has changed: your copy was renewed with your answers. The old one lies in {_aside(copy)}."
        )
        _write(new, copy)
    return said


def _fresh(original: Path, written: dict[str, str]) -> NotebookNode:
    """A copy of an exercise notebook with what was written, else with the answers that were kept."""
    notebook = nbformat.read(original, as_version=4)
    blanks = {}
    for cell in notebook.cells:
        cell.metadata["course"] = True  # to tell the learner's own cells apart
        cell.source = cell.source.replace("](../", "](../../")  # one folder deeper
        if found := exercise_of(cell):
            name, body = found
            blanks[name] = _hash(body)
            if text := written.get(name) or _kept(name):
                cell.source = exercise_cell(name, text.strip("\n"))
    notebook.metadata["course"] = {"original": _digest(original), "blanks": blanks}
    return notebook


def _written(old: NotebookNode) -> dict[str, str]:
    """The bodies in a copy that are no longer blank, by the name of their exercise."""
    blanks = old.metadata.get("course", {}).get("blanks", {})
    found = [exercise for cell in old.cells if (exercise := exercise_of(cell))]
    return {name: body for name, body in found if body.strip() and _hash(body) != blanks.get(name)}


def _bring_own_cells(old: NotebookNode, new: NotebookNode) -> None:
    """Put the cells that the learner added behind the cell that they stood behind, at the end if that is gone."""
    behind = None
    for cell in old.cells:
        if cell.metadata.get("course"):
            behind = cell.id
        elif cell.source.strip():
            places = [i for i, other in enumerate(new.cells) if other.id == behind]
            new.cells.insert(places[0] + 1 if places else len(new.cells), cell)
            behind = cell.id


def _kept(name: str) -> str:
    try:
        path = state.answer_file(name)
        return state.read(path) if path.exists() else ""
    except ExerciseError:
        return ""


def _aside(copy: Path) -> str:
    place = state.set_aside(copy.stem) / copy.name
    copy.replace(place)
    return str(place.relative_to(state.folder().parent))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _hash(body: str) -> str:
    return hashlib.sha256(comparable(body).encode()).hexdigest()[:16]


def _write(notebook: NotebookNode, path: Path) -> None:
    aside = path.with_name(f".{path.name}.new")
    nbformat.write(notebook, aside)
    aside.replace(path)
