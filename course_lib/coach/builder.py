"""Makes the two notebooks of a chapter's exercises from `solutions/NN_topic.py`: the solved one and the blank one.

Promises: the same source gives the same bytes, so that CI can build again and compare; no outputs are stored.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib import build
from course_lib.coach import catalogue, regions
from course_lib.coach.exercise import ExerciseError
from course_lib.paths import ROOT

EXERCISES = ROOT / "exercises"


def build_all(write: bool = True) -> list[Path]:
    """Build every chapter's notebooks. Returns those whose bytes changed (or would, if `write` is False)."""
    changed = []
    for source in sorted(catalogue.SOLUTIONS.glob("*.py")):
        changed += build_chapter(source, write)
    return changed


def build_chapter(source: Path, write: bool = True) -> list[Path]:
    """Build the two notebooks of one source. Raises ExerciseError where source and exercises do not fit together."""
    chapter = source.stem.split("_")[0]
    known, written = set(catalogue.names(chapter)), set(regions.pieces(source))
    if known != written:
        lost = ", ".join(sorted(known ^ written))
        raise ExerciseError(
            f"{source.name} and course_lib/coach/exercises/{chapter}/ do not hold the same exercises; "
            f"only one of them has: {lost}."
        )
    changed = []
    for folder, solved in ((source.parent, True), (EXERCISES, False)):
        text = nbformat.writes(notebook(source, solved)) + "\n"
        path = folder / f"{source.stem}.ipynb"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            changed.append(path)
            if write:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return changed


def notebook(source: Path, solved: bool) -> NotebookNode:
    """One of the two notebooks of a chapter, without outputs."""
    cells = build.read(source).cells
    pieces = regions.pieces(source)
    for cell in cells:
        name = cell.metadata.get("exercise")
        if name and cell.cell_type == "code":
            body = pieces[name].solution if solved else pieces[name].blank
            cell.source = f"%%exercise {name}\n{body}"
            cell.metadata = NotebookNode()
    made = build.normalised(NotebookNode(cells=cells))
    for cell in made.cells:
        if cell.source.startswith("%%exercise"):
            cell.id = cell.source.split()[1].replace("_", "-")[:64]  # stays the same when the blank changes
        if cell.cell_type == "code":
            cell.execution_count = None
    return made
