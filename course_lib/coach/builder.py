"""Makes the two notebooks of a chapter's exercises from `solutions/NN_topic.py`, the solved one and the blank one, and puts
those that stand in the lecture there: behind each cell `%%exercise NAME`, with the task before it.

Promises: the same source gives the same bytes, so that CI can build again and compare; no outputs are stored.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib import build
from course_lib.coach import catalogue, regions
from course_lib.coach.copies import EXERCISES
from course_lib.coach.exercise import ExerciseError
from course_lib.paths import ROOT

LECTURES = ROOT / "notebooks"
TASK = "task"  # the tag of the cell in a lecture that holds the text of an exercise


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
    made = {source.parent: notebook(source, True), EXERCISES: notebook(source, False), LECTURES: lecture(source)}
    for folder, content in made.items():
        text = nbformat.writes(content) + "\n"
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
    if not solved:
        elsewhere = {place for name, place in _places(cells).items() if name in catalogue.in_lecture(source)}
        cells = [
            cell for i, cell in enumerate(cells) if not {i, i + 1} & elsewhere
        ]  # the task too, which stands before
    for cell in cells:
        name = cell.metadata.get("exercise")
        if name and cell.cell_type == "code":
            body = pieces[name].solution if solved else pieces[name].blank
            cell.source = build.exercise_cell(name, body)
            cell.metadata = NotebookNode()
    cells[1:1] = opening(source.stem.split("_")[0], solved)
    made = build.normalised(NotebookNode(cells=cells))
    for cell in made.cells:
        if found := build.exercise_of(cell):
            cell.id = found[0].replace("_", "-")[:64]  # stays the same when the blank changes
        if cell.cell_type == "code":
            cell.execution_count = None
    return made


def lecture(source: Path) -> NotebookNode:
    """A chapter's lecture, its outputs as they are, with its exercises as the source has them now."""
    pieces, inside, written, cells, seen = regions.pieces(source), catalogue.in_lecture(source), tasks(source), [], []
    for cell in build.read(LECTURES / f"{source.stem}.ipynb").cells:
        if found := build.exercise_of(cell):
            seen.append(name := found[0])
            if name not in inside:
                raise ExerciseError(
                    f"The lecture {source.stem} holds {name}, whose cell in {source.name} is not marked `lecture=true`."
                )
            if TASK in cells[-1].metadata.get("tags", []):
                cells.pop()
            heading, _, text = written[name].partition("\n")
            task = f"### Exercise: {heading.lstrip('# ')}\n\n{text.strip()}"
            cells.append(nbformat.v4.new_markdown_cell(task, metadata={"tags": [TASK]}))
            blank = build.exercise_cell(name, pieces[name].blank)
            cell = nbformat.v4.new_code_cell(blank, metadata={"tags": [build.NOT_RUN]})
        cells.append(cell)
    for name in inside:
        if seen.count(name) != 1:
            raise ExerciseError(
                f"The lecture {source.stem} holds {seen.count(name) or 'no'} cells `{build.EXERCISE} {name}`; one is needed."
            )
    return build.normalised(NotebookNode(cells=cells))


def tasks(source: Path) -> dict[str, str]:
    """Name of each exercise of a source -> the text of its task, heading and all."""
    cells = build.read(source).cells
    return {name: cells[place - 1].source for name, place in _places(cells).items()}


def _places(cells: list[NotebookNode]) -> dict[str, int]:
    """Name of each exercise -> the number of its cell; its task is the cell before."""
    return {cell.metadata["exercise"]: i for i, cell in enumerate(cells) if "exercise" in cell.metadata}


def opening(chapter: str, solved: bool) -> list[NotebookNode]:
    """The two cells behind the title, the same in every chapter: how it works, and the import."""
    minutes = {True: 0, False: 0}
    source = catalogue.source(chapter)
    reading = catalogue.in_lecture(source)
    for name in catalogue.names(chapter):
        if name not in reading:
            minutes[catalogue.load(name).core] += catalogue.load(name).minutes
    stretch = f", {minutes[False]} more for the stretch ones" if minutes[False] else ""
    words = (
        "This is the solved notebook. Yours to fill in is the one of the same name in `exercises/mine/`."
        if solved
        else f"**{minutes[True]} minutes** for the core exercises{stretch}. Each cell that begins with `%%exercise` is one: "
        "write your part, press Shift+Enter, and read the verdict. Stuck? Type `course.hint()` in a cell of its own. "
        "Your answers are kept in `exercises/mine/answers/`."
    )
    if reading:
        listed = ", ".join(f"`{name}`" for name in reading)
        words += f" The first ones stand in the [lecture](../notebooks/{source.stem}.ipynb): {listed}."
    return [nbformat.v4.new_markdown_cell(words), nbformat.v4.new_code_cell("from course_lib import course")]
