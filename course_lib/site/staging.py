"""Stored notebooks -> what Sphinx renders.

Promises: outputs stay as they are stored, nothing is run. Pictures become files, so that a page is light and loads them when they
come into view; a folded output stays folded; the cell of an exercise becomes an editor (page/exercise.js), whose text stands in
the page for a browser without JavaScript.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer, RustLexer

from course_lib.coach import catalogue
from course_lib.paths import ROOT
from course_lib.site.links import Links

PICTURES = "pictures"
EXERCISE = re.compile(r"%%exercise (\w+)\n(.*)", re.S)
DATA = re.compile(r'src="data:image/(png|jpeg|svg\+xml);base64,([^"]+)"')
LEXERS = {"cuda": CppLexer, "wgsl": RustLexer, "python": PythonLexer}
NAMES = {"cuda": "CUDA C++", "wgsl": "WGSL", "python": "Python"}


def notebook(path: Path, out: Path, links: Links) -> list[str]:
    """Write the notebook `path` of the repository as the site needs it into the folder `out`; returns names of its exercises."""
    page = path.relative_to(ROOT).as_posix()
    book = json.loads(path.read_text(encoding="utf-8"))
    languages, found, cells = catalogue.languages(), [], []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cells.append(_markdown(links.rewrite(text, page)))
        elif exercise := EXERCISE.match(text):
            name, blank = exercise[1], exercise[2]
            found.append(name)
            cells.append(_raw(editor(name, blank, languages.get(name, "python"))))
        elif cell["cell_type"] == "code":
            cells.append(_code(cell, text, out))
    book["cells"] = [{"id": f"cell{number}", **cell} for number, cell in enumerate(cells)]
    book["nbformat"], book["nbformat_minor"] = 4, 5
    target = out / links.pages[page]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(book), encoding="utf-8")
    return found


def editor(name: str, text: str, language: str) -> str:
    """An exercise, or a kernel to play with: its text, coloured, which becomes an editor when it is touched."""
    words = f"{NAMES[language]}: {name}"
    return (
        f'<div class="exercise" id="exercise-{name}" data-exercise="{name}" data-language="{language}" role="group" '
        f'aria-label="{html.escape(words)}"><div class="exercise-text">{coloured(text, language, words)}</div></div>'
    )


def coloured(text: str, language: str, label: str) -> str:
    """A program as HTML, in colours of the theme; reached by Tab, since it may scroll."""
    lines = highlight(text.strip("\n"), LEXERS[language](), HtmlFormatter(nowrap=True))
    return (
        f'<div class="highlight"><pre tabindex="0" role="region" aria-label="{html.escape(label)}">{lines}</pre></div>'
    )


def _markdown(text: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _raw(content: str) -> dict:
    """A cell that is HTML, whole: in Markdown a blank line would end it. (A cell without a source would be left out.)"""
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": content}}
    return {
        "cell_type": "code", "metadata": {"tags": ["remove-input"]}, "source": "# hidden", "outputs": [output],
        "execution_count": None,
    }  # fmt: skip


def _code(cell: dict, text: str, out: Path) -> dict:
    tags = []
    if cell["metadata"].get("jupyter", {}).get("outputs_hidden"):
        tags.append("hide-output")
    if cell["metadata"].get("jupyter", {}).get("source_hidden"):
        tags.append("hide-input")
    outputs = [_output(output, out) for output in cell["outputs"] if output.get("data", True)]
    return {
        "cell_type": "code", "metadata": {"tags": tags}, "source": text, "execution_count": cell["execution_count"],
        "outputs": outputs,
    }  # fmt: skip


def _output(output: dict, out: Path) -> dict:
    """One output: of several forms of the same thing the richest, with pictures as files."""
    data = output.get("data", {})
    if "text/html" not in data:
        return output
    content = DATA.sub(lambda match: _picture(match, out), "".join(data["text/html"]))
    return {**output, "data": {"text/html": content}}


def _picture(match: re.Match, out: Path) -> str:
    content = base64.b64decode(match[2])
    name = f"{hashlib.sha256(content).hexdigest()[:16]}.{match[1].replace('svg+xml', 'svg')}"
    folder = out / "_extra" / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return f'loading="lazy" src="../{PICTURES}/{name}"'
