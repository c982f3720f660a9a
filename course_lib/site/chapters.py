"""The table of chapters in README.md, as data: the order of the pages, and the parts that they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from course_lib.paths import ROOT

PART = re.compile(r"^\| \*\*(\w+)\*\* \| \*\*(.+?)\*\* \|", re.M)
ROW = re.compile(r"^\| (\d\d[a-c]?) \| \[(.+?)\]\(notebooks/(\w+)\.ipynb\) \| (.+?) \| (\d+) \|$", re.M)


@dataclass(frozen=True)
class Chapter:
    """One row. number: "08a". stem: of its notebook. builds: what one builds in it."""

    number: str
    title: str
    stem: str
    builds: str
    minutes: int


def parts() -> dict[str, list[Chapter]]:
    """Title of each part, "II. Down to the metal", -> its chapters. Raises ValueError if README.md has no such table."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found: dict[str, list[Chapter]] = {}
    for line in text.splitlines():
        if part := PART.match(line):
            found[f"{part[1]}. {part[2]}"] = []
        elif (row := ROW.match(line)) and found:
            found[list(found)[-1]].append(Chapter(row[1], row[2], row[3], row[4], int(row[5])))
    if not found or not all(found.values()):
        raise ValueError(
            "README.md has no table of chapters in the form that the site reads (course_lib/site/chapters.py)."
        )
    return found
