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
    cells[1:1] = opening(source.stem.split("_")[0], solved)
    made = build.normalised(NotebookNode(cells=cells))
    for cell in made.cells:
        if cell.source.startswith("%%exercise"):
            cell.id = cell.source.split()[1].replace("_", "-")[:64]  # stays the same when the blank changes
        if cell.cell_type == "code":
            cell.execution_count = None
    return made


def opening(chapter: str, solved: bool) -> list[NotebookNode]:
    """The two cells behind the title, the same in every chapter: how it works, and the import."""
    minutes = {True: 0, False: 0}
    for name in catalogue.names(chapter):
        minutes[catalogue.load(name).core] += catalogue.load(name).minutes
    stretch = f", {minutes[False]} more for the stretch ones" if minutes[False] else ""
    words = (
        "This is the solved notebook. Yours to fill in is the one of the same name in `exercises/mine/`."
        if solved
        else f"**{minutes[True]} minutes** for the core exercises{stretch}. Each cell that begins with `%%exercise` is one: "
        "write your part, press Shift+Enter, and read the verdict. Stuck? Type `course.hint()` in a cell of its own. "
        "Your answers are kept in `exercises/mine/answers/`."
    )
    return [nbformat.v4.new_markdown_cell(words), nbformat.v4.new_code_cell("from course_lib import course")]
