"""A sanitizer's report (report.py) as HTML for notebooks: the words first, colour only beside them."""

from html import escape
from typing import Any

_STYLE = "border-left:4px solid {0};padding:.4em .8em;margin:.4em 0"
_BAD, _GOOD, _NOTE = "#D55E00", "#0072B2", "#999999"  # Okabe and Ito: told apart by everybody


def render(report: Any) -> str:
    """All Findings of a launch as one HTML fragment."""
    parts = []
    if report.ok:
        parts.append(
            f'<div style="{_STYLE.format(_GOOD)}"><b>Nothing wrong was found</b> in {escape(report.kernel)}.</div>'
        )
    parts += map(issue, report.issues)
    if report.lines:
        columns = ("line", "source", "space", "op", *report.lines[0].COLUMNS, "remark")
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in columns)
        parts.append(f"<table><tr>{head}</tr>{''.join(_row(report, line) for line in report.lines)}</table>")
    parts += [
        f'<div style="{_STYLE.format(_NOTE)}"><b>Not checked</b>: {escape(what)}</div>' for what in report.not_checked
    ]
    return "\n".join(parts)


def issue(found: Any) -> str:
    """One Issue: its kind, its place, its sentence, and the lines of source."""
    more = f", {found.count:,} times in all" if found.count > 1 else ""
    who = f" <i>({found.who}{more})</i>" if found.who else ""
    code = "".join(
        f"<pre style='margin:.2em 0;word-break:normal'>{line:4} | {escape(text)}</pre>"
        for line, text in ((found.line, found.source), (found.other_line, found.other_source))
        if text
    )
    return (
        f'<div style="{_STYLE.format(_BAD)}"><b>{found.kind}</b> in {escape(found.file)}, line {found.line}: '
        f"{escape(found.message)}{who}{code}</div>"
    )


def _row(report: Any, line: Any) -> str:
    source = report.sources.get((line.file, line.line), "")
    place = f"{escape(line.file)}:{line.line}", f"<code>{escape(source)}</code>"
    cells = (*place, line.space, line.op, *line.cells, escape(line.remark))
    return "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>"
