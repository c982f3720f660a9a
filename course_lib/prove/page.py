"""A proof as one page for a browser, with nothing beside it, and as a few lines of Markdown for an issue."""

from collections.abc import Sequence
from html import escape
from typing import Any

from course_lib.prove.parts import PARTS

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #ddd}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}pre{background:#f5f5f5;padding:.7rem;overflow:auto}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}td,th{border-color:#444}}"
)
_WORDS = {True: "bar reached", False: "bar not reached", None: "no bar"}


def page(result: dict[str, Any]) -> str:
    """The page of a sealed result."""
    device = result["device"]
    title = f"{'Rehearsal' if result['rehearsal'] else 'Our kernels'} on {device['name']}"
    facts = [("Card", device["name"]), ("Software", device["software"]), ("System", result["system"]),
             ("Commit", result["commit"]), ("SHA-256 of the sources", result["sources"]),
             ("SHA-256 of this result", result["sha256"])]  # fmt: skip
    parts = [part for part in PARTS if part.name in result["parts"]]
    rows = [(part.title, _state(result["parts"][part.name]), result["parts"][part.name]["said"],
             f"{result['parts'][part.name]['seconds']:.0f} s") for part in parts]  # fmt: skip
    warning = "<p><b>A rehearsal at small sizes: its times mean nothing.</b></p>" if result["rehearsal"] else ""
    return "\n".join([
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1>{warning}", _table(("", ""), facts), "<h2>What was found</h2>",
        _table(("part", "state", "found", "took"), rows), "<h2>To paste into an issue</h2>",
        f"<pre>{escape(markdown(result))}</pre>",
        *(_details(part.title, result["parts"][part.name]) for part in parts), "</html>\n",
    ])  # fmt: skip


def markdown(result: dict[str, Any]) -> str:
    """A table of a few lines, and the sums."""
    device = result["device"]
    lines = [f"{'Rehearsal on' if result['rehearsal'] else ''} {device['name']}, {device['software']}".strip(), "",
             "| part | state | found |", "|---|---|---|"]  # fmt: skip
    for part in PARTS:
        if found := result["parts"].get(part.name):
            lines.append(f"| {part.name} | {_state(found)} | {found['said'].replace('|', '/')} |")
    return "\n".join(
        [*lines, "", f"commit {result['commit']}, sources {result['sources'][:16]}, result {result['sha256']}"]
    )


def _state(found: dict[str, Any]) -> str:
    return _WORDS[found["bar"]] if found["state"] == "done" else found["state"]


def _details(title: str, found: dict[str, Any]) -> str:
    tables = "".join(_table(*_columns(rows)) for rows in _tables(found.get("result")))
    log = f"<details><summary>its last lines</summary><pre>{escape(chr(10).join(found['log']))}</pre></details>"
    return f"<h2>{escape(title)}</h2>{tables}{log}"


def _tables(result: Any) -> list[list[dict]]:
    """Every list of rows in a result."""
    if isinstance(result, list) and result and all(isinstance(row, dict) for row in result):
        return [result]
    return [rows for value in result.values() for rows in _tables(value)] if isinstance(result, dict) else []


def _columns(rows: list[dict]) -> tuple[list[str], list[list[Any]]]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return names, [[row.get(name) for name in names] for row in rows]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    titles = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><tr>{titles}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return f"<td>{'–' if value is None else 'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        return f"<td class=n>{value:,.4g}</td>" if isinstance(value, float) else f"<td class=n>{value:,}</td>"
    if isinstance(value, list):
        value = ", ".join(f"{one:.4f}" if isinstance(one, float) else str(one) for one in value)
    return f"<td>{escape(str(value))}</td>"
