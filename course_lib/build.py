"""Builds a chapter: runs it from a clean kernel, stores its outputs, and brings the file to one normal form.

    course build notebooks/03_neural_networks.ipynb          run it again
    course build draft.py --to notebooks/03_....ipynb        from a percent-format draft (needs jupytext), written in any editor

Promises: the same source gives the same file, apart from what a cell prints; cell ids follow from the cells' sources; no
timings, no state of widgets, no path of the machine. A cell that fails, warns or names such a path leaves the file as it
was, with a sentence.

What one writes in a cell's metadata (in a draft behind `# %%`):
    tags=["nbval-ignore-output"]            its output may differ from machine to machine: it is run, and not compared
    tags=["raises-exception"]               it is meant to fail
    tags=["predict"]                        "predict first": its stored output is folded until the reader asks for it
    tags=["hide-code"]                      its code is folded, because it would give the answer to a question away
    jp-MarkdownHeadingCollapsed=true        of a heading: what stands under it is folded

A cell `%%exercise NAME` is the reader's: it is stored as it is, never run (see coach/builder.py).
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_lib.paths import ROOT

TIMEOUT = 3600  # seconds for one cell: chapter 16 trains for minutes, on a busy machine for longer
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
COLLAPSED = "jp-MarkdownHeadingCollapsed"  # JupyterLab's own name
EXERCISE = "%%exercise"
NOT_RUN = "nbval-skip"  # the tag that an exercise's cell gets
FOLDED = {"predict": "outputs_hidden", "hide-code": "source_hidden"}  # a tag, and what JupyterLab calls it
# An empty output, the first one of a folded cell. While a cell is folded JupyterLab shows the first line of its first output,
# and so would give the answer away; of this one there is nothing to show, and nothing for nbval to compare.
COVER = NotebookNode(output_type="display_data", data=NotebookNode(), metadata=NotebookNode())


class BuildError(RuntimeError):
    """A chapter that cannot be stored as it is: which cell, and why."""


def build(source: Path, to: Path | None = None) -> Path:
    """Run a notebook or a draft and store it as `to` (by default: beside the draft, in place of the notebook)."""
    target = to or source.with_suffix(".ipynb")
    notebook = normalised(run(read(source), target.parent))
    if found := complaints(notebook):
        raise BuildError("\n".join(found))
    write(notebook, target)
    return target


def read(source: Path) -> NotebookNode:
    """A notebook from a file .ipynb or a draft .py in percent format."""
    if source.suffix == ".ipynb":
        return nbformat.read(source, as_version=4)
    if source.suffix != ".py":
        raise BuildError(f"{source} is neither a notebook (.ipynb) nor a draft (.py).")
    try:
        import jupytext
    except ImportError:
        raise BuildError("To build from a .py draft, install jupytext: .venv/bin/pip install jupytext") from None
    return jupytext.read(source, fmt="py:percent")


def run(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel that works in `folder`. Raises BuildError at a cell that fails."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            if not is_run(cell):
                cell.metadata["tags"] = [NOT_RUN]
    resources = {"metadata": {"path": str(folder)}}
    try:
        return NotebookClient(
            notebook, timeout=TIMEOUT, kernel_name="python3", resources=resources, coalesce_streams=True,
            skip_cells_with_tag=NOT_RUN,
        ).execute()  # fmt: skip
    except (CellExecutionError, CellTimeoutError) as error:
        raise BuildError(f"The chapter was not stored, because a cell failed:\n{error}") from None


def exercise_of(cell: Mapping) -> tuple[str, str] | None:
    """The name in an exercise's cell, and the body; None for another cell."""
    head, _, body = cell["source"].lstrip().partition("\n")
    words = head.split()
    return (words[1], body) if cell["cell_type"] == "code" and words[:1] == [EXERCISE] and len(words) == 2 else None


def exercise_cell(name: str, body: str) -> str:
    """The source of an exercise's cell: what `exercise_of` reads."""
    return f"{EXERCISE} {name}\n{body}"


def is_run(cell: Mapping) -> bool:
    """Whether a cell is code that a chapter runs: not text, and not an exercise."""
    return cell["cell_type"] == "code" and exercise_of(cell) is None


def normalised(notebook: NotebookNode) -> NotebookNode:
    """The notebook in its normal form; its sources and outputs stay."""
    cells, ids = [], set()
    for cell in notebook.cells:
        source = cell.source.strip("\n")
        if not source.strip():
            continue
        kept = {"cell_type": cell.cell_type, "source": source}
        kept["metadata"] = _metadata(cell.metadata)
        if cell.cell_type == "code":
            kept["execution_count"] = 1 + sum(is_run(other) for other in cells)
            kept["outputs"] = [_output(output, kept["execution_count"]) for output in cell.outputs]
            if "predict" in kept["metadata"].get("tags", []) and COVER not in kept["outputs"]:
                kept["outputs"].insert(0, COVER)
            if not is_run(cell):
                kept |= {"execution_count": None, "outputs": []}
        kept["id"] = _id(cell.cell_type + source, ids)
        ids.add(kept["id"])
        cells.append(NotebookNode(kept))
    return nbformat.from_dict({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})


def write(notebook: NotebookNode, path: Path) -> None:
    """Store a notebook as Jupyter itself writes it."""
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def complaints(notebook: NotebookNode) -> list[str]:
    """What must not be stored, one sentence for each: warnings, errors nobody asked for, paths of this machine."""
    found = []
    paths = re.compile("|".join(re.escape(str(place)) for place in {ROOT, Path.home()} if len(place.parts) > 1))
    for number, cell in enumerate(notebook.cells, 1):
        if path := paths.search(cell.source):
            found.append(f"Cell {number} names the path {path[0]}, which only this machine has.")
        for output in cell.get("outputs", []):
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
                found.append(f"Cell {number} ends in {output.ename}.")
            if output.output_type == "stream" and output.name == "stderr":
                found.append(f"Cell {number} writes to stderr: {output.text.strip()[:200]}")
            if path := paths.search(_text(output)):
                found.append(f"The output of cell {number} names the path {path[0]}, which only this machine has.")
    return found


def _metadata(given: Mapping) -> dict:
    """A cell's metadata: its tags, and what they ask of JupyterLab."""
    tags = set(given.get("tags", [])) | {tag for tag, key in FOLDED.items() if given.get("jupyter", {}).get(key)}
    folded = {key: True for tag, key in FOLDED.items() if tag in tags}
    heading = {COLLAPSED: True} if given.get(COLLAPSED) else {}
    return {**heading, **({"jupyter": folded} if folded else {}), **({"tags": sorted(tags)} if tags else {})}


def _output(output: NotebookNode, count: int) -> NotebookNode:
    output = NotebookNode({name: value for name, value in output.items() if name != "transient"})
    if output.output_type == "execute_result":
        output.execution_count = count
    return output


def _text(output: Any) -> str:
    """Everything in an output that a person could read."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return "\n".join(value for kind, value in output.data.items() if kind.startswith("text/"))


def _id(source: str, taken: set[str]) -> str:
    name = hashlib.sha256(source.encode()).hexdigest()[:8]
    number = 1
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}" if name in taken else name
