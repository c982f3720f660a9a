"""A verdict as HTML: readable in light and dark themes, by keyboard and by screen reader; the words first, then colour.

A wrong array is drawn as a small table of cells. A wrong cell carries the sign ≠, so that nothing hangs on its colour.
"""

from __future__ import annotations

import re
from html import escape

import numpy as np

from course_lib.coach.compare import Difference, close
from course_lib.coach.verdict import Verdict, count_rows

ROWS, COLUMNS = 8, 12

# JupyterLab's own colours where they are defined, with fallbacks that read on white; the two signs after Okabe and Ito.
_INK = "var(--jp-ui-font-color1, #1a1a1a)"
_PALE = "var(--jp-ui-font-color2, #555)"
_LINE = "var(--jp-border-color1, #bbb)"
_GROUND = "var(--jp-layout-color2, #f2f2f2)"
_COLOUR = {"Passed": "#009E73", "Not yet": "#D55E00", "Blank": "#0072B2", "Not judged": "#0072B2"}
_BOX = (
    f"border-left:5px solid {{0}};padding:.5em .9em;margin:.3em 0;color:{_INK};"
    "font-family:var(--jp-ui-font-family, sans-serif)"
)
_PRE = (  # JupyterLab breaks the lines of any <pre> inside words; a verdict's are broken between them
    "margin:.15em 0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;padding:.2em .5em;"
    f"color:{_INK};background:{_GROUND};font-family:var(--jp-code-font-family, monospace)"
)


def cells(difference: Difference, tolerance: float) -> dict | None:
    """The window of an array around its first wrong element, as text: what a picture is drawn from."""
    if difference.index is None:
        return None
    got, expected = np.asarray(difference.got), np.asarray(difference.expected)
    before = difference.index[:-2] if got.ndim > 2 else ()
    got, expected = np.atleast_2d(got[before]), np.atleast_2d(expected[before])
    row = difference.index[-2] if difference.index[-2:-1] else 0
    top, left = _window(row, ROWS, got.shape[0]), _window(difference.index[-1], COLUMNS, got.shape[1])
    window = np.s_[top : top + ROWS, left : left + COLUMNS]
    wrong = ~close(got[window], expected[window], tolerance)
    show = np.vectorize(lambda number: f"{number:.4g}" if isinstance(number, float) else str(number), otypes=[object])
    return {
        "before": list(before), "top": top, "left": left, "rows": got.shape[0], "columns": got.shape[1],
        "got": show(got[window].astype(object)).tolist(), "expected": show(expected[window].astype(object)).tolist(),
        "wrong": wrong.tolist(),
    }  # fmt: skip


def html(verdict: Verdict) -> str:
    """The whole verdict as one HTML fragment."""
    colour = _COLOUR[verdict.word]
    body = [f'<div style="font-size:1.15em"><strong>{verdict.word}</strong> '
            f'<span style="color:{_PALE}">{escape(verdict.title)}</span></div>']  # fmt: skip
    body.append(f'<div style="margin:.3em 0">{_prose(verdict.why)}</div>')
    failing = verdict.failing
    if failing is not None:
        if failing.code:
            body.append(f'<pre style="{_PRE}">line {failing.line} | {escape(failing.code)}</pre>')
        if failing.label and (failing.inputs or failing.expected):
            body.append(f'<div style="margin-top:.4em">The smallest case that fails: {escape(failing.label)}</div>')
            body.append(
                "<table style='border-collapse:collapse;margin:.2em 0'>"
                + "".join(_line(*row) for row in failing.rows())
                + "</table>"
            )
        if failing.difference and failing.difference not in verdict.why:
            body.append(f"<div>{escape(failing.difference)}.</div>")
        if failing.picture:
            body.append(_table(failing.picture))
        if verdict.cases > 1:
            body.append(f'<div style="color:{_PALE}">{verdict.fraction}</div>')
    body += [f'<pre style="{_PRE}">{escape(issue)}</pre>' for issue in verdict.issues]
    if verdict.counts:
        body.append(_counts(verdict))
    if verdict.report:
        body.append(f'<details style="color:{_PALE}"><summary>What each line reads and writes</summary>'
                    f'<pre style="{_PRE}">{escape(_lines(verdict.report))}</pre></details>')  # fmt: skip
    body += [f'<div style="color:{_PALE}">Not measured here: {escape(what)}</div>' for what in verdict.not_measured]
    body += [f"<div>{_prose(note)}</div>" for note in verdict.notes]
    if verdict.printed:
        body.append(
            f'<div style="margin-top:.4em">Your code printed:</div><pre style="{_PRE}">{escape(verdict.printed)}</pre>'
        )
    if verdict.next:
        body.append(f'<div style="margin-top:.4em;color:{_PALE}">Next: {_typed(verdict.next)}</div>')
    label = escape(f"{verdict.word}: {verdict.title}")
    return f'<section role="region" aria-label="{label}" style="{_BOX.format(colour)}">{"".join(body)}</section>'


def _typed(text: str) -> str:
    """What comes next: code is what can be typed, and no other word of it."""
    return re.sub(r"course\.\w+\([^)]*\)", r"<code>\g<0></code>", escape(text))


def _lines(report: str) -> str:
    """A report without its first line, which says that nothing is wrong: the verdict says what is."""
    return report.partition("\n")[2]


def _window(place: int, size: int, length: int) -> int:
    return max(0, min(place - size // 2, length - size))


def _prose(text: str) -> str:
    """A sentence; a second line of it (a compiler's quotation of the code) keeps its spaces."""
    first, *rest = text.split("\n")
    pieces = escape(first).split("`")
    line = (
        "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces)) if len(pieces) % 2 else escape(first)
    )
    return line + (f'<pre style="{_PRE}">{escape(chr(10).join(rest))}</pre>' if rest else "")


def _line(name: str, value: str) -> str:
    head = f"text-align:left;vertical-align:top;padding:.1em .8em .1em 0;color:{_PALE};font-weight:normal"
    body = f'<td style="text-align:left;padding:0"><pre style="{_PRE}">{escape(value)}</pre></td>'
    return f'<tr style="background:none"><th scope="row" style="{head}">{name}</th>{body}</tr>'


def _table(picture: dict) -> str:
    """Got, cell by cell; below a wrong one what was expected."""
    wrong = sum(map(sum, picture["wrong"]))
    where = f" inside element {tuple(picture['before'])}" if picture["before"] else ""
    cut = picture["rows"] > ROWS or picture["columns"] > COLUMNS
    count = f"{wrong} wrong {'cell' if wrong == 1 else 'cells'}{' in this window' if cut else ''}"
    caption = f"Your result{where}: {count}, marked ≠, with the expected number below"
    top, left = picture["top"], picture["left"]
    head = "".join(_cell("th", str(left + j)) for j in range(len(picture["got"][0])))
    rows = []
    for i, (got, expected, marks) in enumerate(zip(picture["got"], picture["expected"], picture["wrong"], strict=True)):
        row = "".join(
            _cell("td", f"≠ {escape(g)}<br><small>{escape(e)}</small>", wrong=True) if bad else _cell("td", escape(g))
            for g, e, bad in zip(got, expected, marks, strict=True)
        )
        rows.append(f'<tr style="background:none">{_cell("th", str(top + i))}{row}</tr>')
    return (
        f'<table style="border-collapse:collapse;margin:.4em 0 .1em" aria-label="{escape(caption)}">'
        f'<tr style="background:none">{_cell("th", "")}{head}</tr>'
        f"{''.join(rows)}</table>{_beside(caption)}"
    )


def _beside(caption: str) -> str:
    """What a table shows, as wide as the page: a <caption> is no wider than its table. The table's label says it aloud."""
    return f'<div aria-hidden="true" style="color:{_PALE}">{escape(caption)}</div>'


def _cell(tag: str, content: str, wrong: bool = False) -> str:
    look = f"border:1px solid {_LINE};padding:.1em .45em;text-align:right;color:{_INK if tag == 'td' else _PALE}"
    look += ";outline:2px solid #D55E00;outline-offset:-2px;font-weight:bold" if wrong else ""
    return f'<{tag} style="{look};font-weight:{"bold" if wrong else "normal"}">{content}</{tag}>'


def _counts(verdict: Verdict) -> str:
    head = ("", "yours", "ours", "required", "your earlier tries")
    rows = count_rows(verdict)
    used = [i for i in range(5) if i < 2 or any(row[i] for row in rows)]
    body = "".join(
        '<tr style="background:none">' + "".join(_cell("td" if i else "th", escape(row[i])) for i in used) + "</tr>"
        for row in rows
    )
    head_row = "".join(_cell("th", head[i]) for i in used)
    caption = f"Counted in the case: {verdict.measured}" if verdict.measured else "Counted"
    return (
        f'{_beside(caption)}<table style="border-collapse:collapse;margin:.1em 0 .4em" aria-label="{escape(caption)}">'
        f'<tr style="background:none">{head_row}</tr>{body}</table>'
    )


def code(title: str, text: str) -> str:
    """A piece of code under a title, as HTML."""
    return f'<div style="{_BOX.format("#0072B2")}"><strong>{escape(title)}</strong><pre style="{_PRE}">{escape(text)}</pre></div>'
